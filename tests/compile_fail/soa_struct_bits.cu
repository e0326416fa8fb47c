// EXPECT: gpuopt: bit-fields and packed members cannot be taken apart
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/view.cuh>

struct Flags {
  unsigned color : 3;
  unsigned layer : 5;
  float mass;
};

template class gpuopt::SoaView<Flags>;
