// EXPECT: gpuopt::transform: the structures of out are const
// SPDX-License-Identifier: MIT
#include <gpuopt/soa.cuh>

struct Point {
  float x, y;
};

void fail(gpuopt::SoaView<Point> in, gpuopt::SoaView<const Point> out) { transform(in, out, gpuopt::Identity{}); }
