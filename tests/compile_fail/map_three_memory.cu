// EXPECT: gpuopt::transform: in1, in2, in3 and out must be pointers, or Thrust's iterators of memory
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

#include <vector>

struct Sum {
  __device__ float operator()(float x, float y, float z) const { return x + y + z; }
};

void fail(std::vector<float>& a, float* out) { gpuopt::transform(a.begin(), out, out, 3, out, Sum{}); }
