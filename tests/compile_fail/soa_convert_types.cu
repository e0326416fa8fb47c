// EXPECT: gpuopt: the structures of the array and of the view are of different types
// DO: convert to a view of the same struct
// SPDX-License-Identifier: MIT
#include <gpuopt/device/soa/convert.cuh>

struct Particle {
  float mass;
  int id;
};

struct Other {
  float mass;
  int id;
};

void fail(const Other* aos, std::size_t n, gpuopt::SoaView<Particle> soa) { gpuopt::toSoa(aos, n, soa); }
