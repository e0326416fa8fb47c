// EXPECT: gpuopt::forEach: data must be a pointer, or Thrust's iterator of memory
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

#include <vector>

struct Zero {
  __device__ void operator()(float& x) const { x = 0; }
};

void fail(std::vector<float>& data) { gpuopt::forEach(data.begin(), 3, Zero{}); }
