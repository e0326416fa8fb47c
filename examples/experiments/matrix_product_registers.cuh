/// \file
/// The last steps of the matrix product: each thread computes 8 x 8 elements in registers, a block 128 x 128.
// SPDX-License-Identifier: MIT
#pragma once

#include "grid.cuh"

#include <cstddef>

namespace experiments {

struct ProductSize {
  unsigned m, n, k;
};

/// Element (row, column) of a matrix of rows x columns, and 0 outside it: so tiles at the edges need no care.
__device__ inline float elementOr0(const float* matrix, unsigned rows, unsigned columns, unsigned row,
                                   unsigned column) {
  return row < rows && column < columns ? matrix[std::size_t{row} * columns + column] : 0.0F;
}

/// How elements of the tiles are loaded.
enum class TileLoad {
  scalar,    ///< one by one, 0 outside of the matrix
  vector,    ///< by 16 bytes, 0 outside of the matrix
  unguarded  ///< by 16 bytes, and none is outside
};

/// Four elements of a row; in one access where rows begin at multiples of 16 bytes.
template <TileLoad LOAD>
__device__ float4 vectorOr0(const float* matrix, unsigned rows, unsigned columns, unsigned row, unsigned column) {
  if (LOAD == TileLoad::unguarded || (row < rows && column < columns && columns % 4 == 0))
    return *reinterpret_cast<const float4*>(matrix + std::size_t{row} * columns + column);
  return {elementOr0(matrix, rows, columns, row, column), elementOr0(matrix, rows, columns, row, column + 1),
          elementOr0(matrix, rows, columns, row, column + 2), elementOr0(matrix, rows, columns, row, column + 3)};
}

inline constexpr unsigned largeTile = 128, largeDepth = 16, largeThreads = 256;
inline constexpr unsigned largeRow = largeTile + 4;  ///< floats of a row in shared memory: aligned, and fewer conflicts

/// Steps 5 to 9; each does all that the ones before it do.
enum class RegisterStep { tiles, vectors, doubleBuffered, fullTiles, warpTiles };

/// Tiles of A, by columns, and of B. Step 5 reads them float by float.
struct LargeTiles {
  float a[largeDepth][largeRow], b[largeDepth][largeRow];
};

/// What a thread loads for the next tiles: 8 elements of A and 8 of B.
struct LargeLoads {
  float4 a[2], b[2];
};

template <TileLoad LOAD>
__device__ LargeLoads loadLarge(const float* a, const float* b, ProductSize size, unsigned row, unsigned column,
                                unsigned first) {
  LargeLoads loads;
  const unsigned thread = threadIdx.x;
#pragma unroll
  for (unsigned part = 0; part < 2; ++part) {
    if constexpr (LOAD != TileLoad::scalar) {
      loads.a[part] = vectorOr0<LOAD>(a, size.m, size.k, row + thread / 4 + 64 * part, first + thread % 4 * 4);
      loads.b[part] = vectorOr0<LOAD>(b, size.k, size.n, first + thread / 32 + 8 * part, column + thread % 32 * 4);
    } else {
      const auto ofA = [&](unsigned i) {
        return elementOr0(a, size.m, size.k, row + thread / 16 + 16 * (4 * part + i), first + thread % 16);
      };
      const auto ofB = [&](unsigned i) {
        return elementOr0(b, size.k, size.n, first + thread / 128 + 2 * (4 * part + i), column + thread % 128);
      };
      loads.a[part] = {ofA(0), ofA(1), ofA(2), ofA(3)};
      loads.b[part] = {ofB(0), ofB(1), ofB(2), ofB(3)};
    }
  }
  return loads;
}

/// Stores A's elements by columns: corner turning, so that a thread reads its 8 rows side by side.
template <TileLoad LOAD>
__device__ void storeLarge(LargeTiles& tiles, const LargeLoads& loads) {
  constexpr bool VECTORS = LOAD != TileLoad::scalar;
  const unsigned thread = threadIdx.x;
#pragma unroll
  for (unsigned part = 0; part < 2; ++part) {
    const float ofA[] = {loads.a[part].x, loads.a[part].y, loads.a[part].z, loads.a[part].w};
    const float ofB[] = {loads.b[part].x, loads.b[part].y, loads.b[part].z, loads.b[part].w};
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      if constexpr (VECTORS)
        tiles.a[thread % 4 * 4 + i][thread / 4 + 64 * part] = ofA[i];
      else
        tiles.a[thread % 16][thread / 16 + 16 * (4 * part + i)] = ofA[i];
      if constexpr (!VECTORS) tiles.b[thread / 128 + 2 * (4 * part + i)][thread % 128] = ofB[i];
    }
    if constexpr (VECTORS)
      *reinterpret_cast<float4*>(&tiles.b[thread / 32 + 8 * part][thread % 32 * 4]) = loads.b[part];
  }
}

/// Two times four neighbours of a row, 64 apart.
__device__ inline void readEight(const float (&row)[largeRow], unsigned first, float (&values)[8]) {
#pragma unroll
  for (unsigned half = 0; half < 2; ++half) {
    const float4 four = *reinterpret_cast<const float4*>(&row[first + 64 * half]);
    values[4 * half] = four.x;
    values[4 * half + 1] = four.y;
    values[4 * half + 2] = four.z;
    values[4 * half + 3] = four.w;
  }
}

/// Adds the products of the tiles' rows and columns: 64 multiply-adds for 16 floats from shared memory.
__device__ inline void multiplyLarge(const LargeTiles& tiles, unsigned y, unsigned x, float (&sums)[8][8]) {
#pragma unroll
  for (unsigned k = 0; k < largeDepth; ++k) {
    float a[8], b[8];
    readEight(tiles.a[k], 4 * y, a);
    readEight(tiles.b[k], 4 * x, b);
#pragma unroll
    for (unsigned i = 0; i < 8; ++i)
#pragma unroll
      for (unsigned j = 0; j < 8; ++j) sums[i][j] += a[i] * b[j];
  }
}

/// Writes a thread's 8 x 8 elements: four by four where no tile ends outside of C.
template <TileLoad LOAD>
__device__ void storeSums(float* c, ProductSize size, unsigned row, unsigned column, const float (&sums)[8][8]) {
#pragma unroll
  for (unsigned i = 0; i < 8; ++i)
#pragma unroll
    for (unsigned half = 0; half < 2; ++half) {
      const unsigned toRow = row + i % 4 + i / 4 * 64, toColumn = column + half * 64;
      const float* four = &sums[i][4 * half];
      float* const to = c + std::size_t{toRow} * size.n + toColumn;
      if constexpr (LOAD == TileLoad::unguarded) {
        *reinterpret_cast<float4*>(to) = {four[0], four[1], four[2], four[3]};
      } else {
#pragma unroll
        for (unsigned j = 0; j < 4; ++j)
          if (toRow < size.m && toColumn + j < size.n) to[j] = four[j];
      }
    }
}

/// Step 5: a thread computes 8 x 8 elements. Step 6: loads of 16 bytes. Step 7: two pairs of tiles, so that the next
/// one comes while this one is used, with one barrier instead of two. Step 8: no checks, where all tiles are full. Step
/// 9: the 32 threads of a warp compute a part of C that is 8 threads wide and 4 high, instead of 16 and 2.
template <RegisterStep STEP>
__global__ void __launch_bounds__(largeThreads, 2)
    productRegisters(const float* a, const float* b, float* c, ProductSize size) {
  constexpr TileLoad LOAD = STEP >= RegisterStep::fullTiles ? TileLoad::unguarded
                            : STEP >= RegisterStep::vectors ? TileLoad::vector
                                                            : TileLoad::scalar;
  constexpr bool DOUBLE = STEP >= RegisterStep::doubleBuffered;
  constexpr unsigned WIDE = STEP >= RegisterStep::warpTiles ? 8 : 16, ACROSS = 16 / WIDE;
  __shared__ __align__(16) LargeTiles tiles[DOUBLE ? 2 : 1];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned x = warp % ACROSS * WIDE + lane % WIDE, y = warp / ACROSS * (32 / WIDE) + lane / WIDE;
  const unsigned row = blockIdx.y * largeTile, column = blockIdx.x * largeTile;
  float sums[8][8] = {};
  storeLarge<LOAD>(tiles[0], loadLarge<LOAD>(a, b, size, row, column, 0));
  __syncthreads();
  unsigned now = 0;
  for (unsigned first = 0; first < size.k; first += largeDepth) {
    const bool isLast = first + largeDepth >= size.k;
    LargeLoads next;
    if (DOUBLE && !isLast) next = loadLarge<LOAD>(a, b, size, row, column, first + largeDepth);
    multiplyLarge(tiles[now], y, x, sums);
    if (isLast) break;
    if (!DOUBLE) __syncthreads();
    if (!DOUBLE) next = loadLarge<LOAD>(a, b, size, row, column, first + largeDepth);
    if (DOUBLE) now = 1 - now;
    storeLarge<LOAD>(tiles[now], next);
    __syncthreads();
  }
  storeSums<LOAD>(c, size, row + 4 * y, column + 4 * x, sums);
}

}  // namespace experiments
