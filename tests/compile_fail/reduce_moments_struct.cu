// EXPECT: gpuopt: mean and variance are those of numbers
// NOISY: the kernels are instantiated nevertheless
// WRITTEN: `meanVariance(particles, n)` of structures
// DO: `meanVariance(member<&Particle::speed>(particles), n)`, with `<gpuopt/soa.cuh>`
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

struct Particle {
  float speed, mass;
};

double fail(const Particle* particles) { return gpuopt::meanVariance(particles, 1000).mean; }
