// EXPECT: gpuopt: bit-fields and packed members cannot be taken apart
// WRITTEN: struct Flags { unsigned visible : 1; }
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/view.cuh>

struct Flags {
  unsigned color : 3;
  unsigned layer : 5;
  float mass;
};

template class gpuopt::SoaView<Flags>;
