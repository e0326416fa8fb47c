// EXPECT: gpuopt::transform: the elements of out are const
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

struct Twice {
  __device__ float operator()(float x) const { return 2 * x; }
};

void fail(const float* in, const float* out) { gpuopt::transform(in, 3, out, Twice{}); }
