/// \file
/// How a tile is stored in shared memory: its storage, and the swizzle that avoids bank conflicts.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>

#include <cuda_runtime.h>

GPUOPT_DETAIL_BEGIN

// Uninitialised storage of a tile, aligned for 16-byte vectors.
template <class Out, int ROWS, int COLS = ROWS>
struct TileStorage {
  alignas(alignof(Out) > 16 ? alignof(Out) : 16) unsigned char bytes[sizeof(Out) * ROWS * COLS];
};

// The swizzle of a tile that is stored column by column. A column has VECTORS vectors of VECTOR_BYTES bytes. A plain
// layout would give the vectors of a row the same banks; XORing the column's number into the vector's index spreads
// them. Neither access has a bank conflict: not the writes, where neighbouring threads write neighbouring squares of
// SQUARE columns, SQUARES of them side by side, nor the reads along a column. A figure is in
// docs/transpose_in_place.md.
template <unsigned VECTOR_BYTES, unsigned VECTORS, unsigned SQUARE, unsigned SQUARES>
struct SwizzledColumns {
  static constexpr unsigned LINE = 128 / VECTOR_BYTES;                  // vectors that span all banks
  static constexpr unsigned PERIOD = largerOf(SQUARE, LINE / VECTORS);  // columns with the same mask
  static constexpr unsigned SPREAD = largerOf(1U, LINE / SQUARES);

  // The index of a column's vector in shared memory.
  __host__ __device__ static constexpr unsigned index(unsigned column, unsigned vector) {
    const unsigned mask = column / PERIOD * SPREAD % LINE;
    return VECTORS < LINE ? (column * VECTORS + vector) ^ mask : column * VECTORS + (vector ^ mask);
  }
};

GPUOPT_DETAIL_END
