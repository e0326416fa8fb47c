/// \file
/// The transpose ladder: out(c, r) = in(r, c) for a dense row-major matrix of floats, from a copy, which is
/// the goal, to the library. Each step is a small change on the one before.
///
/// A block moves a tile of TILE x TILE elements; its threads stand in TILE columns and SIDE rows, unless
/// said. Tiles at the edges are cut off, so the matrix may have any size. Every kernel can do its work
/// several times, for the timing method that repeats inside a launch; read it with `repeats` equal to 1.
/// Pointers are not __restrict__, so that the compiler has to repeat the loads as well.
// SPDX-License-Identifier: MIT
#pragma once

#include "step.hpp"

#include <gpuopt/launch.cuh>
#include <gpuopt/transpose.cuh>

#include <functional>
#include <vector>

namespace ladders {

inline constexpr unsigned TILE = 32;
inline constexpr unsigned SIDE = 8;

// Copy: the reference.
// Changed: this is the goal. Every byte is read once and written once, each warp a whole line at a time.
// Remains: it does not transpose.
__global__ void copyTiles(const float* in, float* out, unsigned rows, unsigned cols, int repeats) {
  const unsigned col = blockIdx.x * TILE + threadIdx.x;
  const unsigned row = blockIdx.y * TILE + threadIdx.y;
  for (int repeat = 0; repeat < repeats; ++repeat)
    for (unsigned i = 0; i < TILE; i += SIDE)
      if (row + i < rows && col < cols) out[(row + i) * cols + col] = in[(row + i) * cols + col];
}

// Copy through shared memory.
// Changed: the tile rests in shared memory, and all threads wait for each other, as they will have to.
// Remains: it does not transpose. What this costs, any transposition through shared memory will cost.
__global__ void copyThroughShared(const float* in, float* out, unsigned rows, unsigned cols, int repeats) {
  __shared__ float tile[TILE][TILE];
  const unsigned col = blockIdx.x * TILE + threadIdx.x;
  const unsigned row = blockIdx.y * TILE + threadIdx.y;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (unsigned i = 0; i < TILE; i += SIDE)
      if (row + i < rows && col < cols) tile[threadIdx.y + i][threadIdx.x] = in[(row + i) * cols + col];
    __syncthreads();
    for (unsigned i = 0; i < TILE; i += SIDE)
      if (row + i < rows && col < cols) out[(row + i) * cols + col] = tile[threadIdx.y + i][threadIdx.x];
  }
}

// Naive, reading rows.
// Changed: the copy with the indices of `out` exchanged.
// Remains: a warp reads one line and writes into 32: each store touches 32 sectors for 4 bytes in each.
__global__ void transposeReadingRows(const float* in, float* out, unsigned rows, unsigned cols, int repeats) {
  const unsigned col = blockIdx.x * TILE + threadIdx.x;
  const unsigned row = blockIdx.y * TILE + threadIdx.y;
  for (int repeat = 0; repeat < repeats; ++repeat)
    for (unsigned i = 0; i < TILE; i += SIDE)
      if (row + i < rows && col < cols) out[col * rows + row + i] = in[(row + i) * cols + col];
}

// Naive, reading columns.
// Changed: the other way round. Reads are strided, writes fill whole lines.
// Remains: 32 sectors for each load. But what is left of them in a cache, the next loads of the block use.
__global__ void transposeReadingColumns(const float* in, float* out, unsigned rows, unsigned cols, int repeats) {
  const unsigned row = blockIdx.y * TILE + threadIdx.x;
  const unsigned col = blockIdx.x * TILE + threadIdx.y;
  for (int repeat = 0; repeat < repeats; ++repeat)
    for (unsigned i = 0; i < TILE; i += SIDE)
      if (row < rows && col + i < cols) out[(col + i) * rows + row] = in[row * cols + col + i];
}

/// Which tile of `in` a block takes.
struct TileIndex {
  unsigned col;
  unsigned row;
};

// What all kernels through a shared tile do: rows of `in` become rows of the tile, columns of the tile become
// rows of `out`. So a warp reads and writes whole lines, and the turn happens where strides are cheap.
// SIDE: rows of threads. PITCH: words from one row of the tile to the next.
template <unsigned SIDE, unsigned PITCH>
__device__ void transposeThroughTile(const float* in, float* out, unsigned rows, unsigned cols, int repeats,
                                     TileIndex index) {
  __shared__ float tile[TILE][PITCH];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned col = index.col * TILE + x, row = index.row * TILE + y;
  const unsigned outCol = index.row * TILE + x, outRow = index.col * TILE + y;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (unsigned i = 0; i < TILE; i += SIDE)
      if (row + i < rows && col < cols) tile[y + i][x] = in[(row + i) * cols + col];
    __syncthreads();
    for (unsigned i = 0; i < TILE; i += SIDE)
      if (outRow + i < cols && outCol < rows) out[(outRow + i) * rows + outCol] = tile[x][y + i];
    __syncthreads();  // before the next repeat
  }
}

// Shared tile, one thread an element: the block has TILE x TILE threads.
// Changed: reads and writes are coalesced. The stride is in shared memory now.
// Remains: 1024 threads for one load and one store each; and tile[x][i], for all x of a warp, is one bank.
__global__ void transposeElementAThread(const float* in, float* out, unsigned rows, unsigned cols, int repeats) {
  transposeThroughTile<TILE, TILE>(in, out, rows, cols, repeats, {blockIdx.x, blockIdx.y});
}

// Shared tile.
// Changed: TILE x SIDE threads move TILE / SIDE elements each. Indices are computed once for all of them.
// Remains: a column of the tile is in one bank: each load from it is a 32-way conflict.
__global__ void transposeShared(const float* in, float* out, unsigned rows, unsigned cols, int repeats) {
  transposeThroughTile<SIDE, TILE>(in, out, rows, cols, repeats, {blockIdx.x, blockIdx.y});
}

// Padded tile.
// Changed: one unused column more. Row i begins at bank i, and a column is spread over 32 banks.
// Remains: then, that all blocks at work wrote into the same memory partition (below). Now, 4 bytes a lane.
__global__ void transposePadded(const float* in, float* out, unsigned rows, unsigned cols, int repeats) {
  transposeThroughTile<SIDE, TILE + 1>(in, out, rows, cols, repeats, {blockIdx.x, blockIdx.y});
}

// Diagonal order, square form: for as many tiles in a row as in a column.
// Changed: neighbouring blocks take tiles along a diagonal. In row order they write below each other. With
//          2048 floats a row, that was one and the same of the GTX 280's 8 memory partitions for all.
// Remains: only squares. And today addresses are spread over the channels by a hash: there is no camping any
// more.
__global__ void transposeDiagonalSquare(const float* in, float* out, unsigned rows, unsigned cols, int repeats) {
  const unsigned col = (blockIdx.x + blockIdx.y) % gridDim.x;
  transposeThroughTile<SIDE, TILE + 1>(in, out, rows, cols, repeats, {col, blockIdx.x});
}

// Diagonal order, rectangular form.
// Changed: blocks are numbered through, down the columns of tiles, each of which begins one tile further to
//          the right than the one before. It works for any shape.
// Remains: two divisions, for a problem that is gone.
__global__ void transposeDiagonal(const float* in, float* out, unsigned rows, unsigned cols, int repeats) {
  const unsigned number = blockIdx.x + gridDim.x * blockIdx.y;
  const unsigned row = number % gridDim.y;
  const unsigned col = (number / gridDim.y + row) % gridDim.x;
  transposeThroughTile<SIDE, TILE + 1>(in, out, rows, cols, repeats, {col, row});
}

// Moves one tile. IS_FULL: all of the tile is inside the matrix, so bounds are not checked.
template <unsigned TILE, unsigned SIDE, bool IS_FULL>
__device__ void moveUnrolled(const float* in, float* out, unsigned rows, unsigned cols, float (&tile)[TILE][TILE + 1]) {
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned col = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
  const unsigned outCol = blockIdx.y * TILE + x, outRow = blockIdx.x * TILE + y;
  float values[TILE / SIDE] = {};
#pragma unroll
  for (unsigned i = 0; i < TILE; i += SIDE)
    if (IS_FULL || (row + i < rows && col < cols)) values[i / SIDE] = in[(row + i) * cols + col];
#pragma unroll
  for (unsigned i = 0; i < TILE; i += SIDE) tile[y + i][x] = values[i / SIDE];
  __syncthreads();
#pragma unroll
  for (unsigned i = 0; i < TILE; i += SIDE)
    if (IS_FULL || (outRow + i < cols && outCol < rows)) out[(outRow + i) * rows + outCol] = tile[x][y + i];
}

// Unrolled TILE x SIDE, both template parameters: a thread moves TILE / SIDE elements.
// Changed: (on the padded tile) all loads of a thread are issued before the first of them is waited for, and
//          full tiles skip the bounds checks. The best TILE and SIDE are found by trying.
// Remains: 4 bytes a lane in every access, and sectors that are written in halves where rows do not begin at
//          32-byte boundaries.
template <unsigned TILE, unsigned SIDE>
__global__ void __launch_bounds__(TILE* SIDE)
    transposeUnrolled(const float* in, float* out, unsigned rows, unsigned cols, int repeats) {
  __shared__ float tile[TILE][TILE + 1];
  const bool isFull = (blockIdx.x + 1) * TILE <= cols && (blockIdx.y + 1) * TILE <= rows;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    if (isFull)
      moveUnrolled<TILE, SIDE, true>(in, out, rows, cols, tile);
    else
      moveUnrolled<TILE, SIDE, false>(in, out, rows, cols, tile);
    __syncthreads();  // before the next repeat
  }
}

/// A matrix of rows x cols, neither of them 0, with fewer than 2^32 elements, and room for its transpose.
struct TransposeData {
  const float* in;
  float* out;
  unsigned rows;
  unsigned cols;
};

/// A step that transposes, or only copies.
struct TransposeStep : Step {
  bool copies = false;
};

using TransposeKernel = void (*)(const float*, float*, unsigned, unsigned, int);

// Launches a kernel whose blocks of width x height threads move width x width elements.
inline std::function<void(int)> tiled(const TransposeData& data, TransposeKernel kernel, unsigned width = TILE,
                                      unsigned height = SIDE) {
  gpuopt::LaunchConfig config;
  config.grid = dim3((data.cols + width - 1) / width, (data.rows + width - 1) / width);
  config.block = dim3(width, height);
  return [=](int repeats) { gpuopt::launch(kernel, config, data.in, data.out, data.rows, data.cols, repeats); };
}

/// The ladder for one matrix; steps that need a square are left out elsewhere. Figures of then: Ruetsch and
/// Micikevicius, "Optimizing Matrix Transpose in CUDA", NVIDIA 2009, 2048 x 2048 floats on a GTX 280 (142
/// GB/s).
inline std::vector<TransposeStep> transposeSteps(const TransposeData& data) {
  const bool isSquare = (data.rows + TILE - 1) / TILE == (data.cols + TILE - 1) / TILE;
  std::vector<TransposeStep> steps{
      {{"copy", "the goal", "it does not transpose", {96.9, 81.6}, tiled(data, copyTiles)}, true},
      {{"copy through shared",
        "the tile rests in shared memory, with a barrier",
        "it does not transpose",
        {80.9, 81.1},
        tiled(data, copyThroughShared)},
       true},
      {{"naive, reads rows",
        "the indices of the output are exchanged",
        "a store touches 32 lines",
        {2.2, 2.2},
        tiled(data, transposeReadingRows)}},
      {{"naive, reads columns",
        "the indices of the input are exchanged instead",
        "a load touches 32 lines",
        {},
        tiled(data, transposeReadingColumns)}},
      {{"shared tile, 32 x 32",
        "the turn is made in shared memory, one thread an element",
        "one load a thread; bank conflicts",
        {},
        tiled(data, transposeElementAThread, TILE, TILE)}},
      {{"shared tile, 32 x 8",
        "a thread moves four elements",
        "32 lanes in one bank",
        {16.5, 17.1},
        tiled(data, transposeShared)}},
      {{"padded tile",
        "one column more: no bank conflicts",
        "partition camping, then",
        {16.6, 17.2},
        tiled(data, transposePadded)}}};
  if (isSquare)
    steps.push_back({{"diagonal, square form",
                      "blocks go along diagonals",
                      "only squares",
                      {69.5, 78.3},
                      tiled(data, transposeDiagonalSquare)}});
  steps.push_back({{"diagonal, rectangular",
                    "the same for any shape",
                    "divisions, for a problem that is gone",
                    {},
                    tiled(data, transposeDiagonal)}});
  steps.push_back({{"unrolled 32 x 16",
                    "padded tile, row order; all loads first, no comparisons",
                    "two loads in flight a thread",
                    {},
                    tiled(data, transposeUnrolled<32, 16>, 32, 16)}});
  steps.push_back({{"unrolled 32 x 8",
                    "fewer threads, more elements each",
                    "four loads in flight a thread",
                    {},
                    tiled(data, transposeUnrolled<32, 8>, 32, 8)}});
  steps.push_back(
      {{"unrolled 32 x 4", "fewer still", "4 bytes a lane", {}, tiled(data, transposeUnrolled<32, 4>, 32, 4)}});
  steps.push_back({{"unrolled 64 x 8",
                    "a larger tile: longer runs in every row",
                    "4 bytes a lane",
                    {},
                    tiled(data, transposeUnrolled<64, 8>, 64, 8)}});
  steps.push_back({{"gpuopt::transpose",
                    "16-byte accesses, squares turned in registers, a kernel for each shape",
                    "memory itself",
                    {},
                    [=](int) { gpuopt::transpose(data.in, data.out, data.rows, data.cols); },
                    false}});
  return steps;
}

}  // namespace ladders
