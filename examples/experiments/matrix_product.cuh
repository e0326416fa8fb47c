/// \file
/// C = A * B, step by step. All matrices are dense and row-major, except B where it is said to be
/// column-major; A has m x k elements, B has k x n, C has m x n.
// SPDX-License-Identifier: MIT
#pragma once

#include "grid.cuh"
#include "matrix_product_registers.cuh"

#include <cstddef>
#include <vector>

namespace experiments {

inline constexpr unsigned productTile = 32;  ///< side of a block's part of C: a warp takes one of its rows
inline constexpr unsigned coarseFactor = 4;

/// Step 1. One thread an element, everything from global memory. A warp reads one word of A, 32 times the
/// same; each element of A and B is read by many threads, each for itself.
__global__ void productNaive(const float* a, const float* b, float* c, ProductSize size) {
  const unsigned row = blockIdx.y * productTile + threadIdx.y;
  const unsigned column = blockIdx.x * productTile + threadIdx.x;
  if (row >= size.m || column >= size.n) return;
  float sum = 0;
  for (unsigned k = 0; k < size.k; ++k) sum += a[std::size_t{row} * size.k + k] * b[std::size_t{k} * size.n + column];
  c[std::size_t{row} * size.n + column] = sum;
}

/// Step 2. New: a tile of A is loaded once, coalesced, and read from shared memory by all who need it.
/// Left: each warp of the block still loads the same rows of B.
__global__ void productTileOfA(const float* a, const float* b, float* c, ProductSize size) {
  __shared__ float tileOfA[productTile][productTile];
  const unsigned row = blockIdx.y * productTile + threadIdx.y;
  const unsigned column = blockIdx.x * productTile + threadIdx.x;
  float sum = 0;
  for (unsigned first = 0; first < size.k; first += productTile) {
    tileOfA[threadIdx.y][threadIdx.x] = elementOr0(a, size.m, size.k, row, first + threadIdx.x);
    __syncthreads();
    for (unsigned k = 0; k < productTile; ++k)
      sum += tileOfA[threadIdx.y][k] * elementOr0(b, size.k, size.n, first + k, column);
    __syncthreads();
  }
  if (row < size.m && column < size.n) c[std::size_t{row} * size.n + column] = sum;
}

/// How the tile of B gets into shared memory.
enum class LoadOfB {
  rowMajor,                  ///< B is row-major: lanes along its rows
  columnMajorUncoalesced,    ///< B is column-major, and lanes load across its columns, n * k floats apart
  columnMajorCornerTurning,  ///< B is column-major, and lanes load along its columns
};

/// tile[k][column]. Corner turning: lanes load along the columns, which are contiguous, and store across the
/// tile, whose rows are padded against bank conflicts.
template <LoadOfB LOAD>
__device__ void loadTileOfB(float (&tile)[productTile][productTile + 1], const float* b, ProductSize size,
                            unsigned firstK, unsigned firstColumn) {
  const unsigned x = threadIdx.x, y = threadIdx.y;
  if constexpr (LOAD == LoadOfB::rowMajor)
    tile[y][x] = elementOr0(b, size.k, size.n, firstK + y, firstColumn + x);
  else if constexpr (LOAD == LoadOfB::columnMajorUncoalesced)
    tile[y][x] = elementOr0(b, size.n, size.k, firstColumn + x, firstK + y);
  else
    tile[x][y] = elementOr0(b, size.n, size.k, firstColumn + y, firstK + x);
}

/// Step 3. New: a tile of B as well. Every element is loaded once a block, and used productTile times. Left:
/// two loads from shared memory for each multiplication.
template <LoadOfB LOAD>
__global__ void productTiles(const float* a, const float* b, float* c, ProductSize size) {
  __shared__ float tileOfA[productTile][productTile];
  __shared__ float tileOfB[productTile][productTile + 1];
  const unsigned row = blockIdx.y * productTile + threadIdx.y;
  const unsigned column = blockIdx.x * productTile + threadIdx.x;
  float sum = 0;
  for (unsigned first = 0; first < size.k; first += productTile) {
    tileOfA[threadIdx.y][threadIdx.x] = elementOr0(a, size.m, size.k, row, first + threadIdx.x);
    loadTileOfB<LOAD>(tileOfB, b, size, first, blockIdx.x * productTile);
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < productTile; ++k) sum += tileOfA[threadIdx.y][k] * tileOfB[k][threadIdx.x];
    __syncthreads();
  }
  if (row < size.m && column < size.n) c[std::size_t{row} * size.n + column] = sum;
}

/// Step 4. New: a thread computes FACTOR elements of its row, productTile columns apart. The tile of A
/// is loaded once for all of them, and so is each of its elements from shared memory.
template <unsigned FACTOR>
__global__ void productCoarsened(const float* a, const float* b, float* c, ProductSize size) {
  __shared__ float tileOfA[productTile][productTile];
  __shared__ float tilesOfB[FACTOR][productTile][productTile + 1];
  const unsigned row = blockIdx.y * productTile + threadIdx.y;
  const unsigned firstColumn = blockIdx.x * productTile * FACTOR;
  float sums[FACTOR] = {};
  for (unsigned first = 0; first < size.k; first += productTile) {
    tileOfA[threadIdx.y][threadIdx.x] = elementOr0(a, size.m, size.k, row, first + threadIdx.x);
#pragma unroll
    for (unsigned part = 0; part < FACTOR; ++part)
      loadTileOfB<LoadOfB::rowMajor>(tilesOfB[part], b, size, first, firstColumn + part * productTile);
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < productTile; ++k) {
      const float element = tileOfA[threadIdx.y][k];
#pragma unroll
      for (unsigned part = 0; part < FACTOR; ++part) sums[part] += element * tilesOfB[part][k][threadIdx.x];
    }
    __syncthreads();
  }
#pragma unroll
  for (unsigned part = 0; part < FACTOR; ++part) {
    const unsigned column = firstColumn + part * productTile + threadIdx.x;
    if (row < size.m && column < size.n) c[std::size_t{row} * size.n + column] = sums[part];
  }
}

using ProductKernel = void (*)(const float*, const float*, float*, ProductSize);

/// A step, and how much of C a block of it computes.
struct ProductStep {
  const char* name;
  ProductKernel kernel;
  unsigned columns = productTile;
  bool columnMajor = false;  ///< b holds B's columns one after another
  unsigned rows = productTile;
  unsigned threads = productTile * productTile;
  ProductKernel fullTiles = nullptr;  ///< instead, where all tiles are full
};

/// The step's kernel, or where its checks are left out two: for tiles at the edges, and for full ones.
template <RegisterStep STEP>
constexpr ProductStep registerStep(const char* name) {
  constexpr bool HAS_TWO = STEP >= RegisterStep::fullTiles;
  constexpr ProductKernel CHECKED = productRegisters < HAS_TWO ? RegisterStep::doubleBuffered : STEP > ;
  return {name, CHECKED, largeTile, false, largeTile, largeThreads, HAS_TWO ? productRegisters<STEP> : nullptr};
}

inline constexpr ProductStep productSteps[] = {
    {"naive", productNaive},
    {"tile of A", productTileOfA},
    {"tiles of A and B", productTiles<LoadOfB::rowMajor>},
    {"coarsened", productCoarsened<coarseFactor>, productTile* coarseFactor},
    {"B by columns, uncoalesced", productTiles<LoadOfB::columnMajorUncoalesced>, productTile, true},
    {"B by columns, corner turning", productTiles<LoadOfB::columnMajorCornerTurning>, productTile, true},
    registerStep<RegisterStep::tiles>("8 x 8 in registers"),
    registerStep<RegisterStep::vectors>("and vectors"),
    registerStep<RegisterStep::doubleBuffered>("and double buffering"),
    registerStep<RegisterStep::fullTiles>("and no checks for full tiles"),
    registerStep<RegisterStep::warpTiles>("and warp tiles"),
};

inline void launchProduct(const ProductStep& step, const float* a, const float* b, float* c, ProductSize size) {
  gpuopt::LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>(ceilDivide(size.n, step.columns)),
                     static_cast<unsigned>(ceilDivide(size.m, step.rows)));
  const bool isSquare = step.threads == productTile * productTile;
  config.block = isSquare ? dim3(productTile, productTile) : dim3(step.threads);
  const bool isFull = size.m % largeTile == 0 && size.n % largeTile == 0 && size.k % largeDepth == 0;
  gpuopt::launch(step.fullTiles != nullptr && isFull ? step.fullTiles : step.kernel, config, a, b, c, size);
}

/// The same on the host, exact where all sums of products are whole numbers below 2^24.
inline std::vector<float> productOnHost(const std::vector<float>& a, const std::vector<float>& b, ProductSize size) {
  std::vector<float> c(std::size_t{size.m} * size.n, 0);
  for (std::size_t i = 0; i < size.m; ++i)
    for (std::size_t k = 0; k < size.k; ++k)
      for (std::size_t j = 0; j < size.n; ++j) c[i * size.n + j] += a[i * size.k + k] * b[k * size.n + j];
  return c;
}

/// B with its columns one after another.
inline std::vector<float> columnMajor(const std::vector<float>& b, ProductSize size) {
  std::vector<float> columns(b.size());
  for (std::size_t k = 0; k < size.k; ++k)
    for (std::size_t j = 0; j < size.n; ++j) columns[j * size.k + k] = b[k * size.n + j];
  return columns;
}

}  // namespace experiments
