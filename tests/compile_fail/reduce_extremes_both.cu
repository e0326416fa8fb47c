// EXPECT: gpuopt: extremes are those of numbers; of structures, argMin and argMax take a function
// NOISY nvcc: the kernels are instantiated nevertheless
// WRITTEN: `minMaxInto(particles, n, out)` of structures
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

struct Particle {
  float speed, mass;
};

void fail(const Particle* particles, gpuopt::MinMax<Particle>* out) { gpuopt::minMaxInto(particles, 1000, out); }
