// EXPECT: gpuopt::SoaVector: the struct is const
// WRITTEN: SoaVector<const Particle>
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/vector.cuh>

struct Particle {
  float mass;
  int id;
};

template class gpuopt::SoaVector<const Particle>;
