// EXPECT: gpuopt::transformReduceInto: these arguments fit no form of it: it takes (in, n, out, f), (in1, in2, n, out, f), or a container with data() and size() without n, then op, init, stream and workspace
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce_transform.cuh>

struct Twice {
  __device__ float operator()(float x) const { return 2 * x; }
};

void fail(const float* x) { gpuopt::transformReduceInto(x, 1000, Twice{}); }
