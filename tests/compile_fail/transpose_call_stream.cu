// EXPECT: gpuopt: a number is no stream
// SPDX-License-Identifier: MIT
#include <gpuopt/transpose.cuh>

void fail(const float* in, float* out) { gpuopt::transpose(in, out, 3, 4, 0); }
