// EXPECT: gpuopt::toAos: the structures of the array are const
// SPDX-License-Identifier: MIT
#include <gpuopt/device/soa/convert.cuh>

struct Particle {
  float mass;
  int id;
};

void fail(gpuopt::SoaView<Particle> soa, const Particle* aos) { gpuopt::toAos(soa, aos); }
