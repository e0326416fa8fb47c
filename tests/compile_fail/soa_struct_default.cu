// EXPECT: gpuopt: only a struct that can be default-constructed can be taken apart
// WRITTEN: `struct Particle { float mass; Id id; }`, where `Id` has no default constructor
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
