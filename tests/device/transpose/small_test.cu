/// Transposition of small matrices element by element: every size of element, edges of tiles, any alignment
/// and leading dimension, functions; which matrices are small.
// SPDX-License-Identifier: MIT
#include "support/transpose_launch.cuh"

#include <gpuopt/device/transpose/launch.cuh>

#include <cstddef>
#include <initializer_list>

namespace small_test {

using namespace gpuopt::test;
using gpuopt::Identity;
using gpuopt::detail::RawElement;

template <bool IS_TALL>
struct LaunchSmall {
  template <class Problem>
  void operator()(const Problem& problem) const {
    gpuopt::detail::TransposeTuning tuning;
    if (IS_TALL) tuning.tallElements = 0;
    LaunchPlanned{tuning, gpuopt::detail::TransposeAlgorithm::smallTile}(problem);
  }
};

template <class In, class Out, class Function>
void checkFunction(Function function) {
  for (const std::size_t rows : {1, 33, 100})
    for (const std::size_t cols : {1, 31, 130})
      checkTranspose<In, Out>({rows, cols, cols + 1, rows + 2}, function, LaunchSmall<false>{}, 3, 1);
}

// The edges of tiles, gaps between rows on either side, and bases off alignment.
template <std::size_t SIZE, std::size_t ALIGN, bool IS_TALL = false>
void checkMove() {
  using Element = RawElement<SIZE, ALIGN>;
  for (const std::size_t rows : {1, 15, 16, 17, 31, 32, 33, 64, 70})
    for (const std::size_t cols : {1, 15, 17, 31, 32, 33, 64, 97}) {
      const std::size_t gap = cols == 1 ? 1 : (rows + cols) % 3;  // not a mere copy
      checkTranspose<Element, Element>({rows, cols, cols + gap, rows + rows % 4}, Identity{}, LaunchSmall<IS_TALL>{},
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
  __host__ __device__ unsigned char operator()(const uint4& x) const { return static_cast<unsigned char>(x.x + x.w); }
};

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
  checkMove<2, 2, true>();
  checkMove<16, 16, true>();
}

TEST_CASE("small matrices with a function that changes types") {
  checkFunction<Pixel, unsigned short>(Grey{});
  checkFunction<unsigned char, uint4>(Widen{});
  checkFunction<uint4, unsigned char>(Narrow{});
}

}  // namespace small_test
