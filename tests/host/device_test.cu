/// \file
/// Device attributes, queried once.
// SPDX-License-Identifier: MIT
#include "support/host_test.cuh"

#include <gpuopt/host/device.cuh>

namespace device_test {

using namespace gpuopt::test;

constexpr cudaDeviceAttr attributes[] = {
    cudaDevAttrMaxThreadsPerBlock,          cudaDevAttrMaxThreadsPerMultiProcessor,
    cudaDevAttrMultiProcessorCount,         cudaDevAttrMaxBlocksPerMultiprocessor,
    cudaDevAttrComputeCapabilityMajor,      cudaDevAttrComputeCapabilityMinor,
    cudaDevAttrMaxSharedMemoryPerBlock,     cudaDevAttrMaxSharedMemoryPerBlockOptin,
    cudaDevAttrReservedSharedMemoryPerBlock};

int asked(cudaDeviceAttr attribute, int device) {
  int value = -1;
  gpuopt::check(cudaDeviceGetAttribute(&value, attribute, device), "cudaDeviceGetAttribute");
  return value;
}

int deviceCount() {
  int count = 0;
  gpuopt::check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  return count;
}

TEST_CASE("attributes are the runtime's, first and again, on every device") {
  for (int round = 0; round < 2; ++round) {
    for (int device = 0; device < deviceCount(); ++device) {
      for (const cudaDeviceAttr attribute : attributes) {
        CAPTURE(round, device, static_cast<int>(attribute));
        REQUIRE(gpuopt::deviceAttribute(attribute, device) == asked(attribute, device));
      }
    }
  }
}

TEST_CASE("the compute capability is one number") {
  REQUIRE(gpuopt::computeCapability(0) ==
          10 * asked(cudaDevAttrComputeCapabilityMajor, 0) + asked(cudaDevAttrComputeCapabilityMinor, 0));
  REQUIRE(gpuopt::multiprocessorCount(0) == asked(cudaDevAttrMultiProcessorCount, 0));
}

TEST_CASE("the current device is the calling thread's") {
  const int last = deviceCount() - 1;
  gpuopt::check(cudaSetDevice(last), "cudaSetDevice");
  REQUIRE(gpuopt::currentDevice() == last);
  gpuopt::check(cudaSetDevice(0), "cudaSetDevice");
  REQUIRE(gpuopt::currentDevice() == 0);
}

TEST_CASE("an unknown device is an error each time, and leaves none behind") {
  for (const int device : {-1, deviceCount(), 63, 64, 12345}) {
    CAPTURE(device);
    REQUIRE_THROWS_AS(gpuopt::deviceAttribute(cudaDevAttrMaxThreadsPerBlock, device), gpuopt::CudaError);
    REQUIRE_THROWS_AS(gpuopt::deviceAttribute(cudaDevAttrMaxThreadsPerBlock, device), gpuopt::CudaError);
  }
  REQUIRE(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("many threads read the same attributes") {
  const int failures = failuresAmongThreads(8, [](int first) {
    const int count = static_cast<int>(std::size(attributes));
    for (int i = 0; i < 1000; ++i) {
      const cudaDeviceAttr attribute = attributes[(first + i) % count];
      if (gpuopt::deviceAttribute(attribute, 0) != asked(attribute, 0)) return false;
    }
    return true;
  });
  REQUIRE(failures == 0);
}

}  // namespace device_test
