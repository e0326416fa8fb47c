// EXPECT: gpuopt: elements of more than 128 bytes cannot be permuted: add an axis for their parts
// WRITTEN: `permute(in, out, extents, axes)` of structs of 132 bytes
// SPDX-License-Identifier: MIT
#include <gpuopt/permute.cuh>

struct Large {
  float numbers[33];
};

void fail(const Large* in, Large* out) { gpuopt::permute(in, out, {3, 4, 5}, {2, 0, 1}); }
