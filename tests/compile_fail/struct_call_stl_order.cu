// EXPECT: gpuopt::transformStructs: these arguments fit no form of it: it takes (in, n, out, f), or containers for in and out without n, then a stream
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

struct Twice {
  __device__ float operator()(float x) const { return 2 * x; }
};

void fail(const float* first, const float* last, float* out) { gpuopt::transformStructs(first, last, out, Twice{}); }
