// EXPECT: gpuopt::toSoa: a SoaVector is no view: write vector.view()
// SPDX-License-Identifier: MIT
#include <gpuopt/soa.cuh>

struct Particle {
  float mass;
  int id;
};

void fail(const Particle* aos, gpuopt::SoaVector<Particle>& vector) { gpuopt::toSoa(aos, vector.size(), vector); }
