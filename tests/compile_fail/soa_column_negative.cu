// EXPECT: gpuopt: the struct has no member of this number
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/view.cuh>

struct Particle {
  float mass;
  int id;
};

auto fail(const gpuopt::SoaView<Particle>& view) { return view.column<-1>(); }
