// EXPECT: gpuopt::forEachStruct: data must be a pointer, or Thrust's iterator of memory
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

#include <vector>

struct Zero {
  __device__ void operator()(float4& p) const { p.x = 0; }
};

void fail(std::vector<float4>& data) { gpuopt::forEachStruct(data.begin(), 3, Zero{}); }
