// EXPECT: gpuopt: only a struct that can be default-constructed can be taken apart
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/view.cuh>

struct Id {
  explicit Id(int n) : number(n) {}
  int number;
};
struct Particle {
  float mass;
  Id id;
};

template class gpuopt::SoaView<Particle>;
