// EXPECT-LATER g++: gpuopt::member: MEMBER is no pointer to a data member, such as &Particle::mass
// EXPECT nvcc: a pointer to a bound function may only be used to call the function
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/iterator.cuh>

struct Particle {
  float mass() const;
};

auto fail(const Particle* particles) { return gpuopt::member<&Particle::mass>(particles); }
