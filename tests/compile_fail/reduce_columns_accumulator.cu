// EXPECT: gpuopt: the accumulator of a column is too large: 32 of them must fit into the policy's sharedBytes
// DO: a smaller accumulator, or a policy with more `sharedBytes`
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce_columns.cuh>

struct Large {
  int words[256];  // 1 KiB, and a word that says whether there is one
};

struct First {
  __host__ __device__ Large operator()(const Large& a, const Large&) const { return a; }
};

void fail(const Large* in, Large* out) { gpuopt::reduceColumns(in, 10, 10, out, First{}); }
