// EXPECT: gpuopt::StagedStructs: StructTransfer::exchange moves words: the alignment of T must be 4 or more
// SPDX-License-Identifier: MIT
#include <gpuopt/block/struct_io.cuh>

struct Exchanged {
  static constexpr gpuopt::StructTransfer load = gpuopt::StructTransfer::exchange;
  static constexpr gpuopt::StructTransfer store = gpuopt::StructTransfer::direct;
};

struct Bytes12 {
  unsigned char bytes[12];
};

gpuopt::StagedStructs<Bytes12, 64, 1, Exchanged>::Storage fail;
