// EXPECT: gpuopt: a number is no stream
// DO: nothing, or `nullptr`, for the default stream
// SPDX-License-Identifier: MIT
#include <gpuopt/transpose.cuh>

void fail(const float* in, float* out) { gpuopt::transpose(in, out, 3, 4, 0); }
