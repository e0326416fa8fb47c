// EXPECT: gpuopt: elements of more than 128 bytes cannot be transposed
// WRITTEN: `transpose(in, out, rows, cols)` of structures of 129 bytes
// SPDX-License-Identifier: MIT
#include <gpuopt/transpose.cuh>

struct Large {
  char bytes[129];
};

void fail(const Large* in, Large* out) { gpuopt::transpose(in, out, 3, 4); }
