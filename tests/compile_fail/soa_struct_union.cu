// EXPECT: gpuopt: only an aggregate can be taken apart: a struct without constructors, private members and virtual functions
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/view.cuh>

union Either {
  int id;
  float mass;
};

template class gpuopt::SoaView<Either>;
