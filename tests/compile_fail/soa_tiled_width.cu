// EXPECT: gpuopt::Tiled: WIDTH must be a power of two
// SPDX-License-Identifier: MIT
#include <gpuopt/thread/soa_view.cuh>

struct Particle {
  float mass;
  int id;
};

template class gpuopt::SoaView<Particle, gpuopt::Tiled<24>>;
