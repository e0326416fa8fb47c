// EXPECT: gpuopt::member: MEMBER is no pointer to a data member, such as &Particle::mass
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/iterator.cuh>

struct Particle {
  float mass() const;
};

auto fail(const Particle* particles) { return gpuopt::member<&Particle::mass>(particles); }
