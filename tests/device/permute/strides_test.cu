/// Tensors of any strides: gaps whose bytes stay, indices that count downwards, elements that many indices name.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/permute_data.cuh"

#include <gpuopt/permute.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace gpuopt::test::strides_test {
namespace {

using Bytes3 = Words<unsigned char, 3>;
using Bytes8 = Words<unsigned, 2>;
using Bytes12 = Words<unsigned, 3>;
using Bytes16 = Words<std::uint64_t, 2>;

// Rows of several lengths, of which each axis of either tensor may count downwards.
TEST_CASE("Axes that count downwards, on either side", "[permute]") {
  PermuteCheck<unsigned> check(6000);
  for (const std::ptrdiff_t n : {5, 6, 33, 64}) {
    for (unsigned reversed = 0; reversed < 8; ++reversed) {
      const AxisNumbers extents{7, n, 6};
      for (const AxisNumbers& axes : {AxisNumbers{2, 1, 0}, AxisNumbers{1, 2, 0}, AxisNumbers{0, 1, 2}}) {
        const AxisNumbers outExtents = permuted(extents, axes);
        check(Layout::spread(extents, 0, reversed, n % 4), Layout::dense(outExtents), axes);
        check(Layout::dense(extents), Layout::spread(outExtents, 0, reversed, n % 4), axes);
        check(Layout::spread(extents, 1, reversed), Layout::spread(outExtents, 3, 7 - reversed), axes);
      }
    }
  }
  check.finish();
}

TEST_CASE("A vector that is reversed, and rows of a matrix", "[permute]") {
  PermuteCheck<unsigned> check(12000);
  for (const std::ptrdiff_t n : {1, 5, 31, 33, 100, 1000, 1001, 4097}) {
    check(Layout::spread({n}, 0, 1), Layout::dense({n}), {0});
    check(Layout::dense({n}), Layout::spread({n}, 0, 1), {0});
    check(Layout::spread({n}, 0, 1), Layout::spread({n}, 0, 1), {0});
    for (unsigned reversed = 1; reversed < 4; ++reversed) {
      if (n > 1001) continue;
      check(Layout::spread({5, n}, 0, reversed), Layout::dense({n, 5}), {1, 0});
      check(Layout::spread({5, n}, 1, reversed), Layout::dense({5, n}), {0, 1});
    }
  }
  check.finish();
}

TEST_CASE("Gaps between rows stay as they are", "[permute]") {
  PermuteCheck<unsigned> words(20000);
  PermuteCheck<unsigned char> bytes(20000);
  for (const std::ptrdiff_t gap : {1, 2, 3, 4, 16}) {
    for (const AxisNumbers& axes : {AxisNumbers{2, 0, 1}, AxisNumbers{2, 1, 0}, AxisNumbers{1, 0, 2}}) {
      const AxisNumbers extents{9, 17, 35};
      words(Layout::spread(extents, gap), Layout::dense(permuted(extents, axes)), axes);
      words(Layout::dense(extents), Layout::spread(permuted(extents, axes), gap), axes);
      bytes(Layout::spread(extents, gap), Layout::spread(permuted(extents, axes), gap), axes);
    }
  }
  words.finish();
  bytes.finish();
}

// Every second element: no run of either tensor has two.
TEST_CASE("Strides of more than one element along every axis", "[permute]") {
  PermuteCheck<unsigned> check(6000);
  const Layout in{{5, 7, 9}, {190, 22, 2}};
  const Layout out{{9, 5, 7}, {150, 24, 3}};
  check(in, out, {2, 0, 1});
  check(in, Layout::dense({9, 5, 7}), {2, 0, 1});
  check(Layout::dense({5, 7, 9}), out, {2, 0, 1});
  check.finish();
}

TEST_CASE("Stride 0 of the input repeats elements", "[permute]") {
  PermuteCheck<unsigned> check(6000);
  check({{33, 5, 9}, {0, 9, 1}}, Layout::dense({9, 33, 5}), {2, 0, 1});
  check({{33, 5, 9}, {9, 0, 1}}, Layout::dense({9, 5, 33}), {2, 1, 0});
  check({{33, 5, 9}, {5, 1, 0}}, Layout::dense({33, 5, 9}), {0, 1, 2});
  check({{33, 5, 9}, {0, 0, 0}, 3}, Layout::spread({9, 5, 33}, 2, 5), {2, 1, 0});
  check({{300}, {0}, 7}, Layout::dense({300}), {0});
  check({{64, 60}, {0, 1}}, Layout::dense({60, 64}), {1, 0});
  check.finish();
}

TEST_CASE("Windows of the input that overlap", "[permute]") {
  PermuteCheck<unsigned> check(6000);
  check({{100, 7}, {1, 1}}, Layout::dense({100, 7}), {0, 1});
  check({{100, 7}, {1, 1}}, Layout::dense({7, 100}), {1, 0});
  check({{9, 11, 3, 5}, {20, 1, 20, 1}}, Layout::dense({3, 5, 9, 11}), {2, 3, 0, 1});
  check({{9, 11, 3, 5}, {20, 1, 20, 1}}, Layout::dense({9, 11, 5, 3}), {0, 1, 3, 2});
  check({{40, 33}, {1, -1}, 32}, Layout::dense({33, 40}), {1, 0});
  check.finish();
}

class RandomTensors {
 public:
  explicit RandomTensors(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return random_() % n; }

  // Up to six axes, of at most 2000 elements together.
  AxisNumbers extents() {
    AxisNumbers extents;
    std::ptrdiff_t room = 2000;
    const std::size_t rank = 1 + below(6);
    for (std::size_t k = 0; k < rank; ++k) {
      const std::size_t limit[] = {3, 8, 40, 400};
      const auto extent = static_cast<std::ptrdiff_t>(1 + below(limit[below(4)]));
      extents.add(std::min(extent, std::max<std::ptrdiff_t>(room, 1)));
      room /= extents[k];
    }
    return extents;
  }

  AxisNumbers order(std::size_t rank) {
    std::vector<int> axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    std::shuffle(axes.begin(), axes.end(), random_);
    return axes;
  }

  // Axes in any order in memory, with gaps behind some, some downwards, and some of an input repeated.
  Layout layout(const AxisNumbers& extents, bool isInput) {
    Layout layout{extents, extents, static_cast<std::ptrdiff_t>(below(17))};
    const AxisNumbers inMemory = below(2) == 0 ? reversedAxes(extents.rank) : order(extents.rank);
    const bool hasGaps = below(2) == 0, isReversed = below(2) == 0, repeats = isInput && below(4) == 0;
    std::ptrdiff_t stride = hasGaps && below(8) == 0 ? 2 : 1;
    for (std::size_t i = 0; i < extents.rank; ++i) {
      const auto k = static_cast<std::size_t>(inMemory[i]);
      std::ptrdiff_t& step = layout.strides.value[k] = stride;
      if (repeats && below(3) == 0) {
        step = 0;
        continue;
      }
      stride *= extents[k];
      if (hasGaps && below(3) == 0 && stride < 3000) stride += static_cast<std::ptrdiff_t>(1 + below(4));
      if (!isReversed || below(2) == 0) continue;
      layout.first += step * (extents[k] - 1);
      step = -step;
    }
    return layout;
  }

 private:
  std::mt19937 random_;
};

template <class T>
void permuteRandomTensors(unsigned seed, int count) {
  constexpr std::size_t ROOM = 60000;
  PermuteCheck<T> check(ROOM);
  RandomTensors tensors(seed);
  for (int i = 0; i < count; ++i) {
    const AxisNumbers extents = tensors.extents();
    const AxisNumbers axes = tensors.order(extents.rank);
    const Layout in = tensors.layout(extents, true);
    const Layout out = tensors.layout(permuted(extents, axes), false);
    const std::size_t inShift = tensors.below(16 / std::min<std::size_t>(16, alignof(T))) * alignof(T);
    const std::size_t outShift = tensors.below(16 / std::min<std::size_t>(16, alignof(T))) * alignof(T);
    if (in.end() + 17 < ROOM && out.end() + 17 < ROOM) check(in.moved(inShift), out.moved(outShift), axes);
  }
  check.finish();
}

TEST_CASE("Random tensors", "[permute][sweep]") {
  permuteRandomTensors<unsigned char>(1, 700);
  permuteRandomTensors<Bytes3>(2, 500);
  permuteRandomTensors<unsigned>(3, 700);
  permuteRandomTensors<Bytes8>(4, 500);
  permuteRandomTensors<Bytes12>(5, 500);
  permuteRandomTensors<Bytes16>(6, 500);
}

TEST_CASE("No elements", "[permute]") {
  PermuteCheck<unsigned> check(100);
  check(Layout::dense({0}), Layout::dense({0}), {0});
  check(Layout::dense({5, 0, 3}), Layout::dense({3, 5, 0}), {2, 0, 1});
  check({{0, 5}, {-7, 0}}, {{5, 0}, {0, 0}}, {1, 0});
  check.finish();
  const float* none = nullptr;
  CHECK_NOTHROW(permute(none, static_cast<float*>(nullptr), {4, 0}, {1, 0}));
  CHECK_NOTHROW(contiguous(TensorView<const float>(none, {4, 0}), static_cast<float*>(nullptr)));
}

TEST_CASE("No axes: one element", "[permute]") {
  PermuteCheck<unsigned> check(100);
  check(Layout::dense({}, 5), Layout::dense({}, 3), {});
  check.finish();
  PermuteCheck<Bytes3> triples(100);
  triples(Layout::dense({}, 5), Layout::dense({}, 3), {});
  triples(Layout::dense({1, 1, 1}, 5), Layout::dense({1, 1, 1}, 3), {1, 2, 0});
  triples.finish();
}

}  // namespace
}  // namespace gpuopt::test::strides_test
