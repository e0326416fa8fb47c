// EXPECT g++: has no member named 'mass'
// EXPECT nvcc: has no member "mass"
// DO: `view[0].get<&Particle::mass>()`; or `Particle p = view[0];` and `p.mass`
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/view.cuh>

struct Particle {
  float mass;
  int id;
};

float fail(gpuopt::SoaView<Particle> view) { return view[0].mass; }
