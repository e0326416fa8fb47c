// EXPECT: gpuopt::histogramEdges: the elements must be integers or floating-point numbers
// WRITTEN: `histogramEdges(particles, n, edges, bins, counts)` of structures
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

struct Particle {
  float mass;
  int id;
};

void fail(const Particle* in, const float* edges, unsigned* counts) {
  gpuopt::histogramEdges(in, 3, edges, 10, counts);
}
