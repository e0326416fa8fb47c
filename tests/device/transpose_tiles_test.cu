/// Transposition by aligned tiles: every element size, changes of the type, edges, gaps, batches.
// SPDX-License-Identifier: MIT
#include "support/transpose_launch.cuh"

#include <gpuopt/device/transpose_tiles.cuh>

#include <cstddef>
#include <type_traits>

namespace {

using namespace gpuopt::test;
using gpuopt::Unchanged;
using gpuopt::detail::RawElement;

// Everything through shared memory, or everything through registers.
struct Tiles : gpuopt::TransposeTilesPolicy {
  template <std::size_t>
  static constexpr std::size_t registerBytes = 0;
};
struct Registers : gpuopt::TransposeTilesPolicy {
  template <std::size_t>
  static constexpr std::size_t registerBytes = ~std::size_t{0};
};
template <int T, int S>
struct TilesOf : Tiles {
  template <std::size_t>
  static constexpr int TILE = T;
  template <std::size_t>
  static constexpr int SIDE = S;
};

template <class Policy>
struct LaunchTiles {
  template <class Problem>
  void operator()(const Problem& problem) const {
    REQUIRE(gpuopt::detail::tilesFits<Policy>(problem));
    gpuopt::detail::launchTransposeTiles<Policy>(problem, nullptr);
  }
};

template <class Policy, class In, class Out, class Function>
void check(std::size_t rows, std::size_t cols, Function function, std::size_t batch = 1,
           std::size_t gap = 0) {
  const auto shape = TransposeShape::pitched(rows, cols, 16 / sizeof(In), 16 / sizeof(Out), batch, gap);
  checkTranspose<In, Out>(shape, function, LaunchTiles<Policy>{});
}

template <std::size_t SIZE>
using Raw = RawElement<SIZE, SIZE>;

template <class Policy, class T>
void checkEdges(std::size_t tile) {
  const std::size_t vector = 16 / sizeof(T);
  const std::size_t sizes[] = {1, vector + 1, tile - 1, tile, tile + 1, 2 * tile + vector};
  for (const std::size_t rows : sizes)
    for (const std::size_t cols : sizes) check<Policy, T, T>(rows, cols, Unchanged{});
}

struct Scale {
  template <class T>
  __host__ __device__ T operator()(T x) const {
    return static_cast<T>(x + 3);
  }
};

template <class Out>
struct Cast {
  template <class T>
  __host__ __device__ Out operator()(T x) const {
    return static_cast<Out>(x);
  }
};

// Elements of 16 bytes from any number, and back.
struct Widen {
  template <class T>
  __host__ __device__ uint4 operator()(T x) const {
    return {static_cast<unsigned>(x), 1u, 2u, 3u};
  }
};
template <class Out>
struct Narrow {
  __host__ __device__ Out operator()(uint4 x) const { return static_cast<Out>(x.x + x.w); }
};

template <class Policy, class In, class Out, class Function>
void checkFunction(Function function) {
  for (const std::size_t rows : {1, 37, 64, 130})
    for (const std::size_t cols : {1, 37, 64, 130}) check<Policy, In, Out>(rows, cols, function);
}

template <class Policy, class In>
void checkCasts() {
  checkFunction<Policy, In, In>(Scale{});
  checkFunction<Policy, In, unsigned char>(Cast<unsigned char>{});
  checkFunction<Policy, In, unsigned short>(Cast<unsigned short>{});
  checkFunction<Policy, In, unsigned>(Cast<unsigned>{});
  checkFunction<Policy, In, unsigned long long>(Cast<unsigned long long>{});
  checkFunction<Policy, In, uint4>(Widen{});
  checkFunction<Policy, uint4, In>(Narrow<In>{});
}

}  // namespace

TEMPLATE_TEST_CASE("aligned matrices of every element size, edges of tiles and of vectors", "", Raw<1>,
                   Raw<2>, Raw<4>, Raw<8>, Raw<16>) {
  constexpr std::size_t SIZE = sizeof(TestType);
  checkEdges<Tiles, TestType>(Tiles::TILE<SIZE>);
  checkEdges<Registers, TestType>(gpuopt::detail::RegisterThreads<TestType, TestType>::ROWS);
}

TEMPLATE_TEST_CASE("other tiles and blocks", "", (TilesOf<16, 4>), (TilesOf<32, 32>), (TilesOf<32, 2>),
                   (TilesOf<64, 16>)) {
  checkEdges<TestType, Raw<1>>(64);
  checkEdges<TestType, Raw<4>>(32);
  checkEdges<TestType, Raw<8>>(32);
}

TEMPLATE_TEST_CASE("a function changes the elements on the way, and their type", "", unsigned char,
                   unsigned short, unsigned, unsigned long long) {
  checkCasts<Tiles, TestType>();
  checkCasts<Registers, TestType>();
}

TEST_CASE("batches of matrices, with gaps between rows and matrices") {
  check<Tiles, float, float>(70, 33, Unchanged{}, 5, 3);
  check<Registers, float, float>(70, 33, Unchanged{}, 5, 3);
  check<Tiles, Raw<2>, Raw<2>>(130, 200, Unchanged{}, 3, 0);
  check<Registers, Raw<1>, Raw<1>>(130, 200, Unchanged{}, 3, 1);
  check<Tiles, unsigned char, double>(65, 63, Cast<double>{}, 4, 2);
}

TEST_CASE("tiles fit where all rows begin at 16 bytes") {
  using gpuopt::detail::tilesFits;
  using gpuopt::detail::TransposeProblem;
  alignas(16) float memory[64] = {};
  const auto fits = [&](std::size_t in, std::size_t out, std::size_t inLd, std::size_t outLd,
                        std::size_t batch, std::size_t inStride, std::size_t outStride) {
    return tilesFits(TransposeProblem<float, float, Unchanged>{memory + in, memory + out, 4, 4, inLd, outLd,
                                                               batch, inStride, outStride, Unchanged{}});
  };
  CHECK(fits(0, 4, 4, 8, 1, 0, 0));
  CHECK(fits(0, 4, 4, 8, 2, 16, 32));
  CHECK(fits(0, 4, 4, 8, 1, 17, 33));
  CHECK_FALSE(fits(1, 4, 4, 8, 1, 0, 0));
  CHECK_FALSE(fits(0, 2, 4, 8, 1, 0, 0));
  CHECK_FALSE(fits(0, 4, 5, 8, 1, 0, 0));
  CHECK_FALSE(fits(0, 4, 4, 9, 1, 0, 0));
  CHECK_FALSE(fits(0, 4, 4, 8, 2, 17, 32));
  CHECK_FALSE(fits(0, 4, 4, 8, 2, 16, 33));
  using Odd = RawElement<12, 4>;
  CHECK_FALSE(
      tilesFits(TransposeProblem<Odd, Odd, Unchanged>{nullptr, nullptr, 4, 4, 4, 4, 1, 0, 0, Unchanged{}}));
}
