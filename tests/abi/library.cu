/// A shared library that uses gpuopt. It is built several times, each with its own ABI_RUN and ABI_FACTOR.
// SPDX-License-Identifier: MIT
#include "library.hpp"

#include <gpuopt/gpuopt.cuh>

#include <cstddef>
#include <vector>

GPUOPT_NAMESPACE_BEGIN

// All libraries have a kernel of this name, and each must launch its own.
template <class T>
GPUOPT_KERNEL void scaleKernel(T* data, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= ABI_FACTOR;
}

GPUOPT_NAMESPACE_END

struct Add {
  __host__ __device__ float operator()(float a, float b) const { return a + b; }
};

template <>
struct gpuopt::NeutralElement<Add, float> {
  static constexpr bool exists = true;
  __host__ __device__ static constexpr float value() { return 0; }
};

extern "C" Answer ABI_RUN(const float* elements, unsigned rows, unsigned cols) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess) return {};

  const std::size_t n = std::size_t{rows} * cols, bytes = n * sizeof(float);
  float *in = nullptr, *out = nullptr;
  gpuopt::check(cudaMalloc(&in, bytes), "cudaMalloc");
  gpuopt::check(cudaMalloc(&out, bytes), "cudaMalloc");
  gpuopt::check(cudaMemcpy(in, elements, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");

  gpuopt::Workspace workspace;
  const float sum = gpuopt::reduce(in, n, Add{}, nullptr, &workspace);
  const float again = gpuopt::reduce(in, n);  // with the remembered workspace
  gpuopt::transpose(in, out, rows, cols);
  const auto kernel = gpuopt::scaleKernel<float>;
  gpuopt::launch(kernel, gpuopt::occupancyConfig(kernel, n, 128), out, n);

  std::vector<float> transposed(n);
  gpuopt::check(cudaMemcpy(transposed.data(), out, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  gpuopt::check(cudaFree(in), "cudaFree");
  gpuopt::check(cudaFree(out), "cudaFree");
  return {true,
          sum == again ? sum : -1,
          transposed[(cols - 1) * std::size_t{rows}],
          reinterpret_cast<const void*>(kernel),
          &gpuopt::detail::ResultPool::instance(),
          gpuopt::detail::cachedWorkspace(0, nullptr),
          reinterpret_cast<const void*>(&gpuopt::multiprocessorCount)};
}
