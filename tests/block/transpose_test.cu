/// Transposes of tiles by a block: every legal TILE and SIDE, every kind of element, edges, alignment, work
/// between the halves.
// SPDX-License-Identifier: MIT
#include "support/transpose_launch.cuh"

#include <gpuopt/block/shared.cuh>
#include <gpuopt/block/transpose.cuh>
#include <gpuopt/host/launch.cuh>

#include <cstddef>
#include <type_traits>

namespace transpose_test {

using namespace gpuopt::test;
using gpuopt::Identity;
using gpuopt::TransposeTile;
using gpuopt::detail::RawElement;

// One block moves all tiles of a problem through the same memory, which needs a second barrier.
template <int TILE, class Problem, class Move>
__device__ void forTiles(const Problem& problem, Move move) {
  for (std::size_t row = 0; row < problem.rows; row += TILE)
    for (std::size_t col = 0; col < problem.cols; col += TILE) {
      const std::size_t rows = problem.rows - row;
      const std::size_t cols = problem.cols - col;
      move(problem.in + row * problem.inLd + col, problem.out + col * problem.outLd + row,
           static_cast<unsigned>(rows < TILE ? rows : TILE), static_cast<unsigned>(cols < TILE ? cols : TILE));
    }
}

template <int TILE, int SIDE, class Problem>
__global__ void __launch_bounds__(TILE* SIDE) tilesKernel(const Problem problem) {
  using In = typename Problem::Input;
  using Out = typename Problem::Output;
  auto& storage = *gpuopt::dynamicShared<typename TransposeTile<In, Out, TILE, SIDE>::Storage>();
  forTiles<TILE>(problem, [&](const In* in, Out* out, unsigned rows, unsigned cols) {
    gpuopt::transposeTile<TILE, SIDE>(in, problem.inLd, out, problem.outLd, rows, cols, problem.function, storage);
    __syncthreads();
  });
}

template <int TILE, int SIDE, class Problem>
__global__ void __launch_bounds__(TILE* SIDE) ownStorageKernel(const Problem problem) {
  using In = typename Problem::Input;
  using Out = typename Problem::Output;
  forTiles<TILE>(problem, [&](const In* in, Out* out, unsigned rows, unsigned cols) {
    gpuopt::transposeTile<TILE, SIDE>(in, problem.inLd, out, problem.outLd, rows, cols, problem.function);
  });
}

// The function is applied between the halves.
template <int TILE, int SIDE, bool ALIGNED, class Problem>
__global__ void __launch_bounds__(TILE* SIDE) halvesKernel(const Problem problem) {
  using In = typename Problem::Input;
  using Out = typename Problem::Output;
  using Tile = TransposeTile<In, Out, TILE, SIDE, ALIGNED>;
  const Tile tile(*gpuopt::dynamicShared<typename Tile::Storage>());
  forTiles<TILE>(problem, [&](const In* in, Out* out, unsigned rows, unsigned cols) {
    tile.load(in, problem.inLd, rows, cols);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < rows * cols; i += TILE * SIDE)
      tile.put(i / cols, i % cols, problem.function(tile.get(i / cols, i % cols)));
    __syncthreads();
    tile.store(out, problem.outLd, rows, cols);
    __syncthreads();
  });
}

gpuopt::LaunchConfig oneBlock(dim3 block, std::size_t sharedBytes) {
  gpuopt::LaunchConfig config;
  config.block = block;
  config.sharedBytes = sharedBytes;
  return config;
}

template <int TILE, int SIDE>
struct LaunchTiles {
  dim3 block{TILE * SIDE};

  template <class Problem>
  void operator()(const Problem& problem) const {
    gpuopt::launch(tilesKernel<TILE, SIDE, Problem>, oneBlock(block, sizeof(typename Problem::Output) * TILE * TILE),
                   problem);
  }
};

template <int TILE, int SIDE>
struct LaunchOwnStorage {
  template <class Problem>
  void operator()(const Problem& problem) const {
    gpuopt::launch(ownStorageKernel<TILE, SIDE, Problem>, oneBlock(dim3(TILE * SIDE), 0), problem);
  }
};

template <int TILE, int SIDE, bool ALIGNED>
struct LaunchHalves {
  template <class Problem>
  void operator()(const Problem& problem) const {
    gpuopt::launch(halvesKernel<TILE, SIDE, ALIGNED, Problem>,
                   oneBlock(dim3(TILE * SIDE), sizeof(typename Problem::Output) * TILE * TILE), problem);
  }
};

// Full tiles and edges on both sides, with aligned rows and with unaligned ones.
template <class T, class Launch>
void checkShapes(std::size_t tile, Launch launch) {
  const std::size_t vector = sizeof(T) <= 16 && 16 % sizeof(T) == 0 ? 16 / sizeof(T) : 1;
  checkTranspose<T, T>(TransposeShape::pitched(tile + 3, 2 * tile + 5, vector, vector), Identity{}, launch);
  checkTranspose<T, T>(TransposeShape::dense(2 * tile + 1, tile + 7), Identity{}, launch);
  checkTranspose<T, T>(TransposeShape::dense(tile, tile), Identity{}, launch, 1, 0);
  checkTranspose<T, T>(TransposeShape::dense(tile - 1, 3), Identity{}, launch, 0, 1);
}

template <class T, int TILE, int SIDE>
void checkPair() {
  if constexpr (sizeof(T) * TILE * TILE <= 64 * 1024) checkShapes<T>(TILE, LaunchTiles<TILE, SIDE>{});
}

template <class T, int TILE, int SIDE>
void checkSides() {
  if constexpr (SIDE <= TILE && TILE * SIDE <= 1024) {
    if constexpr (TILE * SIDE >= 32) checkPair<T, TILE, SIDE>();
    checkSides<T, TILE, 2 * SIDE>();
  }
}

template <std::size_t SIZE, std::size_t ALIGN = SIZE>
using Raw = RawElement<SIZE, ALIGN>;

struct Negate {
  template <class T>
  __host__ __device__ T operator()(T x) const {
    return static_cast<T>(~x);
  }
};

struct Halve {
  __host__ __device__ unsigned short operator()(double x) const { return x > 0 && x < 100 ? 7 : 9; }
  __host__ __device__ double operator()(unsigned char x) const { return x * 0.5; }
};

TEMPLATE_TEST_CASE("transposeTile takes every legal TILE and SIDE", "", Raw<1>, Raw<4>, (Raw<12, 4>)) {
  checkSides<TestType, 8, 1>();
  checkSides<TestType, 16, 1>();
  checkSides<TestType, 32, 1>();
  checkSides<TestType, 64, 1>();
  checkSides<TestType, 128, 1>();
  checkSides<TestType, 256, 1>();
}

TEMPLATE_TEST_CASE("transposeTile takes elements of any size", "", Raw<2>, Raw<8>, Raw<16>, (Raw<3, 1>), (Raw<6, 2>),
                   (Raw<20, 4>), (Raw<100, 4>), (Raw<128, 16>), (Raw<4, 1>)) {
  checkPair<TestType, 8, 4>();
  checkPair<TestType, 16, 4>();
  checkPair<TestType, 32, 8>();
  checkPair<TestType, 64, 4>();
}

TEST_CASE("transposeTile takes blocks of any shape") {
  checkShapes<float>(32, LaunchTiles<32, 8>{dim3(32, 8)});
  checkShapes<float>(32, LaunchTiles<32, 8>{dim3(8, 4, 8)});
  checkShapes<unsigned char>(64, LaunchTiles<64, 2>{dim3(2, 64)});
}

TEST_CASE("transposeTile with its own memory may be called again at once") {
  checkShapes<float>(32, LaunchOwnStorage<32, 8>{});
  checkShapes<unsigned char>(64, LaunchOwnStorage<64, 1>{});
  checkShapes<Raw<12, 4>>(16, LaunchOwnStorage<16, 8>{});
}

TEST_CASE("transposeTile applies a function") {
  const auto shape = TransposeShape::pitched(70, 45, 16, 16);
  checkTranspose<unsigned, unsigned>(shape, Negate{}, LaunchTiles<64, 4>{});
  checkTranspose<unsigned char, unsigned char>(shape, Negate{}, LaunchTiles<64, 1>{});
  checkTranspose<unsigned char, double>(shape, Halve{}, LaunchTiles<32, 4>{});
  checkTranspose<double, unsigned short>(shape, Halve{}, LaunchTiles<32, 4>{});
  checkTranspose<double, unsigned short>(shape, Halve{}, LaunchTiles<32, 4>{}, 1, 1);
}

TEST_CASE("work between the halves of TransposeTile") {
  const auto shape = TransposeShape::pitched(70, 45, 16, 16);
  checkTranspose<unsigned, unsigned>(shape, Negate{}, LaunchHalves<32, 8, true>{});
  checkTranspose<unsigned, unsigned>(shape, Negate{}, LaunchHalves<32, 8, false>{});
  checkTranspose<unsigned short, unsigned short>(shape, Negate{}, LaunchHalves<64, 2, true>{});
  checkTranspose<unsigned char, unsigned char>(shape, Negate{}, LaunchHalves<64, 2, false>{}, 3, 5);
}

}  // namespace transpose_test
