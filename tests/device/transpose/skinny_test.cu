/// Transposition of skinny matrices and vectors: every number of lines, element size, alignment, gaps,
/// batches.
// SPDX-License-Identifier: MIT
#include "support/transpose_launch.cuh"

#include <gpuopt/device/transpose/launch.cuh>

#include <cstddef>
#include <set>

namespace skinny_test {

using namespace gpuopt::test;
using gpuopt::Identity;
using gpuopt::detail::RawElement;

using Algorithm = gpuopt::detail::TransposeAlgorithm;

// By the library's tiles, or with few threads and short tiles: many of them in a matrix that the emulated
// device transposes in no time.
template <bool IS_SHORT>
struct LaunchSkinny {
  template <class Problem>
  void operator()(const Problem& problem) const {
    gpuopt::detail::TransposeTuning tuning = largeTuning();
    if (IS_SHORT) tuning.skinnyThreadBytes = 16, tuning.skinnyThreads = 64;
    const bool isCopy = planByType(problem, tuning).algorithm == Algorithm::copy;
    LaunchPlanned{tuning, isCopy ? Algorithm::copy : Algorithm::skinny}(problem);
  }
};

// lines x records, and back.
template <bool IS_SHORT, class In, class Out, class Function>
void checkBothWays(std::size_t lines, std::size_t records, Function function, std::size_t inOffset = 0,
                   std::size_t outOffset = 0) {
  checkTranspose<In, Out>(TransposeShape::dense(lines, records), function, LaunchSkinny<IS_SHORT>{}, inOffset,
                          outOffset);
  checkTranspose<In, Out>(TransposeShape::dense(records, lines), function, LaunchSkinny<IS_SHORT>{}, inOffset,
                          outOffset);
}

template <bool IS_SHORT, std::size_t SIZE, std::size_t ALIGN>
void checkMove(std::size_t lines, std::size_t records, std::size_t inOffset = 0, std::size_t outOffset = 0) {
  using Element = RawElement<SIZE, ALIGN>;
  checkBothWays<IS_SHORT, Element, Element>(lines, records, Identity{}, inOffset, outOffset);
}

template <std::size_t SIZE, std::size_t ALIGN>
void checkSize() {
  for (std::size_t lines = 1; lines <= 32; ++lines) checkMove<true, SIZE, ALIGN>(lines, 2 * 1024 / SIZE / lines + 45);
  for (const std::size_t lines : {1, 2, 3, 8, 31, 32})
    for (const std::size_t records : {1, 2, 15, 31, 32, 33, 64, 127, 128, 129, 256})
      if (lines == 1 || records == 1 || gpuopt::detail::largerOf<std::size_t>(lines, records) * SIZE >= 16)
        checkMove<true, SIZE, ALIGN>(lines, records);
}

// Sources and destinations begin at every element within 32 bytes; the lines follow their own alignments.
template <class T>
void checkAlignments() {
  const std::size_t period = 32 / sizeof(T);
  for (std::size_t in = 0; in < period; ++in)
    for (std::size_t out = 0; out < period; out += sizeof(T) == 1 ? 3 : 1) {
      checkBothWays<true, T, T>(3, 140, Identity{}, in, out);
      checkBothWays<true, T, T>(5, 140, Identity{}, in, out);
      checkBothWays<true, T, T>(4, 1 + 512 / sizeof(T), Identity{}, in, out);
      checkBothWays<true, T, T>(1, 77, Identity{}, in, out);
    }
}

template <class Out>
struct Halve {
  template <class T>
  __host__ __device__ Out operator()(T x) const {
    return static_cast<Out>(x / 2);
  }
};

struct Triple {
  int x, y, z;
};

struct Spread {
  __host__ __device__ Triple operator()(short x) const { return {x, x + 1, x + 2}; }
};

struct Sum {
  __host__ __device__ int operator()(const Triple& t) const { return t.x ^ (t.y >> 1) ^ (t.z >> 2); }
};

TEST_CASE("skinny transposition moves elements of powers of two") {
  checkSize<1, 1>();
  checkSize<2, 2>();
  checkSize<4, 4>();
  checkSize<8, 8>();
  checkSize<16, 16>();
}

TEST_CASE("skinny transposition moves structures", "[transpose][sweep]") {
  checkSize<3, 1>();
  checkSize<6, 2>();
  checkSize<12, 4>();
  checkSize<16, 4>();
  checkSize<20, 4>();
  checkSize<24, 8>();
  checkSize<100, 4>();
  checkSize<128, 16>();
}

TEST_CASE("skinny transposition takes every alignment") {
  checkAlignments<unsigned char>();
  checkAlignments<unsigned short>();
  checkAlignments<unsigned>();
  checkAlignments<uint2>();
  checkAlignments<uint4>();
  for (std::size_t in = 0; in < 16; ++in)
    for (std::size_t out = 0; out < 16; out += 5) checkMove<true, 3, 1>(5, 100, in, out);
  for (std::size_t in = 0; in < 4; ++in)
    for (std::size_t out = 0; out < 8; ++out) checkMove<true, 12, 4>(5, 100, in, out);
}

TEST_CASE("skinny transposition by the default policy") {
  for (const std::size_t records : {1023, 4096, 6001}) {
    for (const std::size_t lines : {2, 7, 31}) checkMove<false, 1, 1>(lines, records, 1, 5);
    checkMove<false, 4, 4>(2, records);
    checkMove<false, 4, 4>(32, records);
    checkMove<false, 12, 4>(3, records, 1, 2);
    checkMove<false, 16, 16>(1, records, 1);
  }
}

TEST_CASE("skinny transposition leaves gaps and distances between matrices alone") {
  const LaunchSkinny<true> launch;
  for (const std::size_t gap : {1, 4, 40}) {
    checkTranspose<unsigned, unsigned>({5, 200, 200 + gap, 5 + gap}, Identity{}, launch);
    checkTranspose<unsigned, unsigned>({200, 5, 5 + gap, 200 + gap}, Identity{}, launch, 1, 3);
    checkTranspose<unsigned char, unsigned char>({300, 4, 4 + gap, 300 + gap}, Identity{}, launch, 1, 3);
    checkTranspose<unsigned char, unsigned char>({4, 300, 300 + gap, 4 + gap}, Identity{}, launch, 1, 3);
    checkTranspose<unsigned char, unsigned char>({300, 5, 5 + gap, 300 + gap}, Identity{}, launch, 1, 3);
    checkTranspose<unsigned char, unsigned char>({5, 300, 300 + gap, 5 + gap}, Identity{}, launch, 1, 3);
    checkTranspose<uint4, uint4>({1, 99, 99, 1 + gap}, Identity{}, launch);
    checkTranspose<uint4, uint4>({99, 1, 1 + gap, 99}, Identity{}, launch);
  }
}

TEST_CASE("skinny transposition of batches", "[transpose][sweep]") {
  const LaunchSkinny<true> launch;
  checkTranspose<unsigned, unsigned>(TransposeShape::dense(3, 151, 5), Identity{}, launch, 1, 2);
  checkTranspose<unsigned, unsigned>(TransposeShape::dense(151, 3, 5), Identity{}, launch, 1, 2);
  checkTranspose<unsigned short, unsigned short>({151, 3, 4, 160, 4, 700, 500}, Identity{}, launch);
  checkTranspose<unsigned short, unsigned short>({3, 151, 160, 4, 4, 500, 700}, Identity{}, launch);
  // Side by side as columns of a larger matrix, and one that is read several times.
  checkTranspose<unsigned, unsigned>({3, 70, 280, 3, 4, 70, 210}, Identity{}, launch);
  checkTranspose<unsigned, unsigned>({70, 3, 12, 70, 4, 3, 210}, Identity{}, launch, 1);
  checkTranspose<unsigned char, unsigned char>({5, 70, 70, 5, 3, 0, 350}, Identity{}, launch, 1);
  checkTranspose<unsigned char, unsigned char>(TransposeShape::dense(1, 2, 70000), Identity{}, launch, 1);
}

TEST_CASE("skinny transposition applies a function") {
  for (const std::size_t lines : {1, 2, 7, 32}) {
    checkBothWays<true, short, long long>(lines, 131, Halve<long long>{}, 1, 1);
    checkBothWays<true, unsigned, signed char>(lines, 131, Halve<signed char>{}, 1, 1);
    checkBothWays<true, unsigned, unsigned>(lines, 131, Halve<unsigned>{}, 1, 2);
    checkBothWays<true, unsigned char, signed char>(lines, 131, Halve<signed char>{}, 1, 2);
    checkBothWays<true, short, Triple>(lines, 131, Spread{}, 1, 2);
    checkBothWays<true, Triple, int>(lines, 131, Sum{}, 3, 1);
  }
}

// By the library's tiles, however few blocks that makes, and whatever would be faster.
struct LaunchManyLines {
  template <class Problem>
  void operator()(const Problem& problem) const {
    gpuopt::detail::TransposeTuning tuning = largeTuning();
    tuning.manyLinesBlocks = tuning.manyOddBytes = tuning.registerBytes = tuning.manyLinesTileBytes = 0;
    tuning.manyByteColumnsBytes = 0;
    tuning.manyRows = tuning.manyColumns = tuning.manyCastColumns = tuning.manyLines;
    LaunchPlanned{tuning, Algorithm::skinny}(problem);
  }
};

// Lines to records, and back.
template <class In, class Out, class Function>
void checkManyLines(const TransposeShape& shape, Function function, std::size_t inOffset = 0,
                    std::size_t outOffset = 0) {
  checkTranspose<In, Out>(shape, function, LaunchManyLines{}, inOffset, outOffset);
  const TransposeShape back{shape.cols,  shape.rows,      shape.outLd,   shape.inLd,
                            shape.batch, shape.outStride, shape.inStride};
  checkTranspose<In, Out>(back, function, LaunchManyLines{}, inOffset, outOffset);
}

// The last tile is full, has one record, or all but one; lines are aligned or not. Blocks have 128 to 512 threads.
template <class T>
void checkManySizes() {
  const std::size_t tile = 256 / sizeof(T);
  for (const std::size_t lines : {33, 49, 63, 71, 101, 111})
    for (const std::size_t records : {3 * tile - 1, 3 * tile, 3 * tile + 1, 4 * tile - 32 / sizeof(T)})
      if (records >= 2 * lines) checkManyLines<T, T>(TransposeShape::dense(lines, records), Identity{});
  for (const std::size_t lines : {129, 169, 173, 255}) {
    const std::size_t records = 2 * gpuopt::detail::largerOf(tile, lines) / 32 * 32 + 32;
    checkManyLines<T, T>(TransposeShape::dense(lines, records), Identity{});
  }
}

template <class T>
void checkManyAlignments() {
  const std::size_t period = 32 / sizeof(T);
  for (std::size_t in = 0; in < period; in += sizeof(T) == 1 ? 3 : 1)
    for (std::size_t out = 0; out < period; out += sizeof(T) == 1 ? 5 : 1)
      checkManyLines<T, T>(TransposeShape::dense(49, 512 / sizeof(T) + 37), Identity{}, in, out);
}

TEST_CASE("many lines: every size of a word") {
  checkManySizes<unsigned char>();
  checkManySizes<unsigned short>();
  checkManySizes<unsigned>();
  checkManySizes<uint2>();
  checkTranspose<unsigned, unsigned>(TransposeShape::dense(36, 196, 3), Identity{}, LaunchManyLines{});
  for (const std::size_t lines : {33, 49, 97})
    for (const std::size_t records : {195, 208})
      checkManyLines<uint4, uint4>(TransposeShape::dense(lines, records), Identity{}, 1);
}

TEST_CASE("many lines at every alignment") {
  checkManyAlignments<unsigned char>();
  checkManyAlignments<unsigned short>();
  checkManyAlignments<unsigned>();
  checkManyAlignments<uint2>();
}

TEST_CASE("many lines: batches, gaps between lines and between matrices") {
  for (const std::size_t gap : {0, 1, 16, 37}) {
    const std::size_t lines = 49 * (520 + gap) + gap;
    const std::size_t records = 49 * 520 + gap;
    checkManyLines<unsigned char, unsigned char>({49, 520, 520 + gap, 49, 3, lines, records}, Identity{}, 1);
    checkManyLines<unsigned short, unsigned short>({49, 520, 520 + gap, 49, 3, lines, records}, Identity{}, 1, 3);
    checkManyLines<unsigned, unsigned>({49, 520, 520 + gap, 49, 2, lines, records}, Identity{}, 3);
  }
  // Lines of several matrices side by side, and one matrix that is read several times.
  checkManyLines<unsigned, unsigned>({49, 136, 4 * 136, 49, 4, 136, 49 * 136}, Identity{}, 1);
  checkTranspose<unsigned, unsigned>({49, 136, 136, 49, 3, 0, 49 * 136}, Identity{}, LaunchManyLines{});
}

TEST_CASE("many lines apply a function") {
  const TransposeShape aligned = TransposeShape::dense(49, 544, 2);
  checkManyLines<unsigned char, float>(aligned, Halve<float>{});
  checkManyLines<unsigned, signed char>(aligned, Halve<signed char>{});
  checkManyLines<short, long long>(aligned, Halve<long long>{});
  const TransposeShape odd = TransposeShape::dense(49, 531, 2);
  checkManyLines<unsigned char, signed char>(odd, Halve<signed char>{}, 1, 2);
  checkManyLines<unsigned, unsigned>(odd, Halve<unsigned>{}, 1, 2);
}

// Of bytes, whatever the number of lines: places are those of vectors of one line, one after another.
TEST_CASE("skinny transposition: a warp's lanes have no bank conflict") {
  using namespace gpuopt::detail;
  using Layout = SkinnyLayout<true, unsigned char, unsigned char, Identity>;
  for (std::size_t lines = 1; lines <= 32; ++lines) {
    const Swizzle swizzle = laneSwizzle<Layout>(lines * 16);
    for (unsigned begin = 0; begin < 4096; begin += 37) {
      std::set<unsigned> banks;
      for (unsigned lane = 0; lane < 32; ++lane)
        banks.insert(swizzle(begin + lane * static_cast<unsigned>(lines) * 16) / 4 % 32);
      CAPTURE(lines, begin);
      CHECK(banks.size() == 32);
    }
  }
}

}  // namespace skinny_test
