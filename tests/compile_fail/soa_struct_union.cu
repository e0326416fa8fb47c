// EXPECT: gpuopt: only an aggregate can be taken apart
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/view.cuh>

union Either {
  int id;
  float mass;
};

template class gpuopt::SoaView<Either>;
