// EXPECT: gpuopt::SoaView: a column is not of its member's type, or there is no n: write {pointer..., n} or {vector...}, one column for each member, in order
// WRITTEN: `SoaView<Particle>{mass, id, n}`, where `id` is a `const int*`
// DO: to read, a `SoaView<const Particle>`
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/view.cuh>

struct Particle {
  float mass;
  int id;
};

gpuopt::SoaView<Particle> fail(float* mass, const int* id, std::size_t n) { return {mass, id, n}; }
