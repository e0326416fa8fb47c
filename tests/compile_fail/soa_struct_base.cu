// EXPECT: gpuopt: a struct with base classes cannot be taken apart: make them members
// WRITTEN: struct Particle : Point { float mass; }
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/view.cuh>

struct Body {
  float mass;
};
struct Particle : Body {
  int id;
};

template class gpuopt::SoaView<Particle>;
