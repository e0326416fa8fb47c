/// \file
/// Bank conflicts: strides and permutations of reads, and what cures the columns of a tile.
// SPDX-License-Identifier: MIT
#pragma once

#include "grid.cuh"

#include <cstddef>
#include <vector>

namespace experiments {

inline constexpr unsigned bankBlock = 256;
inline constexpr unsigned bankWords = 1024;  ///< elements of a table in shared memory

/// The elements that the lanes of a warp read: lane i reads index[i], and one further in each round.
struct LaneIndices {
  unsigned index[32];
};

constexpr LaneIndices strided(unsigned stride) {
  LaneIndices result{};
  for (unsigned lane = 0; lane < 32; ++lane) result.index[lane] = lane * stride % bankWords;
  return result;
}

/// 32 neighbours in another order: each lane has a bank of its own.
constexpr LaneIndices permuted() {
  LaneIndices result{};
  for (unsigned lane = 0; lane < 32; ++lane) result.index[lane] = (lane * 13 + 7) % 32;
  return result;
}

/// tid - tid % 2: each word for two lanes.
constexpr LaneIndices inPairs() {
  LaneIndices result{};
  for (unsigned lane = 0; lane < 32; ++lane) result.index[lane] = lane - lane % 2;
  return result;
}

/// tid + tid % 2 * 31: each odd lane reads another word of the bank of the lane before.
constexpr LaneIndices oddApart() {
  LaneIndices result{};
  for (unsigned lane = 0; lane < 32; ++lane) result.index[lane] = lane + lane % 2 * 31;
  return result;
}

/// All lanes read one word, which is broadcast.
constexpr LaneIndices broadcast() { return strided(0); }

/// out[thread]: the sum of what it reads in `rounds` reads of shared memory. All rounds have the same degree
/// of bank conflict, since moving all lanes by one bank moves their conflicts along.
template <class T>
__global__ void readBanks(const T* in, unsigned* out, LaneIndices lanes, unsigned rounds) {
  __shared__ T table[bankWords];
  for (unsigned i = threadIdx.x; i < bankWords; i += bankBlock) table[i] = in[i];
  __syncthreads();
  const unsigned first = lanes.index[threadIdx.x % 32];
  unsigned sum = 0;
#pragma unroll 8
  for (unsigned round = 0; round < rounds; ++round) sum += sumOf(table[(first + round) % bankWords]);
  out[globalThread()] = sum;
}

/// Blocks of bankBlock threads; out has as many elements.
template <class T>
void launchBanks(const T* in, unsigned* out, unsigned blocks, const LaneIndices& lanes, unsigned rounds) {
  gpuopt::launch(readBanks<T>, gridFor(blocks * bankBlock, bankBlock), in, out, lanes, rounds);
}

/// The same on the host, for elements of `parts` words.
inline std::vector<unsigned> banksOnHost(const std::vector<unsigned>& words, std::size_t parts, unsigned blocks,
                                         const LaneIndices& lanes, unsigned rounds) {
  std::vector<unsigned> out(std::size_t{blocks} * bankBlock, 0);
  for (std::size_t thread = 0; thread < out.size(); ++thread)
    for (unsigned round = 0; round < rounds; ++round)
      for (std::size_t part = 0; part < parts; ++part)
        out[thread] += words[(lanes.index[thread % 32] + round) % bankWords * parts + part];
  return out;
}

// -------------------------------------------------------------------------- the columns of a 32 x 32 tile

enum class TileLayout { plain, padded, swizzled };

/// The index of element (row, column) of the tile. Rows are 32 words apart, so a column is in one bank,
/// unless each row is padded by one word, or the row is XORed into the column.
template <TileLayout LAYOUT>
__host__ __device__ constexpr unsigned indexInTile(unsigned row, unsigned column) {
  switch (LAYOUT) {
    case TileLayout::padded:
      return 33 * row + column;
    case TileLayout::swizzled:
      return 32 * row + (column ^ row);
    default:
      return 32 * row + column;
  }
}

template <TileLayout LAYOUT>
inline constexpr unsigned tileWords = LAYOUT == TileLayout::padded ? 32 * 33 : 32 * 32;

/// Each warp transposes a tile of its own `rounds` times: written by rows, read by columns. After an odd
/// number of rounds out holds the transposed tiles.
template <TileLayout LAYOUT>
__global__ void __launch_bounds__(32) transposeTile(const unsigned* in, unsigned* out, unsigned rounds) {
  __shared__ unsigned tile[tileWords<LAYOUT>];
  const unsigned lane = threadIdx.x;
  in += std::size_t{1024} * blockIdx.x;
  out += std::size_t{1024} * blockIdx.x;
  unsigned column[32];
  for (unsigned row = 0; row < 32; ++row) column[row] = in[32 * row + lane];
  for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
    for (unsigned row = 0; row < 32; ++row) tile[indexInTile<LAYOUT>(row, lane)] = column[row];
    __syncwarp();
#pragma unroll
    for (unsigned row = 0; row < 32; ++row) column[row] = tile[indexInTile<LAYOUT>(lane, row)];
    __syncwarp();
  }
  for (unsigned row = 0; row < 32; ++row) out[32 * row + lane] = column[row];
}

template <TileLayout LAYOUT>
void launchTile(const unsigned* in, unsigned* out, unsigned tiles, unsigned rounds) {
  gpuopt::launch(transposeTile<LAYOUT>, gridFor(32 * tiles, 32), in, out, rounds);
}

inline std::vector<unsigned> tilesOnHost(const std::vector<unsigned>& in, unsigned rounds) {
  std::vector<unsigned> out(in);
  for (std::size_t i = 0; i < in.size() && rounds % 2 == 1; ++i)
    out[i] = in[i / 1024 * 1024 + i % 32 * 32 + i / 32 % 32];
  return out;
}

}  // namespace experiments
