/// Errors that end the program. `out_of_bounds write|read|shared` ends with a report of AddressSanitizer, `misaligned`,
/// `load` and `store` with one of UndefinedBehaviorSanitizer, in a build that has them; `gather|null|everywhere|divide`
/// with the emulated device's in one without; "none" makes no error.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"

#include <gpuopt/thread/vector.cuh>

#include <cstdio>
#include <string>

namespace gpuopt {

__device__ float* dynamicFloats() {
  extern __shared__ __align__(128) unsigned char gpuoptDynamicShared[];
  return reinterpret_cast<float*>(gpuoptDynamicShared);
}

}  // namespace gpuopt

namespace {

__global__ void writeGlobal(float* data, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) data[i] = 1.0f;  // one too many
}

__global__ void readGlobal(const float* data, unsigned n, float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = i < n ? data[i] + *(data + i - 1) : 0.0f;  // one before the first
}

__global__ void readMisaligned(const float* data, float* out) {
  const float4 four = *reinterpret_cast<const float4*>(data + 4 * threadIdx.x + 1);
  out[threadIdx.x] = four.x + four.w;
}

__global__ void loadMisaligned(const float* data, float* out) {
  const uint4 four = gpuopt::detail::loadVector<gpuopt::detail::Caching::normal>(data + 1);
  out[threadIdx.x] = __uint_as_float(four.x);
}

__global__ void storeMisaligned(float* out) { gpuopt::detail::storeVector(out + 2, uint4{1, 2, 3, 4}); }

__global__ void gather(const float* data, const long* index, float* out) {
  out[threadIdx.x] = data[index[threadIdx.x]];
}

__global__ void divide(const long* by, float* out) { out[threadIdx.x] = static_cast<float>(7 / by[threadIdx.x]); }

__global__ void writeShared() { gpuopt::dynamicFloats()[threadIdx.x + 1] = 1.0f; }

int run(const std::string& error) {
  constexpr unsigned N = 1000;
  float *data = nullptr, *out = nullptr;
  cudaMalloc(&data, N * sizeof(float));
  cudaMalloc(&out, 1024 * sizeof(float));
  long* index = nullptr;
  cudaMallocManaged(&index, 2 * sizeof(long));
  index[0] = 0;
  index[1] = 1L << 40;
  cudaError_t code = cudaSuccess;
  if (error == "gather") code = launch(gather, 1, 2, data, index, out);
  if (error == "everywhere") code = launch(gather, 64, 2, nullptr, index, out);
  if (error == "null") code = launch(gather, 1, 2, nullptr, index, out);
  if (error == "divide") code = launch(divide, 1, 2, index, out);
  if (error == "write") code = launch(writeGlobal, 4, 256, data, N);
  if (error == "read") code = launch(readGlobal, 4, 256, data, N, out);
  if (error == "misaligned") code = launch(readMisaligned, 1, 32, data, out);
  if (error == "load") code = launch(loadMisaligned, 1, 32, data, out);
  if (error == "store") code = launch(storeMisaligned, 1, 1, out);
  if (error == "shared") code = launchShared(writeShared, 1, 64, 64 * sizeof(float));
  cudaFree(index);
  cudaFree(data);
  cudaFree(out);
  return code == cudaSuccess ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string error = argc > 1 ? argv[1] : "";
  for (const char* known :
       {"write", "read", "shared", "misaligned", "load", "store", "gather", "null", "everywhere", "divide", "none"})
    if (error == known) return run(error);
  std::fprintf(stderr, "usage: out_of_bounds write|read|shared|misaligned|load|store|gather|null|divide|none\n");
  return 2;
}
