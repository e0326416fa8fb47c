// EXPECT: gpuopt::TransposeTile: ALIGNED needs elements of 1, 2, 4, 8 or 16 bytes, TILE of which fill a 16-byte vector
// SPDX-License-Identifier: MIT
#include <gpuopt/block/transpose.cuh>

struct Point {
  float x, y, z;
};

template class gpuopt::TransposeTile<Point, Point, 32, 8, true>;
