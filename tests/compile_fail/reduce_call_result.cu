// EXPECT: gpuopt: the operation must return what converts to the accumulator
// WRITTEN: `reduce(x, n, op)` whose call operator returns nothing
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

struct AddNothing {
  __host__ __device__ void operator()(float, float) const {}
};

float fail(const float* x) { return gpuopt::reduce(x, 1000, AddNothing{}); }
