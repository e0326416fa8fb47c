// EXPECT nvcc: gpuopt: kernels cannot call a lambda for the host: write [] __device__ (...) {...}
// WRITTEN: `forEachStruct(data, 3, [](float3& p) { p.x = 0; })`
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

void fail(float3* data) {
  gpuopt::forEachStruct(data, 3, [](float3& p) { p.x = 0; });
}
