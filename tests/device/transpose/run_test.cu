/// Transposition of batches of small dense matrices: every small shape, element size and alignment.
// SPDX-License-Identifier: MIT
#include "support/transpose_launch.cuh"

#include <gpuopt/device/transpose/launch.cuh>

#include <cstddef>

namespace run_test {

using namespace gpuopt::test;
using gpuopt::Identity;
using gpuopt::detail::RawElement;
using Algorithm = gpuopt::detail::TransposeAlgorithm;

// However few matrices there are, and however small one is.
gpuopt::detail::TransposeTuning anyBatch() {
  gpuopt::detail::TransposeTuning tuning;
  tuning.minBatch = 1;
  tuning.smallElements = tuning.smallElementsOf2Or4Bytes = 0;
  tuning.smallAlignedElements = tuning.smallSkinnyElements = 0;
  return tuning;
}

// Problems that other kernels take are left out.
struct LaunchBatch {
  template <class Problem>
  void operator()(const Problem& problem) const {
    gpuopt::detail::launchTranspose(problem, planByType(problem, anyBatch()), nullptr);
  }
};

template <class In, class Out = In, class Function = Identity>
Algorithm algorithmOf(std::size_t rows, std::size_t cols) {
  const gpuopt::detail::TransposeProblem<In, Out, Function> problem{nullptr, nullptr, rows,        cols,        cols,
                                                                    rows,    2,       rows * cols, rows * cols, {}};
  return planByType(problem, anyBatch()).algorithm;
}

template <class In, class Out = In, class Function = Identity>
bool fits(std::size_t rows, std::size_t cols) {
  const Algorithm algorithm = algorithmOf<In, Out, Function>(rows, cols);
  return algorithm == Algorithm::run || algorithm == Algorithm::permutedRun || algorithm == Algorithm::columnPanel;
}

template <class In, class Out = In, class Function = Identity>
void check(std::size_t rows, std::size_t cols, std::size_t batch, std::size_t inOffset = 0, std::size_t outOffset = 0,
           Function function = {}) {
  if (fits<In, Out, Function>(rows, cols))
    checkTranspose<In, Out>(TransposeShape::dense(rows, cols, batch), function, LaunchBatch{}, inOffset, outOffset);
}

template <std::size_t SIZE>
using Raw = RawElement<SIZE, SIZE>;

struct Triple {
  float x, y, z;
};

struct ToTriple {
  __host__ __device__ Triple operator()(unsigned char x) const { return {x * 2.0f, x + 1.0f, 3.0f}; }
};

struct FromTriple {
  __host__ __device__ unsigned short operator()(const Triple& t) const {
    unsigned x;
    __builtin_memcpy(&x, &t.y, sizeof x);
    return static_cast<unsigned short>(x >> 3);
  }
};

struct Truncate {
  __host__ __device__ unsigned char operator()(const double& x) const {
    unsigned long long bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return static_cast<unsigned char>(bits >> 20);
  }
};

struct AddOne {
  template <class T>
  __host__ __device__ T operator()(T x) const {
    return static_cast<T>(x + 1);
  }
};

TEMPLATE_TEST_CASE("batches of every shape up to 9 x 9", "", Raw<1>, Raw<2>, (RawElement<3, 1>), Raw<4>, Raw<8>,
                   (RawElement<12, 4>), Raw<16>, (RawElement<24, 8>), (RawElement<100, 4>)) {
  for (std::size_t rows = 1; rows <= 9; ++rows)
    for (std::size_t cols = 1; cols <= 9; ++cols)
      for (const std::size_t batch : {1, 2, 61}) check<TestType>(rows, cols, batch);
}

TEMPLATE_TEST_CASE("batches of matrices around multiples of 16", "", Raw<1>, Raw<2>, (RawElement<3, 1>),
                   (RawElement<6, 2>), Raw<4>, Raw<8>, (RawElement<12, 4>), Raw<16>) {
  for (const std::size_t rows : {15, 16, 17, 31, 32, 33, 63, 64, 65})
    for (const std::size_t cols : {15, 16, 17, 31, 32, 33, 63, 64, 65}) check<TestType>(rows, cols, 3);
}

// Columns that are shorter than the words of a run.
TEMPLATE_TEST_CASE("batches of wide matrices", "", Raw<1>, Raw<2>, (RawElement<3, 1>), (RawElement<6, 2>)) {
  for (const std::size_t rows : {4, 5, 7, 8, 9, 10, 11, 13, 14})
    for (const std::size_t cols : {15, 16, 17, 40, 64, 129}) check<TestType>(rows, cols, 5, rows % 3, cols % 2);
}

// A thread makes one word of each of 3 periods: 3 * 49 words are not those of whole warps.
TEST_CASE("batches whose periods change the number of threads") {
  for (const std::size_t batch : {1, 127, 300}) {
    check<Raw<1>>(7, 7, batch);
    check<Raw<1>>(9, 9, batch, 1, 2);
    check<Raw<2>>(9, 9, batch);
  }
}

TEMPLATE_TEST_CASE("batches at every alignment of both sides", "", Raw<1>, Raw<2>, (RawElement<3, 1>),
                   (RawElement<6, 2>), Raw<4>, (RawElement<12, 4>), Raw<8>, (RawElement<24, 8>), (RawElement<100, 4>)) {
  const std::size_t offsets = sizeof(TestType) < 16 ? 16 / sizeof(TestType) + 1 : 2;
  for (std::size_t in = 0; in <= offsets; ++in)
    for (std::size_t out = 0; out <= offsets; ++out) {
      check<TestType>(1, 1, 1, in, out);
      check<TestType>(5, 7, 20, in, out);
      check<TestType>(4, 8, 11, in, out);
      check<TestType>(20, 6, 3, in, out);
      check<TestType>(35, 17, 2, in, out);
    }
}

TEMPLATE_TEST_CASE("batches of whole squares of 4 x 4", "", Raw<1>, Raw<2>) {
  for (const std::size_t rows : {16, 20, 24, 28, 32, 36, 48, 64, 100, 128})
    for (const std::size_t cols : {16, 20, 24, 28, 32, 36, 48, 64, 100, 128})
      for (const std::size_t batch : {1, 3}) check<TestType>(rows, cols, batch);
  check<TestType>(16, 16, 101);
  check<TestType>(20, 28, 101);
  check<TestType>(36, 20, 47);
  check<TestType>(64, 64, 13);
}

TEMPLATE_TEST_CASE("batches of squares at every alignment of both sides", "", Raw<1>, Raw<2>) {
  for (std::size_t in = 0; in <= 32; in += in < 8 ? 1 : 4)
    for (std::size_t out = 0; out <= 32; out += out < 8 ? 1 : 4) {
      check<TestType>(20, 24, 19, in, out);
      check<TestType>(32, 64, 4, in, out);
    }
}

TEMPLATE_TEST_CASE("batches of slabs", "", Raw<8>, (RawElement<12, 4>), Raw<16>, (RawElement<8, 4>),
                   (RawElement<16, 8>)) {
  for (const std::size_t rows : {64, 65, 72, 90, 100, 114, 130})
    for (const std::size_t cols : {64, 68, 72, 76, 90, 91, 96, 100, 128, 132})
      if (algorithmOf<TestType>(rows, cols) == Algorithm::columnPanel) check<TestType>(rows, cols, 3);
  // Offsets of 16 bytes or a multiple, and others, where whole matrices go if they fit.
  for (const std::size_t in : {0, 1, 2, 4})
    for (const std::size_t out : {0, 1, 2, 4, 8}) {
      check<TestType>(72, 104, 2, in, out);
      check<TestType>(80, 96, 2, in, out);
      check<TestType>(67, 100, 2, in, out);
    }
}

TEST_CASE("batches of the longest slabs") {
  check<Raw<8>>(64, 320, 2);
  check<Raw<8>>(320, 64, 2);
  check<Raw<8>>(318, 64, 2);
  check<Raw<16>>(159, 64, 2);
  check<Raw<16>>(65, 157, 2);
  check<RawElement<12, 4>>(213, 64, 2);
  check<RawElement<12, 4>>(64, 212, 2);
}

TEST_CASE("batches of many blocks and matrices") {
  check<Raw<1>>(4, 4, 70001);
  check<Raw<1>>(2, 3, 70001);
  check<Raw<2>>(3, 5, 70001);
  check<Raw<4>>(2, 2, 70001);
  check<Raw<1>>(33, 33, 40, 1, 2);
  check<Raw<1>>(17, 65, 40, 3, 0);
  check<RawElement<3, 1>>(24, 40, 10, 1, 2);
  check<Raw<4>>(17, 17, 50, 1, 3);
  check<Raw<8>>(12, 12, 50, 1, 1);
}

TEST_CASE("batches of the largest matrices that fit") {
  check<Raw<1>>(127, 129, 3, 1, 2);
  check<Raw<1>>(181, 181, 2);
  check<Raw<2>>(128, 128, 3);
  check<Raw<2>>(153, 160, 2, 1, 0);
  check<Raw<4>>(100, 100, 3, 1, 0);
  check<Raw<4>>(128, 128, 2, 1, 1);
  check<Raw<4>>(2, 16384, 2);
  check<Raw<8>>(125, 131, 2);
  check<Raw<16>>(90, 91, 2);
  check<RawElement<100, 4>>(36, 36, 2);
}

TEST_CASE("functions that change the type of a batch") {
  for (const std::size_t rows : {1, 3, 4, 17})
    for (const std::size_t cols : {1, 5, 8, 33}) {
      check<unsigned char, unsigned char>(rows, cols, 40, 1, 3, AddOne{});
      check<unsigned short, unsigned short>(rows, cols, 40, 1, 1, AddOne{});
      check<double, unsigned char>(rows, cols, 40, 1, 1, Truncate{});
      check<unsigned char, Triple>(rows, cols, 40, 3, 1, ToTriple{});
      check<Triple, unsigned short>(rows, cols, 40, 1, 1, FromTriple{});
    }
}

}  // namespace run_test
