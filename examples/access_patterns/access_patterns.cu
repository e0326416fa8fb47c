/// \file
/// <gpuopt/access.cuh>: proves the accesses of your own kernel at compile time. Here: hashes of short rows,
/// one row per thread, through a tile in shared memory.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"

#include <gpuopt/access.cuh>
#include <gpuopt/launch.cuh>

#include <cstdio>
#include <vector>

constexpr unsigned SIDE = 32;  // rows and columns of a tile, and the lanes of a warp

// The index of element (row, col) of a tile, in two layouts.
struct Plain {
  __host__ __device__ static constexpr unsigned index(unsigned row, unsigned col) { return row * SIDE + col; }
};
struct Swizzled {  // XORs the row into the column
  __host__ __device__ static constexpr unsigned index(unsigned row, unsigned col) { return row * SIDE + (col ^ row); }
};

// The worst bank conflict of a warp that writes the rows of a tile and reads its columns.
template <class Layout>
constexpr unsigned worstDegree() {
  unsigned worst = 0;
  for (unsigned i = 0; i < SIDE; ++i) {
    const auto row = gpuopt::sharedAccess<unsigned>([i](unsigned lane) { return Layout::index(i, lane); });
    const auto column = gpuopt::sharedAccess<unsigned>([i](unsigned lane) { return Layout::index(lane, i); });
    if (row.degree > worst) worst = row.degree;
    if (column.degree > worst) worst = column.degree;
  }
  return worst;
}
static_assert(worstDegree<Plain>() == 32, "every lane of a warp waits for all others");
static_assert(worstDegree<Swizzled>() == 1, "no lane waits");

// FNV-1a, for words.
__host__ __device__ unsigned hashed(unsigned hash, unsigned word) { return (hash ^ word) * 16777619u; }

// A warp takes 32 rows. Without the tile, each lane would read its own row, and lanes next to each other
// would read words that are 32 apart: one of the eight in each sector of memory that moves.
__global__ void hashRows(const unsigned* in, unsigned* hashes) {
  __shared__ unsigned tile[SIDE * SIDE];
  const unsigned lane = threadIdx.x;
  const unsigned first = blockIdx.x * SIDE;
  for (unsigned row = 0; row < SIDE; ++row) tile[Swizzled::index(row, lane)] = in[(first + row) * SIDE + lane];
  __syncwarp();
  unsigned hash = 0;
  for (unsigned col = 0; col < SIDE; ++col) hash = hashed(hash, tile[Swizzled::index(lane, col)]);
  hashes[first + lane] = hash;
}

bool run() {
  constexpr auto own = gpuopt::globalAccess<unsigned>([](unsigned lane) { return lane * SIDE; });
  constexpr auto inOrder = gpuopt::globalAccess<unsigned>([](unsigned lane) { return lane; });
  static_assert(own.utilisation() == 1.0 / 8 && inOrder.utilisation() == 1);
  std::printf("a row a lane: %.1f %% of what moves is used; in order: %.0f %%\n", 100 * own.utilisation(),
              100 * inOrder.utilisation());
  std::printf("worst bank conflict: plain %u, swizzled %u\n", worstDegree<Plain>(), worstDegree<Swizzled>());

  const unsigned tiles = 50, rows = tiles * SIDE;
  std::vector<unsigned> words(rows * SIDE), expected(rows);
  for (unsigned i = 0; i < rows * SIDE; ++i) {
    words[i] = i * 2654435761u;
    expected[i / SIDE] = hashed(expected[i / SIDE], words[i]);
  }
  const DeviceArray<unsigned> in(words), hashes(rows);
  gpuopt::LaunchConfig config;
  config.grid = dim3(tiles);
  config.block = dim3(SIDE);
  gpuopt::launch(hashRows, config, in.data(), hashes.data());
  const bool right = hashes.toHost() == expected;
  std::printf("hashes of %u rows: %s\n", rows, right ? "ok" : "WRONG");
  return right;
}

int main() { return exitStatusOf("access_patterns", run); }
