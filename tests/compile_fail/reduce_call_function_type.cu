// EXPECT: gpuopt: the function must take an element, or one of each of two inputs
// WRITTEN: `transformReduce(x, n, f)` where `f` takes another type
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

struct LengthOf {
  __host__ __device__ float operator()(float2 x) const { return x.x * x.x + x.y * x.y; }
};

float fail(const float* x) { return gpuopt::transformReduce(x, 1000, LengthOf{}); }
