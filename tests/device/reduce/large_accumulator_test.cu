/// Columns whose accumulators fill the shared memory of a block: many bytes, and more bytes than elements have.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/matrix_data.cuh"
#include "support/portion.hpp"

#include <gpuopt/reduce_columns.cuh>

#include <cstddef>
#include <vector>

namespace gpuopt::test::large_accumulator_test {
namespace {

// The element x as (x, 2 x, 3 x, ...): WORDS ints.
template <int WORDS>
struct Spread {
  template <class T>
  __host__ __device__ Many<int, WORDS> operator()(const T& x) const {
    Many<int, WORDS> words{};
    for (int i = 0; i < WORDS; ++i) words.words[i] = (i + 1) * static_cast<int>(x);
    return words;
  }
};

template <int WORDS, class T>
void checkLarge(std::size_t rows, std::size_t cols, std::size_t ld, std::size_t offset) {
  static Series cases;
  if (!cases.runsNext()) return;
  CAPTURE(WORDS, sizeof(T), rows, cols, ld, offset);
  using A = Many<int, WORDS>;
  const auto matrix = HostMatrix<T>::make(rows, cols, ld);
  const DeviceArray<T> in(matrix.values, offset);
  DeviceArray<A> out(cols);
  transformReduceColumns(in.data(), rows, cols, ld, out.data(), Spread<WORDS>{});
  std::vector<A> columns(cols, A{});
  for (std::size_t i = 0; i < rows * cols; ++i) {
    const A value = Spread<WORDS>{}(matrix.values[i / cols * ld + i % cols]);
    columns[i % cols] = columns[i % cols] + value;
  }
  CHECK(out.toHost() == columns);
}

template <int WORDS, class T>
void checkShapes() {
  for (const std::size_t cols : {1, 16, 33, 150})
    for (const std::size_t gap : {0, 1, 16})
      for (const std::size_t rows : {3, 40}) checkLarge<WORDS, T>(rows, cols, cols + gap, gap);
}

TEST_CASE("Columns of bytes with accumulators of 96 bytes", "[columns]") { checkShapes<24, signed char>(); }

TEST_CASE("Accumulators on both sides of what a warp of vectors has room for", "[columns]") {
  checkShapes<15, signed char>();  // 60 + 4 bytes: 32 threads of 16 elements have 32 KiB
  checkShapes<16, signed char>();
}

// An accumulator without a neutral element has a word more, which says whether it exists.
TEST_CASE("Accumulators of a kilobyte", "[columns]") { checkShapes<255, signed char>(); }

}  // namespace
}  // namespace gpuopt::test::large_accumulator_test
