// EXPECT: gpuopt::transform: out must be a pointer, or Thrust's iterator of memory
// WRITTEN: `transform(in, n, out.begin(), f)` to a `std::vector`
// DO: `thrust::device_vector`, or a device pointer
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

#include <vector>

struct Twice {
  __device__ float operator()(float x) const { return 2 * x; }
};

void fail(const float* in, std::vector<float>& out) { gpuopt::transform(in, 3, out.begin(), Twice{}); }
