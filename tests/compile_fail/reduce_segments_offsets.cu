// EXPECT: gpuopt::reduceSegments: offsets must be integers
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce_segments.cuh>

void fail(const float* in, const float* offsets, float* out) { gpuopt::reduceSegments(in, offsets, 3, out); }
