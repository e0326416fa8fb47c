/// Transposition by aligned tiles: every element size, changes of the type, edges, gaps, batches.
// SPDX-License-Identifier: MIT
#include "support/transpose_launch.cuh"

#include <gpuopt/device/transpose/tiles.cuh>

#include <cstddef>
#include <type_traits>
#include <vector>

namespace {

using namespace gpuopt::test;
using gpuopt::Identity;
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

// Shifted tiles however few there are.
template <int T, int S>
struct ShiftedOf : TilesOf<T, S> {
  static constexpr std::size_t shiftedTiles = 0;
  template <std::size_t>
  static constexpr int SHIFTED_TILE = T;
  template <std::size_t>
  static constexpr int SHIFTED_SIDE = S;
};

// Regions for rows that lie 128, 256 or 512 bytes apart, or odd multiples of that.
struct DealtTiles : ShiftedOf<32, 2> {
  static constexpr std::size_t regionBytes = 64;
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
    for (const std::size_t cols : sizes) check<Policy, T, T>(rows, cols, Identity{});
}

// Rows of the output begin at odd multiples of 16 bytes: every second one, or all of them.
template <class Policy, class T>
void checkShifted(std::size_t rows, std::size_t cols, std::size_t batch = 1) {
  const std::size_t vector = 16 / sizeof(T);
  const std::size_t vectors = (rows + vector - 1) / vector;
  const auto checkWith = [&](std::size_t outLd, std::size_t outStride, std::size_t outOffset) {
    const TransposeShape shape{
        rows, cols, (cols / vector + 1) * vector, outLd * vector, batch, 0, outStride * vector};
    checkTranspose<T, T>(shape, Identity{}, LaunchTiles<Policy>{}, 0, outOffset);
  };
  const std::size_t odd = vectors + 1 - vectors % 2;
  checkWith(odd, odd * cols, 0);
  checkWith(odd, odd * cols, vector);
  checkWith(odd + 1, (odd + 1) * cols + 1, vector);
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
  check<Policy, In, Out>(277, 290, function);  // more than a whole tile of any size
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
  check<Tiles, float, float>(70, 33, Identity{}, 5, 3);
  check<Registers, float, float>(70, 33, Identity{}, 5, 3);
  check<Tiles, Raw<2>, Raw<2>>(130, 200, Identity{}, 3, 0);
  check<Registers, Raw<1>, Raw<1>>(130, 200, Identity{}, 3, 1);
  check<Tiles, unsigned char, double>(65, 63, Cast<double>{}, 4, 2);
}

TEMPLATE_TEST_CASE("rows of the output that begin within sectors", "", Raw<1>, Raw<2>, Raw<4>, Raw<8>) {
  using Small = ShiftedOf<32, 2>;
  const std::size_t vector = 16 / sizeof(TestType);
  for (const std::size_t rows :
       {std::size_t{31}, std::size_t{32}, 64 - vector, 97 - vector, std::size_t{128}})
    for (const std::size_t cols : {std::size_t{31}, std::size_t{32}, 65 - vector})
      checkShifted<Small, TestType>(rows, cols);
  checkShifted<Small, TestType>(64, 32, 3);
  checkShifted<ShiftedOf<64, 4>, TestType>(191, 64);
  constexpr int TILE = Tiles::SHIFTED_TILE<sizeof(TestType)>;
  using Default = ShiftedOf<TILE, Tiles::SHIFTED_SIDE<sizeof(TestType)>>;
  checkShifted<Default, TestType>(3 * TILE - 1, TILE);
  checkShifted<Default, TestType>(2 * TILE, TILE - 1);
}

TEST_CASE("rows of the output within sectors and a function") {
  check<ShiftedOf<32, 2>, unsigned, unsigned>(68, 64, Scale{});
  check<ShiftedOf<32, 2>, unsigned short, unsigned>(132, 128, Cast<unsigned>{});
}

TEST_CASE("every column of tiles is visited once, in turn from each region") {
  using gpuopt::detail::TileGrid;
  for (unsigned bits = 0; bits < 4; ++bits)
    for (unsigned across = 1; across < 40; ++across) {
      const TileGrid grid{across, across, bits};
      std::vector<bool> visited(across);
      for (unsigned turn = 0; turn < across; ++turn) {
        const unsigned column = grid.column(turn);
        REQUIRE(column < across);
        CHECK_FALSE(visited[column]);
        visited[column] = true;
        if (turn >= 1U << bits) CHECK(column == grid.column(turn - (1U << bits)) + 1);
      }
    }
  CHECK(TileGrid{16, 16, 2}.column(1) == 4);
}

TEST_CASE("rows of the input at distances for which columns of tiles are dealt to regions") {
  const auto dealt = [](std::size_t rows, std::size_t cols, std::size_t inLd, std::size_t batch = 1) {
    const TransposeShape shape{rows, cols, inLd, rows, batch, rows * inLd, rows * cols};
    checkTranspose<unsigned, unsigned>(shape, Identity{}, LaunchTiles<DealtTiles>{});
  };
  dealt(512, 96, 96);
  dealt(512, 144, 160, 2);
  dealt(516, 160, 160);
  dealt(1024, 191, 192);
  dealt(2048, 384, 384);
}

TEST_CASE("columns of tiles are dealt to as many regions as the distance of rows asks for") {
  const auto bits = [](std::size_t rows, std::size_t cols, std::size_t inLd) {
    return gpuopt::detail::regionBits<gpuopt::TransposeTilesPolicy>(
        gpuopt::detail::TransposeProblem<float, float, Identity>{nullptr, nullptr, rows, cols, inLd, rows, 1,
                                                                 0, 0, Identity{}});
  };
  constexpr std::size_t KIB = 1024 / sizeof(float);
  CHECK(bits(8192, 64 * KIB, 64 * KIB) == 0);
  CHECK(bits(8192, 126 * KIB, 126 * KIB) == 0);
  CHECK(bits(8192, 128 * KIB, 128 * KIB) == 1);
  CHECK(bits(8192, 384 * KIB, 384 * KIB) == 1);
  CHECK(bits(8192, 256 * KIB, 256 * KIB) == 2);
  CHECK(bits(8192, 512 * KIB, 512 * KIB) == 3);
  CHECK(bits(8192, 1024 * KIB, 1024 * KIB) == 0);
  CHECK(bits(8192, 112 * KIB, 128 * KIB) == 1);
  CHECK(bits(8192, 111 * KIB, 128 * KIB) == 0);
  CHECK(bits(512, 128 * KIB, 128 * KIB) == 1);
  CHECK(bits(511, 128 * KIB, 128 * KIB) == 0);
  CHECK(bits(2047, 512 * KIB, 512 * KIB) == 0);
}

TEST_CASE("tiles fit where all rows begin at 16 bytes") {
  using gpuopt::detail::tilesFits;
  using gpuopt::detail::TransposeProblem;
  alignas(16) float memory[64] = {};
  const auto fits = [&](std::size_t in, std::size_t out, std::size_t inLd, std::size_t outLd,
                        std::size_t batch, std::size_t inStride, std::size_t outStride) {
    return tilesFits(TransposeProblem<float, float, Identity>{memory + in, memory + out, 4, 4, inLd, outLd,
                                                              batch, inStride, outStride, Identity{}});
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
      tilesFits(TransposeProblem<Odd, Odd, Identity>{nullptr, nullptr, 4, 4, 4, 4, 1, 0, 0, Identity{}}));
}
