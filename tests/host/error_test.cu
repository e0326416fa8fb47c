/// \file
/// CudaError, check, and the runtime's last error after them.
// SPDX-License-Identifier: MIT
#include "support/host_test.cuh"

namespace host_test::error_test {

template <class T>
__global__ void named(T* data) {
  *data = T{};
}

}  // namespace host_test::error_test

using namespace gpuopt::test;

TEST_CASE("a CudaError says which call failed and how") {
  const gpuopt::CudaError error(cudaErrorInvalidValue, "cudaSomething");
  REQUIRE(error.code() == cudaErrorInvalidValue);
  REQUIRE(error.call() == "cudaSomething");
  REQUIRE(std::string(error.what()) ==
          "cudaSomething: cudaErrorInvalidValue: " + std::string(cudaGetErrorString(cudaErrorInvalidValue)));
}

TEST_CASE("check throws for errors only") {
  REQUIRE_NOTHROW(gpuopt::check(cudaSuccess, "fine"));
  const std::string text = messageOf<gpuopt::CudaError>([] { gpuopt::check(cudaErrorMemoryAllocation, "cudaMalloc"); });
  REQUIRE(contains(text, "cudaMalloc: cudaErrorMemoryAllocation: "));
}

TEST_CASE("a reported error is no longer the runtime's last error") {
  REQUIRE_THROWS_AS(gpuopt::check(cudaSetDevice(12345), "cudaSetDevice"), gpuopt::CudaError);
  REQUIRE(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("an earlier error survives a successful check, and a failed one that left no error behind") {
  const cudaError_t earlier = leaveEarlierError();
  gpuopt::check(cudaSuccess, "fine");
  REQUIRE(cudaPeekAtLastError() == earlier);
  REQUIRE_THROWS_AS(gpuopt::check(cudaErrorNotReady, "cudaStreamQuery"), gpuopt::CudaError);
  REQUIRE(cudaGetLastError() == earlier);
}

TEST_CASE("kernel names are readable") {
  [[maybe_unused]] const auto kernel = reinterpret_cast<const void*>(&host_test::error_test::named<double>);
#if !defined(GPUOPT_EMULATION) || defined(GPUOPT_EMULATION_BACKTRACE)
  REQUIRE(contains(gpuopt::detail::kernelName(kernel), "host_test::error_test::named<double>(double*)"));
#endif
  REQUIRE(gpuopt::detail::demangle("not mangled") == "not mangled");
  REQUIRE(gpuopt::detail::demangle("_ZN6gpuopt10v0_1_0_9006detail5applyENS_6v0_1_010MatrixViewIiEE") ==
          "gpuopt::detail::apply(gpuopt::MatrixView<int>)");
  REQUIRE(gpuopt::detail::demangle("_ZN6gpuopt5valueEv") == "gpuopt::value()");
}

TEST_CASE("types have the same names with RTTI and without it") {
  REQUIRE(gpuopt::detail::typeName<float>() == "float");
  REQUIRE(gpuopt::detail::typeNameWithoutRtti<float>() == "float");
  REQUIRE(contains(gpuopt::detail::typeNameWithoutRtti<unsigned[3]>(), "[3]"));
  REQUIRE(gpuopt::detail::typeName<gpuopt::CudaError>() == "gpuopt::CudaError");
  REQUIRE(gpuopt::detail::typeNameWithoutRtti<gpuopt::CudaError>() == "gpuopt::CudaError");
}

TEST_CASE("what is no kernel has a name all the same, and leaves no error") {
  static const int data = 0;
  REQUIRE_FALSE(gpuopt::detail::kernelName(&data).empty());
  REQUIRE(cudaPeekAtLastError() == cudaSuccess);
}
