/// The defaults of a matrix view, and the overlap tests against lists of all elements.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/host_test.cuh"

#include <gpuopt/core/matrix_view.cuh>

#include <array>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace gpuopt::test::matrix_view_test {
namespace {

using Elements = std::vector<std::size_t>;

// The indices of all elements, matrix by matrix.
template <class T>
Elements placesOf(const MatrixView<T>& view) {
  Elements places;
  for (std::size_t b = 0; b < view.batch; ++b)
    for (std::size_t r = 0; r < view.rows; ++r)
      for (std::size_t c = 0; c < view.cols; ++c) places.push_back(b * view.batchStride + r * view.ld + c);
  return places;
}

bool repeats(const Elements& places) {
  return std::set<std::size_t>(places.begin(), places.end()).size() < places.size();
}

template <class T>
bool matricesOverlap(const MatrixView<T>& view) {
  return detail::matricesOverlap(detail::named(view, "view"));
}

std::string text(const MatrixView<const char>& view) {
  return "rows " + std::to_string(view.rows) + ", cols " + std::to_string(view.cols) + ", ld " +
         std::to_string(view.ld) + ", batch " + std::to_string(view.batch) + ", batchStride " +
         std::to_string(view.batchStride);
}

// Calls use(view) for views of all small shapes and strides.
template <class Use>
void forSmallViews(Use use) {
  for (std::size_t rows = 1; rows <= 5; ++rows)
    for (std::size_t cols = 1; cols <= 4; ++cols)
      for (std::size_t ld = cols; ld <= 15; ++ld)
        for (std::size_t batch = 1; batch <= 7; ++batch)
          for (std::size_t stride = 0; stride <= rows * ld + 1; ++stride)
            use(MatrixView<const char>{nullptr, rows, cols, ld, batch, stride});
}

TEST_CASE("What a view leaves out is dense", "[transpose]") {
  float* data = reinterpret_cast<float*>(64);
  const MatrixView<float> dense{data, 3, 4};
  CHECK((dense.data == data && dense.rows == 3 && dense.cols == 4));
  CHECK((dense.ld == 4 && dense.batch == 1 && dense.batchStride == 12));
  const MatrixView<const float> pitched{data, 3, 4, 6};
  CHECK((pitched.ld == 6 && pitched.batch == 1 && pitched.batchStride == 18));
  const MatrixView<float> batch{data, 3, 4, 6, 10};
  CHECK((batch.ld == 6 && batch.batch == 10 && batch.batchStride == 18));
  CHECK(detail::isEmpty(MatrixView<float>{}));

  const MatrixView deduced{data, 3, 4, 6, 10, 100};
  STATIC_REQUIRE(std::is_same_v<decltype(deduced), const MatrixView<float>>);
  CHECK(deduced.batchStride == 100);
}

TEST_CASE("Matrices of a batch overlap exactly where they have an element in common", "[transpose]") {
  std::size_t wrong = 0, overlapping = 0, interleaved = 0;
  forSmallViews([&](const MatrixView<const char>& view) {
    const bool expected = repeats(placesOf(view));
    overlapping += expected ? 1 : 0;
    interleaved += !expected && view.batch > 1 && view.batchStride < (view.rows - 1) * view.ld ? 1 : 0;
    if (matricesOverlap(view) == expected) return;
    if (++wrong == 1) FAIL_CHECK(text(view) << ": " << (expected ? "overlap" : "lie apart"));
  });
  CHECK(wrong == 0);
  CHECK(overlapping > 1000);
  CHECK(interleaved > 1000);
}

TEST_CASE("Overlap of large batches", "[transpose]") {
  constexpr std::size_t LARGE = std::size_t{1} << 40;
  const auto overlap = [](std::size_t rows, std::size_t cols, std::size_t ld, std::size_t batch, std::size_t stride) {
    return matricesOverlap(MatrixView<const char>{nullptr, rows, cols, ld, batch, stride});
  };
  CHECK_FALSE(overlap(LARGE, 1000, 1000, 1000, LARGE * 1000));
  CHECK(overlap(LARGE, 1000, 1000, 1000, LARGE * 1000 - 1));
  CHECK_FALSE(overlap(LARGE, 1000, LARGE, 1000, 1000));
  CHECK(overlap(LARGE, 1000, LARGE, 1000, 999));
  // Column panels: the last one ends where the next row begins.
  CHECK_FALSE(overlap(1000, LARGE, 7 * LARGE, 7, LARGE));
  CHECK(overlap(1000, LARGE, 7 * LARGE - 1, 7, LARGE));
  CHECK(overlap(1000, LARGE, 7 * LARGE, 8, LARGE));
  CHECK_FALSE(overlap(1, LARGE, 7 * LARGE, 8, LARGE));
  // Single elements at coprime strides: matrix ld is the first that overlaps another.
  CHECK_FALSE(overlap(LARGE, 1, 1000003, 1000003, 999983));
  CHECK(overlap(LARGE, 1, 1000003, 1000004, 999983));
}

// Whether a view of chars at `a` and a view of T after it share a byte.
template <class A, class B>
bool shareBytes(const MatrixView<A>& a, const MatrixView<B>& b) {
  std::set<std::size_t> bytes;
  const auto add = [&bytes](std::size_t base, std::size_t place, std::size_t size) {
    bool seen = false;
    for (std::size_t i = 0; i < size; ++i) seen = !bytes.insert(base + place * size + i).second || seen;
    return seen;
  };
  for (const std::size_t place : placesOf(a))
    static_cast<void>(add(reinterpret_cast<std::size_t>(a.data), place, sizeof(A)));
  bool shared = false;
  for (const std::size_t place : placesOf(b))
    shared = add(reinterpret_cast<std::size_t>(b.data), place, sizeof(B)) || shared;
  return shared;
}

template <class A, class B>
bool viewsOverlap(const MatrixView<A>& a, const MatrixView<B>& b) {
  return detail::viewsOverlap(detail::named(a, "a"), detail::named(b, "b"));
}

// Columns [first, first + cols) of `rows` rows from row `top` on of a matrix with this leading dimension.
template <class T>
MatrixView<const T> blockOf(std::size_t top, std::size_t first, std::size_t rows, std::size_t cols, std::size_t ld) {
  return {reinterpret_cast<const T*>(4096 + (top * ld + first) * sizeof(T)), rows, cols, ld};
}

TEST_CASE("Blocks of one matrix overlap exactly where they have an element in common", "[transpose]") {
  constexpr std::size_t LD = 9;
  std::size_t wrong = 0, overlapping = 0;
  const auto a = blockOf<short>(3, 4, 3, 2, LD);
  for (std::size_t top = 0; top < 8; ++top)
    for (std::size_t first = 0; first < LD; ++first)
      for (std::size_t rows = 1; rows < 5; ++rows)
        for (std::size_t cols = 1; first + cols <= LD; ++cols) {
          const auto b = blockOf<short>(top, first, rows, cols, LD);
          const bool expected = shareBytes(a, b);
          overlapping += expected ? 1 : 0;
          wrong += viewsOverlap(a, b) != expected || viewsOverlap(b, a) != expected ? 1 : 0;
        }
  CHECK(wrong == 0);
  CHECK(overlapping > 100);
}

TEST_CASE("Views of different pitch overlap where their spans do", "[transpose]") {
  const auto at = [](std::size_t address) { return reinterpret_cast<const int*>(address); };
  const MatrixView<const int> a{at(1024), 4, 3, 5};  // spans 18 elements: 72 bytes
  CHECK_FALSE(viewsOverlap(a, MatrixView<const int>{at(1024 + 72), 3, 4}));
  CHECK_FALSE(viewsOverlap(a, MatrixView<const int>{at(1024 - 48), 3, 4}));
  CHECK(viewsOverlap(a, MatrixView<const int>{at(1024 + 68), 3, 4}));
  CHECK(viewsOverlap(a, MatrixView<const int>{at(1024 - 44), 3, 4}));
  CHECK(viewsOverlap(a, MatrixView<const int>{at(1024 + 12), 1, 2}));  // in the gap: only the spans overlap
  // Side by side with the same pitch in bytes, for any element types and batches.
  CHECK_FALSE(viewsOverlap(a, MatrixView<const char>{reinterpret_cast<const char*>(1024 + 12), 3, 8, 20}));
  CHECK(viewsOverlap(a, MatrixView<const char>{reinterpret_cast<const char*>(1024 + 12), 3, 9, 20}));
  CHECK_FALSE(viewsOverlap(MatrixView<const int>{at(1024), 2, 3, 5, 2, 10},
                           MatrixView<const int>{at(1024 + 12), 2, 2, 5, 2, 10}));
  CHECK(viewsOverlap(MatrixView<const int>{at(1024), 2, 3, 5, 2, 11},
                     MatrixView<const int>{at(1024 + 12), 2, 2, 5, 2, 11}));
}

TEST_CASE("Sizes beyond the address space are refused", "[transpose]") {
  constexpr std::size_t HUGE_SIZE = detail::SIZE_LIMIT;
  const float* data = reinterpret_cast<const float*>(64);
  const auto refusal = [&](const MatrixView<const float>& view) {
    return messageOf<std::invalid_argument>([&] { detail::requireMemory(detail::named(view, "in"), "f"); });
  };
  for (const MatrixView<const float>& view :
       {MatrixView<const float>{data, HUGE_SIZE, HUGE_SIZE}, MatrixView<const float>{data, 2, HUGE_SIZE},
        MatrixView<const float>{data, HUGE_SIZE / 2, 2}, MatrixView<const float>{data, HUGE_SIZE / 4, 1},
        MatrixView<const float>{data, 1, 1, HUGE_SIZE}, MatrixView<const float>{data, 3, 1, HUGE_SIZE / 2},
        MatrixView<const float>{data, 1, 1, 1, 3, HUGE_SIZE / 2},
        MatrixView<const float>{data, 1, 1, 1, HUGE_SIZE, HUGE_SIZE}})
    CHECK(contains(refusal(view), "f: in is too large: "));
  CHECK_NOTHROW(detail::requireLayout(detail::named(MatrixView<const char>{"", HUGE_SIZE / 2, 1}, "in"), "f"));
  CHECK_NOTHROW(detail::requireLayout(detail::named(MatrixView<const float>{data, 1, 1, 1, 1, HUGE_SIZE}, "in"), "f"));
}

// An mdspan of floats whose layout has signed strides and an offset, as CCCL's relaxed one.
template <std::size_t RANK>
struct RelaxedSpan {
  struct Mapping {
    std::ptrdiff_t first;
    std::array<std::ptrdiff_t, RANK> strides;

    std::ptrdiff_t offset() const { return first; }
    std::ptrdiff_t stride(std::size_t i) const { return strides[i]; }
  };
  using element_type = float;
  using extents_type = std::array<unsigned, RANK>;
  using layout_type = int;
  using accessor_type = int;
  using data_handle_type = float*;
  using reference = float&;

  float* data;
  extents_type extents;
  Mapping map;

  static constexpr std::size_t rank() { return RANK; }
  static constexpr bool is_always_strided() { return false; }
  unsigned extent(std::size_t i) const { return extents[i]; }
  unsigned stride(std::size_t i) const { return static_cast<unsigned>(map.stride(i)); }
  float* data_handle() const { return data; }
  const Mapping& mapping() const { return map; }
};

TEST_CASE("A layout with an offset", "[transpose]") {
  float memory[100]{};
  const auto view = detail::viewOf(RelaxedSpan<3>{memory, {2, 3, 4}, {7, {40, 10, 1}}}, "in", "f");
  STATIC_REQUIRE(std::is_same_v<decltype(view), const MatrixView<float>>);
  CHECK(view.data == memory + 7);
  CHECK((view.rows == 3 && view.cols == 4 && view.ld == 10 && view.batch == 2 && view.batchStride == 40));
  const auto empty = detail::viewOf(RelaxedSpan<2>{nullptr, {0, 4}, {7, {-4, 2}}}, "in", "f");
  CHECK((empty.data == nullptr && empty.rows == 0 && empty.cols == 4));
}

TEST_CASE("Strides that a view cannot have", "[transpose]") {
  float memory[100]{};
  const auto refused = [&](const std::string& expected, const auto& span) {
    CHECK(messageOf<std::invalid_argument>([&] { static_cast<void>(detail::viewOf(span, "in", "f")); }) == expected);
  };
  refused("f: in.stride(0) (-4) is negative", RelaxedSpan<2>{memory, {3, 4}, {8, {-4, 1}}});
  refused("f: in.stride(1) (-1) is negative", RelaxedSpan<2>{memory, {3, 4}, {3, {4, -1}}});
  refused("f: in.stride(0) (-12) is negative", RelaxedSpan<3>{memory, {2, 3, 4}, {12, {-12, 4, 1}}});
  refused("f: in.stride(2) is 2, but the elements of a row must be neighbours",
          RelaxedSpan<3>{memory, {2, 3, 4}, {0, {24, 8, 2}}});
  const auto single = detail::viewOf(RelaxedSpan<3>{memory, {1, 1, 1}, {5, {-9, -8, -7}}}, "in", "f");
  CHECK((single.data == memory + 5 && single.ld == 1 && single.batchStride == 1));
}

}  // namespace
}  // namespace gpuopt::test::matrix_view_test
