// EXPECT: gpuopt: the elements of counts are const
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

void fail(const int* in, const unsigned* counts) { gpuopt::bincount(in, 3, counts, 10); }
