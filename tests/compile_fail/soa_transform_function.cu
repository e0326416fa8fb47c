// EXPECT: gpuopt::transform: the function must take a structure of in, alone or with its index, and return one of out, by a const call operator
// WRITTEN: `transform(in, out, f)`, where f returns no structure of `out`
// SPDX-License-Identifier: MIT
#include <gpuopt/soa.cuh>

struct Point {
  float x, y;
};

struct Sum {
  __device__ float operator()(const Point& p) const { return p.x + p.y; }
};

void fail(gpuopt::SoaView<const Point> in, gpuopt::SoaView<Point> out) { gpuopt::transform(in, out, Sum{}); }
