// EXPECT: gpuopt: counts must be a pointer, or Thrust's iterator of memory
// WRITTEN: `bincount(in, n, counts, bins)`, where `counts` is an iterator of no memory
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

#include <cstddef>
#include <iterator>

struct Discard {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = int;
  using difference_type = std::ptrdiff_t;
  using pointer = int*;
  using reference = int&;
};

void fail(const int* in) { gpuopt::bincount(in, 3, Discard{}, 10); }
