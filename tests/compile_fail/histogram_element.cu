// EXPECT: gpuopt: the elements must be integers or floating-point numbers
// DO: call `histogramBy` with a function that tells the bin of an element
// WRITTEN: `histogram(particles, n, counts, bins, lower, upper)` of structures
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

struct Particle {
  float mass;
  int id;
};

void fail(const Particle* in, unsigned* counts) { gpuopt::histogram(in, 3, counts, 10, 0, 1); }
