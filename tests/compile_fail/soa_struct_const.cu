// EXPECT: gpuopt: a struct with const members or references cannot be taken apart
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/view.cuh>

struct Fixed {
  const float mass;
  int id;
};

template class gpuopt::SoaView<Fixed>;
