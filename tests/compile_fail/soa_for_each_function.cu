// EXPECT: gpuopt::forEach: the function must take a structure of the view, alone or with its index, by a const call operator
// SPDX-License-Identifier: MIT
#include <gpuopt/soa.cuh>

struct Point {
  float x, y;
};

struct Move {
  __device__ void operator()(float& x) const { x += 1; }
};

void fail(gpuopt::SoaView<Point> view) { gpuopt::forEach(view, Move{}); }
