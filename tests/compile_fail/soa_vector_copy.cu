// EXPECT g++: use of deleted function
// EXPECT nvcc: it is a deleted function
// WRITTEN: `auto copy = vector` of a `SoaVector`
// DO: `auto copy = vector.clone()`, or `std::move(vector)`
// SPDX-License-Identifier: MIT
#include <gpuopt/soa.cuh>

struct Particle {
  float mass;
  int id;
};

void fail(const gpuopt::SoaVector<Particle>& vector) { auto copy = vector; }
