// EXPECT: gpuopt: the call operator of the function must be const
// WRITTEN: `transformReduce(x, n, f)` whose call operator is not const
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

struct SquareMutable {
  __host__ __device__ float operator()(float x) { return x * x; }
};

float fail(const float* x) { return gpuopt::transformReduce(x, 1000, SquareMutable{}); }
