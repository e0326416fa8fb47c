/// What the tests of matrices share: matrices with poisoned gaps between their rows, and an iterator without
/// memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "reduction_data.cuh"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <vector>

namespace gpuopt::test {

/// rows x cols elements, row-major; what lies between rows would be seen in any result (NaN for floating
/// point). Behind the last row nothing lies.
template <class T>
struct HostMatrix {
  std::size_t rows;
  std::size_t cols;
  std::size_t ld;
  std::vector<T> values;

  static HostMatrix make(std::size_t rows, std::size_t cols, std::size_t ld) {
    HostMatrix matrix{rows, cols, ld, {}};
    if (rows == 0) return matrix;
    matrix.values = Elements<T>::make((rows - 1) * ld + cols, static_cast<unsigned>(rows + 31 * cols));
    for (std::size_t r = 0; r + 1 < rows; ++r)
      for (std::size_t c = cols; c < ld; ++c)
        std::memset(static_cast<void*>(&matrix.values[r * ld + c]), 0xFF, sizeof(T));
    return matrix;
  }
};

/// The iterator whose element i is i squared: nothing lies in memory.
struct Squares {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::int64_t;
  using difference_type = std::ptrdiff_t;
  using pointer = const std::int64_t*;
  using reference = std::int64_t;

  std::ptrdiff_t first = 0;

  __host__ __device__ std::int64_t operator[](std::ptrdiff_t i) const { return (first + i) * (first + i); }
  __host__ __device__ std::int64_t operator*() const { return first * first; }
  __host__ __device__ friend Squares operator+(const Squares& it, std::ptrdiff_t i) { return {it.first + i}; }
};

}  // namespace gpuopt::test
