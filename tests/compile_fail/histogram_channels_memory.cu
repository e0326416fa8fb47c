// EXPECT: gpuopt::histogramChannels: samples must be a pointer, or Thrust's iterator of memory
// WRITTEN: `histogramChannels<3>(samples, n, counts, bins, lower, upper)`, where `samples` is a counting iterator
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

#include <cstddef>
#include <iterator>

struct Counting {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = int;
  using difference_type = std::ptrdiff_t;
  using pointer = const int*;
  using reference = int;
  __host__ __device__ int operator[](std::ptrdiff_t i) const { return static_cast<int>(i); }
};

void fail(unsigned* counts) { gpuopt::histogramChannels<3>(Counting{}, 3, counts, 10, 0, 256); }
