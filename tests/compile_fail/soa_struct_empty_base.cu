// EXPECT: gpuopt: a struct with base classes cannot be taken apart: make them members
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/view.cuh>

struct Marked {};
struct Particle : Marked {
  int id;
};

template class gpuopt::SoaView<Particle>;
