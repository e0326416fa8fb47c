// EXPECT: copy with clone(), or move
// SPDX-License-Identifier: MIT
#include <gpuopt/soa.cuh>

struct Particle {
  float mass;
  int id;
};

void fail(const gpuopt::SoaVector<Particle>& vector) { auto copy = vector; }
