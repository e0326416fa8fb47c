// EXPECT: gpuopt::reduceBy: out must be a pointer, or Thrust's iterator of memory
// WRITTEN: `reduceBy(values, n, keys, bins, out)`, where `out` is an iterator of no memory
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

#include <cstddef>
#include <iterator>

struct NoMemory {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = float;
  using difference_type = std::ptrdiff_t;
  using pointer = float*;
  using reference = float&;
};

void fail(const float* x, const int* keys) { gpuopt::reduceBy(x, 3, keys, 10, NoMemory{}); }
