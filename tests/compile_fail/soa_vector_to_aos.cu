// EXPECT: gpuopt::toAos: a SoaVector is no view: write vector.view()
// SPDX-License-Identifier: MIT
#include <gpuopt/soa.cuh>

struct Particle {
  float mass;
  int id;
};

void fail(const gpuopt::SoaVector<Particle>& vector, Particle* aos) { gpuopt::toAos(vector, aos); }
