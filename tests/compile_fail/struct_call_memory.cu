// EXPECT: gpuopt::transformStructs: out must be a pointer, or Thrust's iterator of memory
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

#include <vector>

struct Zero {
  __device__ float operator()(const float4&) const { return 0; }
};

void fail(const float4* in, std::vector<float>& out) { gpuopt::transformStructs(in, 3, out.begin(), Zero{}); }
