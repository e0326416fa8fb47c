/// \file
/// The kernel that moves several parts of a matrix at once, each from or to another device, tile by tile.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/transpose.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/device/distributed/tuning.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/grid/peer_words.cuh>

#include <cstddef>
#include <cstdint>

GPUOPT_DETAIL_BEGIN

// rows x cols elements, and where they go: to as many rows, or, transposed, to cols rows. The same for each matrix of a
// batch.
template <class In, class Out>
struct MatrixPart {
  const In* in;
  Out* out;
  std::size_t rows, cols;
  std::size_t inLd, outLd;
  std::size_t inStride, outStride;
};

template <class In, class Out, class Function>
struct PartsProblem {
  MatrixPart<In, Out> parts[maxPeers];
  std::size_t down[maxPeers];   // tiles below each other in a matrix of a part,
  std::size_t tiles[maxPeers];  // and all of its tiles
  std::size_t batch;
  std::size_t maxTiles;    // of a part
  unsigned count;          // of parts
  const unsigned* broken;  // if not null: where it is not 0, nothing is moved
  Function function;
};

// A tile that is transposed. Elements in boxes.
template <class In_, class Out_, class Function_>
struct TransposedTile {
  using In = In_;
  using Out = Out_;
  using Function = Function_;
  static constexpr int SIDE = peerTileSide(largerOf(sizeof(In), sizeof(Out)));
  static constexpr int THREADS = peerTileThreads(largerOf(sizeof(In), sizeof(Out)));
  static constexpr unsigned ROWS = SIDE, COLS = SIDE;
  using Storage = TileStorage<Out, SIDE>;

  __device__ static void move(const MatrixPart<In, Out>& part, std::size_t matrix, std::size_t row, std::size_t col,
                              const Function& function, Storage& storage) {
    const std::size_t rows = part.rows - row, cols = part.cols - col;
    transposeTile<SIDE, THREADS / SIDE>(part.in + matrix * part.inStride + row * part.inLd + col, part.inLd,
                                        part.out + matrix * part.outStride + col * part.outLd + row, part.outLd,
                                        rows < ROWS ? static_cast<unsigned>(rows) : ROWS,
                                        cols < COLS ? static_cast<unsigned>(cols) : COLS, function, storage);
  }
};

// Copies rows of `width` bytes as words. All of them begin at multiples of a word.
template <class W>
__device__ inline void copyTile(const unsigned char* in, std::size_t inLd, unsigned char* out, std::size_t outLd,
                                unsigned rows, unsigned width) {
  constexpr unsigned ACROSS = copyTileBytes / sizeof(W), ALL = copyTileRows * ACROSS, IN_FLIGHT = 4;
  for (unsigned first = threadIdx.x; first < ALL; first += IN_FLIGHT * copyTileThreads) {
    W words[IN_FLIGHT];
    const auto visit = [&](const auto& use) {
#pragma unroll
      for (unsigned i = 0; i < IN_FLIGHT; ++i) {
        const unsigned at = first + i * copyTileThreads, row = at / ACROSS, byte = at % ACROSS * sizeof(W);
        if (row < rows && byte < width) use(words[i], row, byte);
      }
    };
    visit([&](W& word, unsigned row, unsigned byte) { word = *reinterpret_cast<const W*>(in + row * inLd + byte); });
    visit([&](W& word, unsigned row, unsigned byte) { *reinterpret_cast<W*>(out + row * outLd + byte) = word; });
  }
}

// A tile of bytes that is copied.
struct CopiedTile {
  using In = unsigned char;
  using Out = unsigned char;
  using Function = Identity;
  static constexpr unsigned ROWS = copyTileRows, COLS = copyTileBytes;
  static constexpr int THREADS = copyTileThreads;
  struct Storage {};

  __device__ static void move(const MatrixPart<In, Out>& part, std::size_t matrix, std::size_t row, std::size_t col,
                              Identity, Storage&) {
    const In* const in = part.in + matrix * part.inStride + row * part.inLd + col;
    Out* const out = part.out + matrix * part.outStride + row * part.outLd + col;
    const auto rows = static_cast<unsigned>(part.rows - row < ROWS ? part.rows - row : ROWS);
    const auto width = static_cast<unsigned>(part.cols - col < COLS ? part.cols - col : COLS);
    const std::size_t all = reinterpret_cast<std::uintptr_t>(in) | reinterpret_cast<std::uintptr_t>(out) | width |
                            (rows > 1 ? part.inLd | part.outLd : 0);
    if (all % 16 == 0)
      copyTile<Word<16>>(in, part.inLd, out, part.outLd, rows, width);
    else if (all % 4 == 0)
      copyTile<Word<4>>(in, part.inLd, out, part.outLd, rows, width);
    else
      copyTile<Word<1>>(in, part.inLd, out, part.outLd, rows, width);
  }
};

template <class Tile>
using PartsOf = PartsProblem<typename Tile::In, typename Tile::Out, typename Tile::Function>;

// Neighbouring blocks move tiles of different parts, and each block goes from part to part: so all links are busy all
// the time. The number of blocks is a multiple of the number of parts.
template <class Tile>
GPUOPT_KERNEL void __launch_bounds__(Tile::THREADS) movePartsKernel(const PartsOf<Tile> problem) {
  __shared__ typename Tile::Storage storage;
  waitForPreviousKernel();
  if (problem.broken != nullptr && *problem.broken != 0) return;
  unsigned turn = 0;
  for (std::size_t i = blockIdx.x; i < problem.maxTiles * problem.count; i += gridDim.x, ++turn) {
    const auto number = static_cast<unsigned>((i + turn) % problem.count);
    const std::size_t matrix = i / problem.count / problem.tiles[number];
    if (matrix >= problem.batch) continue;
    const std::size_t tile = i / problem.count - matrix * problem.tiles[number], down = problem.down[number];
    Tile::move(problem.parts[number], matrix, tile % down * Tile::ROWS, tile / down * Tile::COLS, problem.function,
               storage);
    __syncthreads();
  }
}

GPUOPT_DETAIL_END
