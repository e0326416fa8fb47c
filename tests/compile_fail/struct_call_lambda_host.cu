// EXPECT nvcc: gpuopt: kernels cannot call a lambda for the host: write [] __device__ (...) {...}
// WRITTEN: `transformStructs(in, 3, out, [](float3 p) { return p.x; })`
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

void fail(const float3* in, float* out) {
  gpuopt::transformStructs(in, 3, out, [](float3 p) { return p.x; });
}
