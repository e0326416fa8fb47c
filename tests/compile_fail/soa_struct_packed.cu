// EXPECT: gpuopt: bit-fields and packed members cannot be taken apart
// WRITTEN: a `struct` after `#pragma pack(push, 1)`
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/view.cuh>

#pragma pack(push, 1)
struct Record {
  char kind;
  double value;
};
#pragma pack(pop)

template class gpuopt::SoaView<Record>;
