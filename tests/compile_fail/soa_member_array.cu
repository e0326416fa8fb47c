// EXPECT: gpuopt::member: the member is an array, which no algorithm can take by value
// DO: wrap the array in a struct
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/iterator.cuh>

struct Particle {
  float position[3];
};

float fail(const Particle* particles) { return gpuopt::member<&Particle::position>(particles)[1][2]; }
