/// Transposes of every element size against their definition: sizes on both sides of every boundary, any
/// alignment, any leading dimension, batches.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/transpose_data.cuh"

#include <gpuopt/transpose.cuh>

#include <cstddef>
#include <random>
#include <vector>

namespace gpuopt::test::launch_test {
namespace {

// A type for each kind of size.
#define ELEMENT_TYPES unsigned char, unsigned short, float, double, Bytes16, Bytes3, Bytes6, Bytes12, Bytes20, Bytes100

using Sizes = std::vector<std::size_t>;

// 0 to 9 and what lies around the multiples of `step`, up to 130.
Sizes sizesAround(std::size_t step) {
  Sizes sizes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  for (std::size_t multiple = step; multiple <= 128; multiple += step)
    sizes.insert(sizes.end(), {multiple - 1, multiple, multiple + 1});
  sizes.push_back(130);
  return sizes;
}

// Offsets of elements of so many bytes up to 16 bytes and beyond.
Sizes offsetsOf(std::size_t bytes) {
  Sizes offsets;
  for (std::size_t offset = 0; offset * bytes <= 16 || offset < 2; ++offset) offsets.push_back(offset);
  return offsets;
}

TEMPLATE_TEST_CASE("Sizes crossed", "[transpose]", ELEMENT_TYPES) {
  TransposeCheck<TestType> check(130 * 130);
  const Sizes sizes = emulated ? Sizes{0, 1, 2, 3, 4, 5, 8, 9, 16, 31, 33, 64, 65, 129} : sizesAround(16);
  for (const std::size_t rows : sizes)
    for (const std::size_t cols : sizes) check({rows, cols});
  check.finish();
}

TEMPLATE_TEST_CASE("Sizes with multiples of 32 crossed", "[transpose]", float) {
  TransposeCheck<TestType> check(130 * 130);
  for (const std::size_t rows : sizesAround(32))
    for (const std::size_t cols : sizesAround(32)) check({rows, cols});
  check.finish();
}

TEMPLATE_TEST_CASE("Several tiles, primes", "[transpose][sweep]", ELEMENT_TYPES) {
  TransposeCheck<TestType> check(600 * 600);
  for (const Case& c : {Case{211, 197}, Case{521, 131}, Case{257, 263}, Case{256, 512}, Case{40, 1031}, Case{1031, 37}})
    check(c);
  check.finish();
}

TEMPLATE_TEST_CASE("Both sides at any alignment", "[transpose]", ELEMENT_TYPES) {
  TransposeCheck<TestType> check(100 * 100);
  for (const Case& shape : {Case{64, 96}, Case{33, 70}, Case{3, 200}, Case{200, 3}, Case{1, 77}, Case{77, 1},
                            Case{2, 2}, Case{3, 2}, Case{8, 8}, Case{5, 7}})
    for (const std::size_t inOffset : offsetsOf(sizeof(TestType)))
      for (const std::size_t outOffset : offsetsOf(sizeof(TestType))) {
        if (emulated && shape.rows * shape.cols > 600 && inOffset * outOffset % 3 != 0) continue;
        Case c = shape;
        c.inOffset = inOffset;
        c.outOffset = outOffset;
        check(c);
      }
  check.finish();
}

TEMPLATE_TEST_CASE("Gaps between the rows of both sides", "[transpose][sweep]", ELEMENT_TYPES) {
  TransposeCheck<TestType> check(330 * 330);
  const Sizes gaps = emulated ? Sizes{0, 1, 4, 16, 61} : Sizes{0, 1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 31, 32, 61, 64};
  for (const Case& shape :
       {Case{64, 64}, Case{67, 33}, Case{5, 300}, Case{300, 5}, Case{1, 50}, Case{50, 1}, Case{16, 128}})
    for (const std::size_t inGap : gaps)
      for (const std::size_t outGap : gaps) check({shape.rows, shape.cols, inGap, outGap});
  check.finish();
}

TEMPLATE_TEST_CASE("Narrow matrices", "[transpose]", ELEMENT_TYPES) {
  TransposeCheck<TestType> check(33 * 2100);
  for (std::size_t narrow = 1; narrow <= 33; narrow += emulated && narrow > 8 ? 6 : 1)
    for (const std::size_t length : emulated ? Sizes{515} : Sizes{512, 515, 768, 1021, 2048, 2053}) {
      check({narrow, length});
      check({length, narrow});
      check({narrow, length, 0, 0, 1, 1});
      check({length, narrow, 0, 0, 1, 0});
    }
  check.finish();
}

TEMPLATE_TEST_CASE("Batches", "[transpose][sweep]", ELEMENT_TYPES) {
  TransposeCheck<TestType> check(20 * 140 * 140);
  const Sizes sizes = emulated ? Sizes{1, 4, 17, 33} : Sizes{1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 32, 33, 64, 65, 128};
  for (const std::size_t rows : sizes)
    for (const std::size_t cols : sizes) {
      const std::size_t batch = (rows * cols < 200 ? 300 : 19) / (emulated ? 6 : 1);
      check({rows, cols, 0, 0, 0, 0, batch});
      check({rows, cols, 0, 0, 1, 0, batch});
      check({rows, cols, 0, 0, 0, 1, batch, 1, 3});
      check({rows, cols, 3, 0, 0, 0, batch, 5, 16});
      check({rows, cols, 0, 4, 0, 0, batch, 16, 0});
    }
  check.finish();
}

TEMPLATE_TEST_CASE("More than 65535 matrices", "[transpose][sweep]", unsigned char, float, Bytes12) {
  TransposeCheck<TestType> check(66000 * 16);
  std::vector<Case> shapes{{2, 3}, {4, 4}};
  if (!emulated) shapes.insert(shapes.end(), {Case{1, 2}, Case{2, 1}, Case{3, 5}});
  for (Case& c : shapes) {
    c.batch = 65537;
    check(c);
  }
  check.finish();
}

TEST_CASE("More than 65535 matrices with gaps", "[transpose][sweep]") {
  TransposeCheck<float> check(66000 * 40);
  std::vector<Case> shapes{{4, 2}};  // in small blocks
  if (!emulated) shapes.insert(shapes.end(), {Case{1, 2}, Case{2, 3}, Case{3, 5}, Case{4, 4, 1, 2}});
  for (Case& c : shapes) {
    c.batch = 65537;
    c.outOffset = 1;
    c.inSkip = 1;
    check(c);
  }
  check.finish();
}

TEMPLATE_TEST_CASE("Matrices side by side, in each other's gaps, or read again", "[transpose]", unsigned char, float,
                   Bytes16, Bytes20) {
  TransposeCheck<TestType> check(60000);
  for (const Case& shape : {Case{5, 7}, Case{32, 16}, Case{33, 40}, Case{1, 9}, Case{9, 1}, Case{4, 4}}) {
    const std::size_t batch = 6;
    const auto in = check.inView(shape);
    const auto out = check.outView(shape);
    const auto sideBySide = [batch](auto view, std::size_t gap) {
      view.batchStride = view.cols + gap;
      view.ld = batch * view.batchStride + gap;
      view.batch = batch;
      return view;
    };
    const auto behind = [batch](auto view, std::size_t stride) {
      view.batch = batch;
      view.batchStride = stride;
      return view;
    };
    const auto expect = [&](const auto& from, const auto& to) {
      check.expect(from, to, Identity{}, [&] { transpose(from, to); });
    };
    expect(sideBySide(in, 0), behind(out, shape.rows * shape.cols));
    expect(sideBySide(in, 4), sideBySide(out, 0));
    expect(behind(in, shape.rows * shape.cols), sideBySide(out, 3));
    expect(behind(in, 0), behind(out, shape.rows * shape.cols));
    expect(behind(in, 1), sideBySide(out, 1));
  }
  // Rows of two matrices in turn, the matrix that comes first being the one behind.
  auto out = check.outView({3, 10, 0, 11});
  out.batch = 2;
  out.batchStride = 7;
  const auto in = check.inView({3, 10, 0, 0, 0, 0, 2});
  check.expect(in, out, Identity{}, [&] { transpose(in, out); });
  check.finish();
}

TEMPLATE_TEST_CASE("Anything at random", "[transpose][sweep]", ELEMENT_TYPES) {
  TransposeCheck<TestType> check(40000);
  std::mt19937 generator(7);
  // Small numbers are frequent, and 0 is.
  const auto upTo = [&generator](std::size_t most) { return generator() % (generator() % (most + 1) + 1); };
  for (int i = 0; i < (emulated ? 60 : 2000); ++i) {
    Case c{};
    c.rows = upTo(300);
    c.cols = upTo(20000 / (c.rows + 16));
    c.inGap = upTo(20);
    c.outGap = upTo(20);
    const std::size_t largest = (c.rows + c.outGap + 20) * (c.cols + c.inGap + 20);
    if (largest > 39000) continue;
    c.inOffset = upTo(16);
    c.outOffset = upTo(16);
    c.inSkip = upTo(20);
    c.outSkip = upTo(20);
    c.batch = 1 + upTo(39000 / largest - 1);
    check(c);
  }
  check.finish();
}

}  // namespace
}  // namespace gpuopt::test::launch_test
