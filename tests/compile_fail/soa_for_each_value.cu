// EXPECT: gpuopt::forEach: the function takes a structure by value or as const, so it changes nothing: take a reference, or pass a SoaView<const T> to only read
// WRITTEN: `forEach(view, f)`, where f takes a `Point`
// SPDX-License-Identifier: MIT
#include <gpuopt/soa.cuh>

struct Point {
  float x, y;
};

struct Move {
  __device__ void operator()(Point p) const { p.x += p.y; }
};

void fail(gpuopt::SoaView<Point> view) { gpuopt::forEach(view, Move{}); }
