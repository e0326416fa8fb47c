/// Transposition by aligned tiles: every element size, changes of the type, edges, gaps, batches.
// SPDX-License-Identifier: MIT
#include "support/transpose_launch.cuh"

#include <gpuopt/device/transpose/launch.cuh>

#include <cstddef>
#include <type_traits>
#include <vector>

namespace tiles_test {

using namespace gpuopt::test;
using gpuopt::Identity;
using gpuopt::detail::RawElement;

// The tile that the library takes, another one, and no tile at all.
struct DefaultTile {
  template <class Problem>
  void operator()(const Problem& problem) const {
    using Tile = gpuopt::detail::VectorTileOf<typename Problem::Input, typename Problem::Output>;
    gpuopt::detail::launchTile<Tile>(problem, 0, nullptr);
  }
};
template <int TILE, int SIDE>
struct TileOf {
  template <class Problem>
  void operator()(const Problem& problem) const {
    using Tile = gpuopt::detail::SquareTile<typename Problem::Input, typename Problem::Output, TILE, SIDE>;
    gpuopt::detail::launchTile<Tile>(problem, 0, nullptr);
  }
};
template <int TILE, int SIDE>
struct SectorTileOf {
  template <class Problem>
  void operator()(const Problem& problem) const {
    gpuopt::detail::launchTile<gpuopt::detail::SectorTile<typename Problem::Input, TILE, SIDE>>(problem, 0, nullptr);
  }
};
struct Registers {
  template <class In, class Out, class Function>
  void operator()(const gpuopt::detail::TransposeProblem<In, Out, Function>& problem) const {
    gpuopt::detail::launchTile<gpuopt::detail::RegisterTile<In, Out>>(problem, 0, nullptr);
  }
};

// Regions for rows that lie 128, 256 or 512 bytes apart, or odd multiples of that.
struct DealtTiles {
  template <class Problem>
  void operator()(const Problem& problem) const {
    using namespace gpuopt::detail;
    TransposeTuning tuning;
    tuning.regionBytes = 64;
    const unsigned bits = regionBits(TransposeFacts(transposeRequest(problem)), tuning);
    CHECK(bits > 0);
    launchTile<SquareTile<typename Problem::Input, typename Problem::Output, 32, 2>>(problem, bits, nullptr);
  }
};

struct NarrowTiles {
  template <class Problem>
  void operator()(const Problem& problem) const {
    gpuopt::detail::launchTile<gpuopt::detail::NarrowTile<typename Problem::Input>>(problem, 0, nullptr);
  }
};

template <class Launch, class In, class Out, class Function>
void check(std::size_t rows, std::size_t cols, Function function, std::size_t batch = 1, std::size_t gap = 0) {
  const auto shape = TransposeShape::pitched(rows, cols, 16 / sizeof(In), 16 / sizeof(Out), batch, gap);
  checkTranspose<In, Out>(shape, function, Launch{});
}

template <std::size_t SIZE>
using Raw = RawElement<SIZE, SIZE>;

template <class Launch, class T>
void checkEdges(std::size_t tile) {
  const std::size_t vector = 16 / sizeof(T);
  const std::size_t sizes[] = {1, vector + 1, tile - 1, tile, tile + 1, 2 * tile + vector};
  for (const std::size_t rows : sizes)
    for (const std::size_t cols : sizes) check<Launch, T, T>(rows, cols, Identity{});
}

// Rows of the output begin at odd multiples of 16 bytes: every second one, or all of them.
template <class Launch, class T>
void checkShifted(std::size_t rows, std::size_t cols, std::size_t batch = 1) {
  const std::size_t vector = 16 / sizeof(T);
  const std::size_t vectors = (rows + vector - 1) / vector;
  const auto checkWith = [&](std::size_t outLd, std::size_t outStride, std::size_t outOffset) {
    const TransposeShape shape{rows, cols, (cols / vector + 1) * vector, outLd * vector, batch, 0, outStride * vector};
    checkTranspose<T, T>(shape, Identity{}, Launch{}, 0, outOffset);
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

template <class Launch, class In, class Out, class Function>
void checkFunction(Function function) {
  for (const std::size_t rows : {1, 37, 64, 130})
    for (const std::size_t cols : {1, 37, 64, 130}) check<Launch, In, Out>(rows, cols, function);
  check<Launch, In, Out>(277, 290, function);  // more than a whole tile of any size
}

template <class Launch, class In>
void checkCasts() {
  checkFunction<Launch, In, In>(Scale{});
  checkFunction<Launch, In, unsigned char>(Cast<unsigned char>{});
  checkFunction<Launch, In, unsigned short>(Cast<unsigned short>{});
  checkFunction<Launch, In, unsigned>(Cast<unsigned>{});
  checkFunction<Launch, In, unsigned long long>(Cast<unsigned long long>{});
  checkFunction<Launch, In, uint4>(Widen{});
  checkFunction<Launch, uint4, In>(Narrow<In>{});
}

TEMPLATE_TEST_CASE("aligned matrices of every element size, edges of tiles and of vectors", "", Raw<1>, Raw<2>, Raw<4>,
                   Raw<8>, Raw<16>) {
  constexpr std::size_t SIZE = sizeof(TestType);
  checkEdges<DefaultTile, TestType>(gpuopt::detail::vectorTileShape(SIZE, SIZE).rows);
  checkEdges<Registers, TestType>(gpuopt::detail::registerTileShape(SIZE, SIZE).rows);
}

TEMPLATE_TEST_CASE("other tiles and blocks", "", (TileOf<16, 4>), (TileOf<32, 32>), (TileOf<32, 2>), (TileOf<64, 16>)) {
  checkEdges<TestType, Raw<1>>(64);
  checkEdges<TestType, Raw<4>>(32);
  checkEdges<TestType, Raw<8>>(32);
}

TEMPLATE_TEST_CASE("a function changes the elements on the way, and their type", "", unsigned char, unsigned short,
                   unsigned, unsigned long long) {
  checkCasts<DefaultTile, TestType>();
  checkCasts<Registers, TestType>();
}

TEST_CASE("batches of matrices, with gaps between rows and matrices") {
  check<DefaultTile, float, float>(70, 33, Identity{}, 5, 3);
  check<Registers, float, float>(70, 33, Identity{}, 5, 3);
  check<DefaultTile, Raw<2>, Raw<2>>(130, 200, Identity{}, 3, 0);
  check<Registers, Raw<1>, Raw<1>>(130, 200, Identity{}, 3, 1);
  check<DefaultTile, unsigned char, double>(65, 63, Cast<double>{}, 4, 2);
}

TEST_CASE("narrow tiles of 16-byte elements") {
  checkEdges<NarrowTiles, Raw<16>>(16);
  checkEdges<NarrowTiles, Raw<16>>(32);
}

TEMPLATE_TEST_CASE("rows of the output that begin within sectors", "", Raw<1>, Raw<2>, Raw<4>, Raw<8>) {
  using Small = SectorTileOf<32, 2>;
  const std::size_t vector = 16 / sizeof(TestType);
  for (const std::size_t rows : {std::size_t{31}, std::size_t{32}, 64 - vector, 97 - vector, std::size_t{128}})
    for (const std::size_t cols : {std::size_t{31}, std::size_t{32}, 65 - vector})
      checkShifted<Small, TestType>(rows, cols);
  checkShifted<Small, TestType>(64, 32, 3);
  checkShifted<SectorTileOf<64, 4>, TestType>(191, 64);
  constexpr int TILE = gpuopt::detail::vectorTile(sizeof(TestType)).sectorTile;
  using Default = SectorTileOf<TILE, gpuopt::detail::vectorTile(sizeof(TestType)).sectorSide>;
  checkShifted<Default, TestType>(3 * TILE - 1, TILE);
  checkShifted<Default, TestType>(2 * TILE, TILE - 1);
}

TEST_CASE("rows of the output within sectors and a function") {
  check<TileOf<32, 2>, unsigned, unsigned>(68, 64, Scale{});
  check<DefaultTile, unsigned short, unsigned>(132, 128, Cast<unsigned>{});
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
    checkTranspose<unsigned, unsigned>(shape, Identity{}, DealtTiles{});
  };
  dealt(512, 96, 96);
  dealt(512, 144, 160, 2);
  dealt(516, 160, 160);
  dealt(1024, 191, 192);
  dealt(2048, 384, 384);
}

}  // namespace tiles_test
