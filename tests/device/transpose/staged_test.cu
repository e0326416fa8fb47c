/// The staged transposition: matrices of any element size, alignment, leading dimension and batch.
// SPDX-License-Identifier: MIT
#include "support/transpose_launch.cuh"

#include <gpuopt/device/transpose/launch.cuh>

#include <cstddef>
#include <initializer_list>

namespace staged_test {

using namespace gpuopt::test;
using gpuopt::Identity;
using gpuopt::detail::RawElement;

template <bool IS_WIDE>
struct LaunchStaged {
  template <class In, class Out, class Function>
  void operator()(const gpuopt::detail::TransposeProblem<In, Out, Function>& problem) const {
    using Tile = gpuopt::detail::StagedTileOf<sizeof(In), sizeof(Out), IS_WIDE>;
    gpuopt::detail::launchStaged<Tile>(problem, nullptr);
  }
};

template <class In, class Out, bool IS_WIDE = false, class Function>
void checkStaged(const TransposeShape& shape, Function function, std::size_t inOffset = 0, std::size_t outOffset = 0) {
  checkTranspose<In, Out>(shape, function, LaunchStaged<IS_WIDE>{}, inOffset, outOffset);
}

template <std::size_t SIZE, std::size_t ALIGN, bool IS_WIDE = false>
void checkMove(const TransposeShape& shape, std::size_t inOffset = 0, std::size_t outOffset = 0) {
  using Element = RawElement<SIZE, ALIGN>;
  checkStaged<Element, Element, IS_WIDE>(shape, Identity{}, inOffset, outOffset);
}

template <std::size_t SIZE, std::size_t ALIGN>
void checkSizes(std::initializer_list<std::size_t> sizes) {
  for (const std::size_t rows : sizes)
    for (const std::size_t cols : sizes) checkMove<SIZE, ALIGN>(TransposeShape::dense(rows, cols));
}

// Every offset of up to 16 bytes on both sides, with leading dimensions of several alignments.
template <std::size_t SIZE, std::size_t ALIGN>
void checkOffsets(std::size_t rows, std::size_t cols) {
  constexpr std::size_t OFFSETS = SIZE < 16 ? 16 / SIZE : 1;
  for (std::size_t in = 0; in <= OFFSETS; ++in)
    for (std::size_t out = 0; out <= OFFSETS; ++out)
      checkMove<SIZE, ALIGN>({rows, cols, cols + (in + out) % 3, rows + out % 5}, in, out);
}

struct Widen {
  __host__ __device__ int operator()(signed char value) const { return 3 * value; }
};

struct Narrow {
  __host__ __device__ unsigned char operator()(unsigned value) const { return static_cast<unsigned char>(value >> 8); }
};

struct Pixel {
  unsigned char red, green, blue;
};

struct Grey {
  __host__ __device__ unsigned short operator()(const Pixel& pixel) const {
    return static_cast<unsigned short>(pixel.red + pixel.green + pixel.blue);
  }
};

struct Swap {
  __host__ __device__ Pixel operator()(const Pixel& pixel) const { return {pixel.blue, pixel.green, pixel.red}; }
};

struct alignas(64) Line {
  unsigned words[16];
};

struct Negate {
  __host__ __device__ Line operator()(const Line& line) const {
    Line result;
    for (int i = 0; i < 16; ++i) result.words[i] = ~line.words[i];
    return result;
  }
};

TEST_CASE("staged transposition moves elements of every size") {
  checkSizes<1, 1>({1, 2, 3, 9, 31, 33, 64, 127, 128, 130, 257});
  checkSizes<2, 2>({1, 2, 5, 16, 17, 63, 64, 65, 130, 257});
  checkSizes<3, 1>({1, 4, 15, 33, 64, 65, 129});
  checkSizes<4, 4>({1, 3, 8, 31, 32, 33, 95, 96, 97, 128, 130});
  checkSizes<5, 1>({1, 33, 64, 130});
  checkSizes<6, 2>({1, 2, 33, 64, 65});
  checkSizes<8, 4>({1, 31, 33, 128, 130});
  checkSizes<8, 8>({1, 2, 31, 32, 33, 129});
  checkSizes<12, 4>({1, 31, 32, 65});
  checkSizes<16, 1>({1, 31, 66});
  checkSizes<16, 16>({1, 2, 31, 32, 33, 66});
  checkSizes<20, 4>({1, 31, 33, 64});
  checkSizes<24, 8>({1, 31, 33, 64});
  checkSizes<48, 16>({1, 16, 33});
  checkSizes<99, 1>({1, 8, 33});
  checkSizes<100, 4>({1, 8, 33});
  checkSizes<127, 1>({1, 9, 33});
  checkSizes<128, 16>({1, 8, 33});
}

TEST_CASE("staged transposition takes all sizes around the words it is made of") {
  for (std::size_t rows = 1; rows <= 9; ++rows)
    for (std::size_t cols = 1; cols <= 9; ++cols) {
      checkMove<1, 1>(TransposeShape::dense(rows, cols));
      checkMove<2, 2>(TransposeShape::dense(rows, cols));
      checkMove<4, 4>(TransposeShape::dense(rows, cols));
      checkMove<12, 4>(TransposeShape::dense(rows, cols));
    }
}

TEST_CASE("staged transposition needs no more than the elements' alignment") {
  checkOffsets<1, 1>(70, 41);
  checkOffsets<1, 1>(96, 64);
  checkOffsets<2, 2>(70, 41);
  checkOffsets<2, 2>(64, 64);
  checkOffsets<3, 1>(40, 41);
  checkOffsets<4, 4>(70, 64);
  checkOffsets<8, 8>(40, 41);
  checkOffsets<12, 4>(40, 32);
  checkOffsets<16, 16>(33, 34);
  checkOffsets<24, 8>(32, 34);
}

TEST_CASE("staged transposition leaves gaps between rows alone") {
  for (const std::size_t inGap : {0, 1, 2, 7, 16, 33})
    for (const std::size_t outGap : {0, 1, 4, 16, 31}) {
      checkMove<1, 1>({130, 70, 70 + inGap, 130 + outGap});
      checkMove<4, 4>({100, 40, 40 + inGap, 100 + outGap});
      checkMove<16, 16>({33, 40, 40 + inGap, 33 + outGap});
    }
}

TEST_CASE("staged transposition takes batches") {
  checkMove<1, 1>({7, 9, 9, 7, 5, 63, 63});
  checkMove<2, 2>({70, 33, 34, 71, 3, 70 * 34 + 1, 33 * 71 + 3});
  checkMove<4, 4>({33, 31, 31, 33, 4, 33 * 31, 33 * 31 + 8});
  checkMove<4, 4>({32, 32, 32, 32, 3, 1025, 1024});
  checkMove<4, 4>({5, 6, 6, 5, 3, 0, 30});
  checkMove<12, 4>({40, 20, 21, 40, 3, 900, 801});
  checkMove<16, 16>({1, 1, 1, 1, 1000, 2, 3});
}

TEST_CASE("staged transposition by its wide tile") {
  for (const std::size_t rows : {1, 100, 129, 161}) {
    for (const std::size_t cols : {64, 383, 384, 385}) {
      checkMove<1, 1, true>(TransposeShape::dense(rows, cols));
      checkMove<1, 1, true>({rows, cols, cols + 3, rows + 6}, 5, 3);
    }
    for (const std::size_t cols : {64, 255, 257}) {
      checkMove<2, 2, true>(TransposeShape::dense(rows, cols));
      checkMove<2, 2, true>({rows, cols, cols + 3, rows + 6}, 5, 3);
    }
  }
}

TEST_CASE("staged transposition applies a function that changes types") {
  for (const std::size_t rows : {1, 33, 100})
    for (const std::size_t cols : {1, 31, 130}) {
      const TransposeShape shape{rows, cols, cols + 1, rows + 2};
      checkStaged<signed char, int>(shape, Widen{}, 3, 1);
      checkStaged<unsigned, unsigned char>(shape, Narrow{}, 1, 3);
      checkStaged<Pixel, unsigned short>(shape, Grey{}, 1, 1);
      checkStaged<Pixel, Pixel>(shape, Swap{}, 2, 1);
      checkStaged<Line, Line>(shape, Negate{});
    }
}

TEST_CASE("staged transposition of casts by whole tiles and their edges") {
  for (const std::size_t rows : {128, 157, 261})
    for (const std::size_t cols : {256, 275}) {
      const TransposeShape shape{rows, cols, cols + 1, rows + 2};
      checkStaged<signed char, int>(shape, Widen{}, 3, 1);
      checkStaged<unsigned, unsigned char>(shape, Narrow{}, 1, 3);
      checkStaged<unsigned, unsigned char, true>(shape, Narrow{}, 1, 3);
    }
}

}  // namespace staged_test
