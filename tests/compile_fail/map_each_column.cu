// EXPECT: gpuopt::forEach: data must be a pointer, or Thrust's iterator of memory; of a SoaView, pass one column<...>(), or write a kernel that changes view[i]
// DO: a kernel that takes the view, as in [columns](soa.md); `forEach(view.column<0>(), n, f)` for one member
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>
#include <gpuopt/soa.cuh>

struct Point {
  float x, y;
};

struct Move {
  __device__ void operator()(Point& p) const { p.x += p.y; }
};

void fail(gpuopt::SoaView<Point> view) { gpuopt::forEach(view.begin(), view.size(), Move{}); }
