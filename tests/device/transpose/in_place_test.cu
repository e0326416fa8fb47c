/// Transpositions in place: squares with gaps and batches, rectangles of every proportion, all element sizes
/// and alignments.
// SPDX-License-Identifier: MIT
#include "support/transpose_launch.cuh"

#include <gpuopt/device/transpose/in_place_rectangle.cuh>
#include <gpuopt/device/transpose/in_place_square.cuh>

#include <cstddef>
#include <initializer_list>
#include <vector>

namespace in_place_test {

namespace inPlace {

// Small tiles of 16-byte elements, so that small matrices have groups of tiles.
struct ManyTiles : gpuopt::detail::SquareTuningSm90 {
  static constexpr unsigned vectorTile(std::size_t) { return 8; }
  static constexpr unsigned vectorThreads(std::size_t) { return 32; }
};

}  // namespace inPlace

using namespace gpuopt::test;
using gpuopt::Identity;
using gpuopt::detail::launchTransposeRectangleInPlace;
using gpuopt::detail::launchTransposeSquareInPlace;
using gpuopt::detail::RawElement;
using gpuopt::detail::RectangleTuningSm90;
using inPlace::ManyTiles;

using Sizes = std::initializer_list<std::size_t>;

template <std::size_t SIZE>
using Bytes = RawElement<SIZE, 1>;
template <std::size_t SIZE>
using Halves = RawElement<SIZE, 2>;
template <std::size_t SIZE>
using Floats = RawElement<SIZE, 4>;

// Little scratch memory and small tiles, so that small matrices take the passes of large ones.
template <std::size_t BYTES>
struct Scratch : gpuopt::detail::RectangleTuningSm90 {
  static constexpr std::size_t scratchBytes = BYTES;
  static constexpr std::size_t regionBytes = 64;
  template <std::size_t SIZE>
  static constexpr auto tile() {
    return gpuopt::detail::StagedTile<32, 32, 64, 4>{};
  }
};

template <class T, class Tuning = gpuopt::detail::SquareTuningSm90>
void checkSquare(std::size_t n, std::size_t ld, std::size_t batch = 1, std::size_t gap = 0, std::size_t offset = 0) {
  static Series cases;
  if (!cases.runsNext()) return;
  CAPTURE(sizeof(T), alignof(T), n, ld, batch, gap, offset);
  const std::size_t stride = n * ld + gap;
  const TransposeShape shape{n, n, ld, ld, batch, stride, stride};
  const std::vector<T> source = indexCoded<T>(shape.inSize());
  DeviceArray<T> data(source, offset);
  launchTransposeSquareInPlace<Tuning>(data.data(), n, ld, batch, stride, nullptr);
  CHECK(sameBytes(data.toHost(), transposeSerially(shape, source, source, Identity{})));
  launchTransposeSquareInPlace<Tuning>(data.data(), n, ld, batch, stride, nullptr);
  CHECK(sameBytes(data.toHost(), source));
}

template <class T, class Tuning = Scratch<2048>>
void checkRectangle(std::size_t rows, std::size_t cols, std::size_t offset = 0) {
  static Series cases;
  if (!cases.runsNext()) return;
  CAPTURE(sizeof(T), alignof(T), rows, cols, offset);
  const std::vector<T> source = indexCoded<T>(rows * cols);
  DeviceArray<T> data(source, offset);
  launchTransposeRectangleInPlace<Tuning>(data.data(), rows, cols, nullptr);
  CHECK(sameBytes(data.toHost(), transposeSerially(TransposeShape::dense(rows, cols), source, source, Identity{})));
  launchTransposeRectangleInPlace<Tuning>(data.data(), cols, rows, nullptr);
  CHECK(sameBytes(data.toHost(), source));
}

// Rows at 16-byte boundaries, rows without gaps, and an odd leading dimension.
template <class T>
void checkSquares() {
  const std::size_t vector = sizeof(T) > 16 ? 1 : (15 + sizeof(T)) / sizeof(T);
  for (const std::size_t n : Sizes{1, 2, 3, 9, 31, 32, 33, 64, 65, 129}) {
    if (n * n * sizeof(T) > (64 << 10)) continue;
    checkSquare<T>(n, (n + vector - 1) / vector * vector);
    checkSquare<T>(n, n);
    checkSquare<T>(n, n + 5 - n % 2);
  }
}

template <class T>
void checkRectangles() {
  const std::size_t shapes[][2] = {{64, 48}, {96, 64}, {67, 61}, {100, 7}, {128, 127}, {160, 32}};
  for (const auto& shape : shapes) {
    checkRectangle<T>(shape[0], shape[1]);
    checkRectangle<T>(shape[1], shape[0]);
  }
}

template <class T>
void checkAll() {
  checkSquares<T>();
  checkRectangles<T>();
}

TEST_CASE("in place, elements of every size", "[sweep]") {
  checkAll<unsigned char>();
  checkAll<unsigned short>();
  checkAll<Bytes<3>>();
  checkAll<float>();
  checkAll<double>();
  checkAll<Floats<12>>();
  checkAll<uint4>();
  checkAll<RawElement<24, 8>>();
  checkAll<Floats<100>>();
  checkAll<RawElement<128, 16>>();
}

TEST_CASE("in place, elements that are not aligned to their size", "[transpose][sweep]") {
  checkAll<Bytes<8>>();
  checkAll<Halves<6>>();
  for (std::size_t offset = 1; offset < 8; ++offset) {
    checkSquare<unsigned char>(70, 75, 2, 3, offset);
    checkSquare<unsigned short>(40, 40, 1, 0, offset);
    checkSquare<Bytes<3>>(33, 40, 2, 1, offset);
    checkSquare<Bytes<8>>(33, 33, 1, 0, offset);
    checkRectangle<unsigned char>(90, 61, offset);
    checkRectangle<unsigned short>(61, 90, offset);
    checkRectangle<Bytes<3>>(64, 40, offset);
    checkRectangle<Bytes<8>>(40, 64, offset);
  }
  for (std::size_t offset = 1; offset < 4; ++offset) {
    checkSquare<float>(70, 72, 2, 8, offset);
    checkSquare<double>(33, 34, 1, 0, offset);
    checkSquare<Floats<16>>(33, 34, 1, 0, offset);
    checkRectangle<float>(64, 48, offset);
    checkRectangle<Floats<16>>(48, 64, offset);
  }
}

TEST_CASE("in place, small sizes crossed in full") {
  for (std::size_t rows = 1; rows <= 9; ++rows)
    for (std::size_t cols = 1; cols <= 9; ++cols) {
      checkRectangle<float, RectangleTuningSm90>(rows, cols);
      checkRectangle<Bytes<3>, RectangleTuningSm90>(rows, cols);
    }
  for (std::size_t n = 1; n <= 9; ++n)
    for (std::size_t ld = n; ld <= 9; ++ld) {
      checkSquare<float>(n, ld, 3, 2);
      checkSquare<unsigned char>(n, ld, 3, 1);
    }
}

TEST_CASE("squares in place, sizes around those of tiles") {
  for (const std::size_t tile : Sizes{32, 64, 128, 192})
    for (const std::size_t n : {tile - 1, tile, tile + 1}) {
      checkSquare<float>(n, (n + 3) / 4 * 4);
      checkSquare<float>(n, n | 1);
      checkSquare<unsigned char>(n, (n + 15) / 16 * 16);
      checkSquare<unsigned char>(n, n | 1);
    }
  checkSquare<unsigned short>(150, 160);
  checkSquare<double>(150, 150);
  checkSquare<uint4>(100, 101);
}

TEST_CASE("squares in place, tiles in groups of every size", "[transpose][sweep]") {
  for (const std::size_t tiles : Sizes{7, 8, 16, 31, 32, 64, 67})
    for (const std::size_t n : {8 * tiles - 3, 8 * tiles}) checkSquare<uint4, ManyTiles>(n, n);
  checkSquare<uint4, ManyTiles>(300, 303, 2, 5);
  checkSquare<uint4, ManyTiles>(300, 304, 3, 4);
}

TEST_CASE("squares in place, batches") {
  checkSquare<float>(4, 4, 300);
  checkSquare<float>(68, 72, 5, 4);
  checkSquare<float>(68, 72, 5, 3);
  checkSquare<Floats<12>>(20, 21, 7, 5);
}

TEST_CASE("rectangles in place, flat ones", "[transpose][sweep]") {
  for (std::size_t width = 1; width <= 8; ++width) {
    checkRectangle<float>(2000, width);
    checkRectangle<unsigned char>(5003, width);
    checkRectangle<Floats<12>>(499, width);
  }
}

TEST_CASE("rectangles in place, divisors and primes", "[transpose][sweep]") {
  using Tuning = Scratch<4096>;
  checkRectangle<float, Tuning>(256, 128);
  checkRectangle<float, Tuning>(384, 96);
  checkRectangle<float, Tuning>(251, 127);
  checkRectangle<float, Tuning>(257, 256);
  checkRectangle<float, Tuning>(330, 99);
  checkRectangle<unsigned char, Tuning>(1024, 100);
  checkRectangle<unsigned char, Tuning>(509, 251);
  // Unaligned rows of the result: 24 panels and groups of 24 columns, then 26 panels and groups of 2.
  checkRectangle<unsigned char, Tuning>(1021, 96);
  checkRectangle<unsigned char, Tuning>(1021, 100, 3);
  checkRectangle<unsigned short, Tuning>(509, 94, 1);
  checkRectangle<float, Tuning>(251, 100);
}

TEST_CASE("plans of panels") {
  using gpuopt::detail::columnGroup;
  using gpuopt::detail::isFlat;
  using gpuopt::detail::maxGroupSegments;
  using gpuopt::detail::planPanels;
  for (const std::size_t size : Sizes{1, 3, 4, 12, 16, 100})
    for (std::size_t least = 2; least <= 32; least += 5)
      for (const std::size_t length : Sizes{1024, 4096, 5793, 8191, 65536, 1000003})
        for (const std::size_t width : Sizes{2, 64, 720, 1021, 1024}) {
          CAPTURE(size, least, length, width);
          const auto plan = planPanels(length, width, size, least);
          CHECK(plan.panels >= least);
          CHECK(plan.height > 0);
          CHECK(plan.panels * plan.height + plan.remainder == length);
          CHECK(plan.remainder * 50 <= length);
          CHECK(plan.panels * columnGroup(plan.panels, width) <= maxGroupSegments);
          CHECK(width % columnGroup(plan.panels, width) == 0);
          if (!isFlat(plan.panels, width) && length * size % 16 == 0) CHECK(plan.height * size % 16 == 0);
        }
}

#ifndef GPUOPT_EMULATION

TEST_CASE("rectangles in place, large enough to be cut up") {
  checkRectangle<float, RectangleTuningSm90>(7001, 5003);
  checkRectangle<float, RectangleTuningSm90>(4096, 8192);
  checkRectangle<unsigned char, RectangleTuningSm90>(10007, 8009, 1);
  checkRectangle<Floats<12>, RectangleTuningSm90>(3, 3000017);
}

TEST_CASE("rectangles in place, captured into a graph") {
  const std::vector<float> source = indexCoded<float>(67 * 61);
  DeviceArray<float> data(source);
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  launchTransposeRectangleInPlace<Scratch<2048>>(data.data(), 67, 61, stream);
  REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  REQUIRE(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
  CHECK(sameBytes(data.toHost(), source));
  for (int run = 0; run < 3; ++run) {
    data.fill(source);
    REQUIRE(cudaGraphLaunch(executable, stream) == cudaSuccess);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(sameBytes(data.toHost(), transposeSerially(TransposeShape::dense(67, 61), source, source, Identity{})));
  }
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

#endif

}  // namespace in_place_test
