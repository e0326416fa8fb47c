// EXPECT: gpuopt: the call operator of the operation must be const
// DO: `operator()(float a, float b) const`
// WRITTEN: `reduce(x, n, op)` whose call operator is not const
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

struct AddMutable {
  __host__ __device__ float operator()(float a, float b) { return a + b; }
};

float fail(const float* x) { return gpuopt::reduce(x, 1000, AddMutable{}); }
