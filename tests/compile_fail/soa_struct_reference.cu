// EXPECT: gpuopt: a struct with const members or references cannot be taken apart
// WRITTEN: struct Fixed { float& mass; }
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/view.cuh>

struct Linked {
  float& mass;
  int id;
};

template class gpuopt::SoaView<Linked>;
