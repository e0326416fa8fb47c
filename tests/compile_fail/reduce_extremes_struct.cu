// EXPECT: gpuopt: extremes are those of numbers; of structures, argMin and argMax take a function
// NOISY nvcc: the kernels are instantiated nevertheless
// WRITTEN: `argMax(particles, n)` of structures
// DO: `argMax(particles, n, Speed{})`
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

struct Particle {
  float speed, mass;
};

std::size_t fail(const Particle* particles) { return gpuopt::argMax(particles, 1000).index; }
