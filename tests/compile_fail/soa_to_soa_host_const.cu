// EXPECT: gpuopt::toSoaHost: the structures of the view are const
// SPDX-License-Identifier: MIT
#include <gpuopt/device/soa/convert.cuh>

struct Particle {
  float mass;
  int id;
};

void fail(const Particle* aos, std::size_t n, gpuopt::SoaView<const Particle> soa) { gpuopt::toSoaHost(aos, n, soa); }
