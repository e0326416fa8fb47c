/// Transposition of small matrices element by element: every size of element, edges of tiles, any alignment
/// and leading dimension, functions; which matrices are small.
// SPDX-License-Identifier: MIT
#include "support/transpose_launch.cuh"

#include <gpuopt/device/transpose/small.cuh>

#include <cstddef>
#include <initializer_list>

namespace {

using namespace gpuopt::test;
using gpuopt::Identity;
using gpuopt::detail::RawElement;
using gpuopt::detail::smallFits;
using gpuopt::detail::TransposeProblem;

template <class Policy = gpuopt::TransposeSmallPolicy>
struct LaunchSmall {
  template <class Problem>
  void operator()(const Problem& problem) const {
    REQUIRE(smallFits<Policy>(problem));
    gpuopt::detail::launchTransposeSmall<Policy>(problem, nullptr);
  }
};

// All matrices by the tall tiles.
struct Tall : gpuopt::TransposeSmallPolicy {
  static constexpr std::size_t tallElements = 0;
};

template <class In, class Out, class Function>
void checkFunction(Function function) {
  for (const std::size_t rows : {1, 33, 100})
    for (const std::size_t cols : {1, 31, 130})
      checkTranspose<In, Out>({rows, cols, cols + 1, rows + 2}, function, LaunchSmall<>{}, 3, 1);
}

// The edges of tiles, gaps between rows on either side, and bases off alignment.
template <std::size_t SIZE, std::size_t ALIGN, class Policy = gpuopt::TransposeSmallPolicy>
void checkMove() {
  using Element = RawElement<SIZE, ALIGN>;
  for (const std::size_t rows : {1, 15, 16, 17, 31, 32, 33, 64, 70})
    for (const std::size_t cols : {1, 15, 17, 31, 32, 33, 64, 97}) {
      const std::size_t gap = cols == 1 ? 1 : (rows + cols) % 3;  // not a mere copy
      checkTranspose<Element, Element>({rows, cols, cols + gap, rows + rows % 4}, Identity{},
                                       LaunchSmall<Policy>{}, rows % 5, cols % 7);
    }
}

struct Pixel {
  unsigned char red, green, blue;
};

struct Grey {
  __host__ __device__ unsigned short operator()(const Pixel& pixel) const {
    return static_cast<unsigned short>(pixel.red + 2 * pixel.green + pixel.blue);
  }
};

struct Widen {
  __host__ __device__ uint4 operator()(unsigned char x) const { return {x, x + 1u, x + 2u, x + 3u}; }
};

struct Narrow {
  __host__ __device__ unsigned char operator()(const uint4& x) const {
    return static_cast<unsigned char>(x.x + x.w);
  }
};

// What cannot be made without a value.
struct Wrapped {
  explicit Wrapped(int x) : value(x) {}
  int value;
};

// Rows of the input lie `gap` elements apart.
template <class In, class Out = In, class Function = Identity>
bool fits(std::size_t rows, std::size_t cols, std::size_t batch = 1, std::size_t gap = 1) {
  const std::size_t ld = cols + gap;
  return smallFits(TransposeProblem<In, Out, Function>{nullptr, nullptr, rows, cols, ld, rows, batch,
                                                       rows * ld, rows * cols, Function{}});
}

}  // namespace

TEST_CASE("small matrices, elements of every size") {
  checkMove<1, 1>();
  checkMove<2, 2>();
  checkMove<3, 1>();
  checkMove<4, 4>();
  checkMove<6, 2>();
  checkMove<8, 8>();
  checkMove<8, 1>();
  checkMove<12, 4>();
  checkMove<16, 16>();
  checkMove<16, 4>();
}

TEST_CASE("small matrices by tall tiles") {
  checkMove<2, 2, Tall>();
  checkMove<16, 16, Tall>();
}

TEST_CASE("small matrices with a function that changes types") {
  checkFunction<Pixel, unsigned short>(Grey{});
  checkFunction<unsigned char, uint4>(Widen{});
  checkFunction<uint4, unsigned char>(Narrow{});
}

TEST_CASE("matrices are small up to 2^21 or 2^22 elements, one at a time") {
  CHECK(fits<unsigned char>(2048, 2048));
  CHECK_FALSE(fits<unsigned char>(2048, 2049));
  CHECK(fits<unsigned short>(2048, 1024));
  CHECK_FALSE(fits<unsigned short>(2049, 1024));
  CHECK(fits<float>(1024, 2048));
  CHECK_FALSE(fits<float>(1023, 2051));
  CHECK(fits<double>(2048, 2048));
  CHECK_FALSE(fits<double>(2049, 2048));
  CHECK(fits<uint4>(2048, 2048));
  CHECK_FALSE(fits<uint4>(2048, 2049));
  CHECK(fits<float>(40, 40, 1));
  CHECK_FALSE(fits<float>(40, 40, 2));
}

TEST_CASE("matrices of bytes and halves with aligned rows are small up to 2^19 elements") {
  CHECK(fits<unsigned char>(1024, 512, 1, 16));
  CHECK_FALSE(fits<unsigned char>(1024, 528, 1, 16));
  CHECK(fits<unsigned short>(1024, 512, 1, 8));
  CHECK_FALSE(fits<unsigned short>(1024, 520, 1, 8));
  CHECK(fits<unsigned char, uint4, Widen>(1024, 512, 1, 16));
  CHECK_FALSE(fits<unsigned char, uint4, Widen>(1024, 528, 1, 16));
  CHECK(fits<float>(1024, 2048, 1, 4));
  CHECK_FALSE(fits<float>(1024, 2052, 1, 4));
}

TEST_CASE("narrow matrices are small up to 2^18 elements of whole tiles, vectors that are copied never") {
  CHECK(fits<float>(32, 8192));
  CHECK_FALSE(fits<float>(32, 8193));
  CHECK(fits<unsigned char>(8192, 8, 1, 8));
  CHECK_FALSE(fits<unsigned char>(8193, 8, 1, 8));
  CHECK(fits<float>(33, 8193));
  CHECK_FALSE(fits<float>(1, 100));
  CHECK(fits<float>(100, 1));
  CHECK_FALSE(fits<float>(100, 1, 1, 0));
}

TEST_CASE("matrices of elements in several words are small up to 2^22 elements over their number") {
  CHECK(fits<RawElement<3, 1>>(1024, 1365));
  CHECK_FALSE(fits<RawElement<3, 1>>(1024, 1366));
  CHECK(fits<RawElement<3, 1>>(1024, 512, 1, 0));
  CHECK_FALSE(fits<RawElement<3, 1>>(1024, 528, 1, 0));
  CHECK(fits<RawElement<12, 4>>(1024, 1365));
  CHECK_FALSE(fits<RawElement<12, 4>>(1024, 1366));
  CHECK(fits<RawElement<8, 4>>(1024, 2048));
  CHECK_FALSE(fits<RawElement<8, 4>>(1023, 2051));
}

TEST_CASE("of two sides the larger one counts, and elements that are too large are never small") {
  CHECK(fits<unsigned short, uint4, Widen>(2048, 2048));
  CHECK_FALSE(fits<unsigned short, uint4, Widen>(2048, 2049));
  CHECK_FALSE(fits<uint4, unsigned short, Narrow>(2048, 2049));
  CHECK_FALSE(fits<RawElement<20, 4>>(40, 40));
  CHECK_FALSE(fits<RawElement<16, 1>>(40, 40));
  CHECK_FALSE(fits<int, RawElement<32, 16>>(40, 40));
  CHECK_FALSE(fits<int, Wrapped>(40, 40));
}
