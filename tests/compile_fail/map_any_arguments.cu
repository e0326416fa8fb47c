// EXPECT: gpuopt::transform: these arguments fit no form of it: it takes (in, n, out, f), (in1, in2, n, out, f)
// DO: the function comes last, before the stream
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

void fail(const float* in, float* out) { gpuopt::transform(in, 3, out); }
