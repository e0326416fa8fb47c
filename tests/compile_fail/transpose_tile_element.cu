// EXPECT: gpuopt::TransposeTile: the elements must be trivially copyable
// SPDX-License-Identifier: MIT
#include <gpuopt/block/transpose.cuh>

struct Owner {
  ~Owner() {}
  int value;
};

template class gpuopt::TransposeTile<Owner, Owner, 32, 8>;
