// EXPECT: gpuopt::SoaView: const structs cannot be assigned
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/view.cuh>

struct Particle {
  float mass;
  int id;
};

void fail(const gpuopt::SoaView<const Particle>& view, const Particle& particle) { view[0] = particle; }
