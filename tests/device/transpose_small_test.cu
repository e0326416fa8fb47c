/// Transposition of small matrices element by element: every size of element, edges of tiles, any alignment
/// and leading dimension, functions; which matrices are small.
// SPDX-License-Identifier: MIT
#include "support/transpose_launch.cuh"

#include <gpuopt/device/transpose_small.cuh>

#include <cstddef>
#include <initializer_list>

namespace {

using namespace gpuopt::test;
using gpuopt::Unchanged;
using gpuopt::detail::RawElement;
using gpuopt::detail::smallFits;
using gpuopt::detail::TransposeProblem;

struct LaunchSmall {
  template <class Problem>
  void operator()(const Problem& problem) const {
    REQUIRE(smallFits(problem));
    gpuopt::detail::launchTransposeSmall(problem, nullptr);
  }
};

template <class In, class Out, class Function>
void checkFunction(Function function) {
  for (const std::size_t rows : {1, 33, 100})
    for (const std::size_t cols : {1, 31, 130})
      checkTranspose<In, Out>({rows, cols, cols + 1, rows + 2}, function, LaunchSmall{}, 3, 1);
}

// The edges of tiles, gaps between rows on either side, and bases off alignment.
template <std::size_t SIZE, std::size_t ALIGN>
void checkMove() {
  using Element = RawElement<SIZE, ALIGN>;
  for (const std::size_t rows : {1, 15, 16, 17, 31, 32, 33, 64, 70})
    for (const std::size_t cols : {1, 15, 17, 31, 32, 33, 64, 97}) {
      const std::size_t gap = (rows + cols) % 3;
      checkTranspose<Element, Element>({rows, cols, cols + gap, rows + rows % 4}, Unchanged{}, LaunchSmall{},
                                       rows % 5, cols % 7);
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

template <class In, class Out = In, class Function = Unchanged>
bool fits(std::size_t rows, std::size_t cols, std::size_t batch = 1) {
  return smallFits(TransposeProblem<In, Out, Function>{nullptr, nullptr, rows, cols, cols + 1, rows, batch,
                                                       rows * (cols + 1), rows * cols, Function{}});
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

TEST_CASE("small matrices with a function that changes types") {
  checkFunction<Pixel, unsigned short>(Grey{});
  checkFunction<unsigned char, uint4>(Widen{});
  checkFunction<uint4, unsigned char>(Narrow{});
}

TEST_CASE("matrices are small up to 4 MiB, one at a time") {
  CHECK(fits<unsigned char>(2048, 2048));
  CHECK_FALSE(fits<unsigned char>(2048, 2049));
  CHECK(fits<unsigned short>(2048, 1024));
  CHECK_FALSE(fits<unsigned short>(2049, 1024));
  CHECK(fits<float>(1024, 1024));
  CHECK_FALSE(fits<float>(1023, 1026));
  CHECK(fits<uint4>(512, 512));
  CHECK_FALSE(fits<uint4>(512, 513));
  CHECK(fits<float>(40, 40, 1));
  CHECK_FALSE(fits<float>(40, 40, 2));
}

TEST_CASE("matrices of elements in several words are small up to 4 MiB over their number") {
  CHECK(fits<RawElement<3, 1>>(682, 683));
  CHECK_FALSE(fits<RawElement<3, 1>>(683, 683));
  CHECK(fits<RawElement<12, 4>>(341, 341));
  CHECK_FALSE(fits<RawElement<12, 4>>(341, 342));
  CHECK(fits<RawElement<16, 8>>(512, 256));
  CHECK_FALSE(fits<RawElement<16, 8>>(512, 257));
}

TEST_CASE("of two sides the larger one counts, and elements that are too large are never small") {
  CHECK(fits<unsigned char, uint4, Widen>(512, 512));
  CHECK_FALSE(fits<unsigned char, uint4, Widen>(512, 513));
  CHECK_FALSE(fits<uint4, unsigned char, Narrow>(512, 513));
  CHECK_FALSE(fits<RawElement<20, 4>>(40, 40));
  CHECK_FALSE(fits<int, RawElement<32, 16>>(40, 40));
  CHECK_FALSE(fits<int, Wrapped>(40, 40));
}
