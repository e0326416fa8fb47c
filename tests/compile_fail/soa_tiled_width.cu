// EXPECT: gpuopt::Tiled: WIDTH must be a power of two
// SPDX-License-Identifier: MIT
#include <gpuopt/thread/soa_view.cuh>

struct Particle {
  float mass;
  int id;
};

Particle fail(const gpuopt::SoaView<Particle, gpuopt::Tiled<24>>& view) { return view.load(0); }
