/// \file
/// Tiles on their way to shared memory: through registers, or by asynchronous copies in several stages.
// SPDX-License-Identifier: MIT
#pragma once

#include "bulk_copy.cuh"
#include "grid.cuh"

#include <gpuopt/thread/async_copy.cuh>

#include <cstddef>
#include <vector>

namespace experiments {

inline constexpr unsigned tileBlock = 256;  ///< threads, and vectors of a tile

/// The vector that a thread takes from a tile: another thread has loaded it.
__device__ inline unsigned taken(unsigned thread) { return tileBlock - 1 - thread; }

/// out[i], for each of the grid's threads: the sum of what it takes from its block's tiles, every gridDim.x-th one. A
/// thread loads a vector into a register, and stores it into the tile.
__global__ void __launch_bounds__(tileBlock) sumTiles(const uint4* in, unsigned* out, std::size_t tiles) {
  __shared__ uint4 tile[tileBlock];
  unsigned sum = 0;
  for (std::size_t number = blockIdx.x; number < tiles; number += gridDim.x) {
    tile[threadIdx.x] = in[number * tileBlock + threadIdx.x];
    __syncthreads();
    sum += sumOf(tile[taken(threadIdx.x)]);
    __syncthreads();
  }
  out[globalThread()] = sum;
}

/// The same, and the next tile is on its way to registers before this one is used.
__global__ void __launch_bounds__(tileBlock) sumTilesAhead(const uint4* in, unsigned* out, std::size_t tiles) {
  __shared__ uint4 tile[tileBlock];
  uint4 next{};
  if (blockIdx.x < tiles) next = in[std::size_t{blockIdx.x} * tileBlock + threadIdx.x];
  unsigned sum = 0;
  for (std::size_t number = blockIdx.x; number < tiles; number += gridDim.x) {
    tile[threadIdx.x] = next;
    if (number + gridDim.x < tiles) next = in[(number + gridDim.x) * tileBlock + threadIdx.x];
    __syncthreads();
    sum += sumOf(tile[taken(threadIdx.x)]);
    __syncthreads();
  }
  out[globalThread()] = sum;
}

/// The same by asynchronous copies: STAGES - 1 tiles are on their way while one is used.
template <int STAGES>
__global__ void __launch_bounds__(tileBlock) sumTilesAsync(const uint4* in, unsigned* out, std::size_t tiles) {
  __shared__ uint4 stages[STAGES][tileBlock];
  const auto start = [&](std::size_t number, unsigned stage) {
    if (number < tiles) gpuopt::detail::copyAsync16(&stages[stage][threadIdx.x], in + number * tileBlock + threadIdx.x);
    gpuopt::detail::commitAsyncCopies();
  };
  for (unsigned stage = 0; stage + 1 < STAGES; ++stage) start(blockIdx.x + std::size_t{stage} * gridDim.x, stage);
  unsigned sum = 0, stage = 0;
  for (std::size_t number = blockIdx.x; number < tiles; number += gridDim.x) {
    start(number + std::size_t{STAGES - 1} * gridDim.x, (stage + STAGES - 1) % STAGES);
    gpuopt::detail::awaitAsyncCopies<STAGES - 1>();
    __syncthreads();
    sum += sumOf(stages[stage][taken(threadIdx.x)]);
    __syncthreads();
    stage = (stage + 1) % STAGES;
  }
  out[globalThread()] = sum;
}

/// The same by bulk copies: one thread asks for a tile, and the others wait at a barrier that counts bytes.
template <int STAGES>
__global__ void __launch_bounds__(tileBlock) sumTilesBulk(const uint4* in, unsigned* out, std::size_t tiles) {
  __shared__ __align__(128) uint4 stages[STAGES][tileBlock];
  __shared__ BulkBarrier barriers[STAGES];
  const auto start = [&](std::size_t number, unsigned stage) {
    if (threadIdx.x == 0 && number < tiles)
      copyBulk<tileBlock>(stages[stage], in + number * tileBlock, barriers[stage]);
  };
  if (threadIdx.x == 0)
    for (BulkBarrier& barrier : barriers) initialise(barrier);
  __syncthreads();
  for (unsigned stage = 0; stage + 1 < STAGES; ++stage) start(blockIdx.x + std::size_t{stage} * gridDim.x, stage);
  unsigned sum = 0, stage = 0, parity = 0;
  for (std::size_t number = blockIdx.x; number < tiles; number += gridDim.x) {
    start(number + std::size_t{STAGES - 1} * gridDim.x, (stage + STAGES - 1) % STAGES);
    awaitBulk(barriers[stage], parity);
    __syncthreads();
    sum += sumOf(stages[stage][taken(threadIdx.x)]);
    __syncthreads();
    stage = (stage + 1) % STAGES;
    if (stage == 0) parity ^= 1;
  }
  out[globalThread()] = sum;
}

using TileKernel = void (*)(const uint4*, unsigned*, std::size_t);

struct TileStep {
  const char* name;
  TileKernel kernel;
};

inline constexpr TileStep tileSteps[] = {{"through registers", sumTiles},
                                         {"through registers, one tile ahead", sumTilesAhead},
                                         {"asynchronous, 1 stage", sumTilesAsync<1>},
                                         {"asynchronous, 2 stages", sumTilesAsync<2>},
                                         {"asynchronous, 3 stages", sumTilesAsync<3>},
                                         {"asynchronous, 4 stages", sumTilesAsync<4>},
                                         {"asynchronous, 6 stages", sumTilesAsync<6>},
                                         {"in bulk, 2 stages", sumTilesBulk<2>},
                                         {"in bulk, 4 stages", sumTilesBulk<4>},
                                         {"in bulk, 6 stages", sumTilesBulk<6>}};

inline void launchTileStep(const TileStep& step, const uint4* in, unsigned* out, std::size_t tiles, unsigned blocks) {
  gpuopt::launch(step.kernel, gridFor(std::size_t{blocks} * tileBlock, tileBlock), in, out, tiles);
}

/// `in` holds the words of whole tiles.
inline std::vector<unsigned> tileSumsOnHost(const std::vector<unsigned>& in, unsigned blocks) {
  std::vector<unsigned> sums(std::size_t{blocks} * tileBlock, 0);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::size_t vector = i / 4 % tileBlock, block = i / 4 / tileBlock % blocks;
    sums[block * tileBlock + (tileBlock - 1 - vector)] += in[i];
  }
  return sums;
}

}  // namespace experiments
