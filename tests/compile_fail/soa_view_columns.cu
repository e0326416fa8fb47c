// EXPECT: gpuopt::SoaView: the number of columns differs from that of the struct's members: write {pointer..., n} or {vector...}, one column for each member, in order
// WRITTEN: SoaView<Particle>{mass, n}
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/view.cuh>

struct Particle {
  float mass;
  int id;
};

gpuopt::SoaView<Particle> fail(float* mass, std::size_t n) { return {mass, n}; }
