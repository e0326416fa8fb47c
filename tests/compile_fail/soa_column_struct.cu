// EXPECT: gpuopt: the member pointer is one of another struct
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/view.cuh>

struct Particle {
  float mass;
  int id;
};
struct Other {
  float mass;
};

auto fail(const gpuopt::SoaView<Particle>& view) { return view.column<&Other::mass>(); }
