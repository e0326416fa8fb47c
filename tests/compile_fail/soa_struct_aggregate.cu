// EXPECT: gpuopt: only an aggregate can be taken apart: a struct without constructors, private members and virtual functions
// WRITTEN: struct Made { explicit Made(float m); float mass; }
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/view.cuh>

struct Made {
  explicit Made(int);
  int id;
};

template class gpuopt::SoaView<Made>;
