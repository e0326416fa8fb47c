// EXPECT: gpuopt: the accumulator's type lacks the operator that the operation applies, which is + for gpuopt::Plus
// DO: `friend __host__ __device__ Point operator+(const Point&, const Point&)`
// WRITTEN: `reduce(points, n)` of a struct without `operator+`
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

struct Point {
  float x, y;
};

Point fail(const Point* points) { return gpuopt::reduce(points, 1000); }
