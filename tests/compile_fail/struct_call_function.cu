// EXPECT: gpuopt::transformStructs: the function must take a structure of in, alone or with its index, and return one of out
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

struct OfThree {
  __device__ float operator()(const float4& a, std::size_t i, int) const { return a.x + static_cast<float>(i); }
};

void fail(const float4* in, float* out) { gpuopt::transformStructs(in, 3, out, OfThree{}); }
