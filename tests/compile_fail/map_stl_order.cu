// EXPECT: gpuopt::transform: these arguments fit no form of it: it takes (in, n, out, f), (in1, in2, n, out, f), or containers for in and out without n, then a stream
// DO: `transform(first, last - first, out, f)`
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

struct Twice {
  __device__ float operator()(float x) const { return 2 * x; }
};

void fail(const float* first, const float* last, float* out) { gpuopt::transform(first, last, out, Twice{}); }
