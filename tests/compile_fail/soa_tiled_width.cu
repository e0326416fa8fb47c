// EXPECT: gpuopt::SoaTiles: WIDTH must be a power of two
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/view.cuh>

struct Particle {
  float mass;
  int id;
};

Particle fail(const gpuopt::SoaView<Particle, gpuopt::SoaTiles<24>>& view) { return view.load(0); }
