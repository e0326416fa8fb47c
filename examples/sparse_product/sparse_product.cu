/// \file
/// A sparse matrix times a vector, y = A x. The entries of a row are a segment, so each y is the sum of a segment, of
/// entry times x on the way. Segments differ in length; long ones are no slower.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"

#include <gpuopt/reduce_segments.cuh>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <vector>

struct Entry {
  float value;
  unsigned col;
};

struct TimesX {
  const float* x;
  __device__ float operator()(const Entry& entry) const { return entry.value * x[entry.col]; }
};

bool run() {
  const unsigned rows = 2000, cols = 3000;
  std::vector<float> x(cols);
  for (unsigned c = 0; c < cols; ++c) x[c] = static_cast<float>(c % 11) - 5;

  // Rows of 0 to 20 entries, but for a long one. Row r has the entries offsets[r] to offsets[r + 1].
  std::vector<Entry> entries;
  std::vector<unsigned> offsets{0};
  for (unsigned row = 0; row < rows; ++row) {
    const unsigned count = row == 77 ? cols : row * 13 % 21;
    for (unsigned i = 0; i < count; ++i) entries.push_back({static_cast<float>(i % 5), (row * 31 + i * 7) % cols});
    offsets.push_back(static_cast<unsigned>(entries.size()));
  }
  const DeviceArray<Entry> matrix(entries);
  const DeviceArray<unsigned> begins(offsets);
  const DeviceArray<float> vector(x), product(rows);

  gpuopt::transformReduceSegments(matrix.data(), begins.data(), rows, product.data(), TimesX{vector.data()});

  const std::vector<float> y = product.toHost();
  std::size_t wrong = 0;
  for (unsigned row = 0; row < rows; ++row) {
    double expected = 0;
    for (unsigned i = offsets[row]; i < offsets[row + 1]; ++i) expected += entries[i].value * x[entries[i].col];
    wrong += y[row] == expected ? 0 : 1;  // whole numbers: exact in any order
  }
  std::printf("%u x %u with %zu entries: %s\n", rows, cols, entries.size(), wrong == 0 ? "ok" : "WRONG");
  return wrong == 0;
}

int main() { return exitStatusOf("sparse_product", run); }
