// A program whose kernel writes columns, for the reports that GPUOPT_PROFILE asks for.
// SPDX-License-Identifier: MIT
#include <gpuopt/launch.cuh>

namespace {

constexpr unsigned THREADS = 64, PITCH = 16;

__global__ void writeColumns(const float* in, float* out) { out[threadIdx.x * PITCH] = in[threadIdx.x]; }

}  // namespace

int main() {
  float *in = nullptr, *out = nullptr;
  gpuopt::check(cudaMalloc(&in, THREADS * sizeof(float)), "cudaMalloc");
  gpuopt::check(cudaMalloc(&out, THREADS * PITCH * sizeof(float)), "cudaMalloc");
  gpuopt::check(cudaMemset(in, 0, THREADS * sizeof(float)), "cudaMemset");
  gpuopt::LaunchConfig config;
  config.grid = dim3(3);
  config.block = dim3(THREADS);
  gpuopt::launch(writeColumns, config, static_cast<const float*>(in), out);
  cudaFree(in);
  cudaFree(out);
}
