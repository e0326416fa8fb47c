// EXPECT: gpuopt::transform: in1, in2 and out must be pointers, or Thrust's iterators of memory
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

#include <vector>

struct Add {
  __device__ float operator()(float x, float y) const { return x + y; }
};

void fail(const float* in, std::vector<float>& other, float* out) {
  gpuopt::transform(in, other.begin(), 3, out, Add{});
}
