/// \file
/// The kernel of gatherRows and scatterRows for rows that only small words divide: 16-byte stores to aligned addresses,
/// made of 16-byte loads and shifts.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/word.cuh>
#include <gpuopt/device/rows/indices.cuh>
#include <gpuopt/device/rows/tuning.cuh>
#include <gpuopt/device/rows/vectors.cuh>
#include <gpuopt/device/structs/gather.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/thread/vector.cuh>

#include <cstddef>
#include <cstdint>

GPUOPT_DETAIL_BEGIN

// 16 bytes from `shift` < 16 on, of two vectors that follow one another.
__device__ inline uint4 shiftedVector(const uint4& low, const uint4& high, unsigned shift) {
  unsigned w[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
  for (int i = 0; i < 6; ++i) w[i] = (shift & 8) != 0 ? w[i + 2] : w[i];
#pragma unroll
  for (int i = 0; i < 5; ++i) w[i] = (shift & 4) != 0 ? w[i + 1] : w[i];
  const unsigned bits = 8 * (shift % 4);
  return {__funnelshift_r(w[0], w[1], bits), __funnelshift_r(w[1], w[2], bits), __funnelshift_r(w[2], w[3], bits),
          __funnelshift_r(w[3], w[4], bits)};
}

// Sizes in bytes. The shape has the vectors of the output's rows.
template <class Index>
struct ShiftedRowsArgs {
  const unsigned char* in;
  unsigned char* out;
  const Index* indices;
  RowShape shape;
  std::size_t rowBytes;
  std::size_t inPitch;
  std::size_t outPitch;
};

// One vector of the output: where it begins in both rows, relative to the start, which may be before it.
struct ShiftedVector {
  const unsigned char* in;  // null: zeros
  unsigned char* out;       // null: nothing to do
  std::ptrdiff_t begin;

  __device__ unsigned shift() const { return reinterpret_cast<std::uintptr_t>(in + begin) % 16; }

  // Whether all that is loaded and stored is within the rows.
  __device__ bool isInside(std::size_t rowBytes) const {
    const std::ptrdiff_t first = begin - static_cast<std::ptrdiff_t>(shift());
    return begin >= 0 && first >= 0 && first + 32 <= static_cast<std::ptrdiff_t>(rowBytes);
  }
};

// The ends of rows, by words of WORD bytes.
template <std::size_t WORD>
__device__ inline void moveRowEnd(const ShiftedVector& vector, std::size_t rowBytes) {
  for (std::ptrdiff_t at = vector.begin; at < vector.begin + 16; at += static_cast<std::ptrdiff_t>(WORD)) {
    if (at < 0 || at >= static_cast<std::ptrdiff_t>(rowBytes)) continue;
    *reinterpret_cast<Word<WORD>*>(vector.out + at) =
        vector.in == nullptr ? Word<WORD>{} : *reinterpret_cast<const Word<WORD>*>(vector.in + at);
  }
}

// A thread makes LOADS vectors. Addresses and sizes are multiples of WORD.
template <std::size_t WORD, unsigned LOADS, Indexed SIDE, RowIndices INDICES, class Index>
GPUOPT_KERNEL void __launch_bounds__(moveRowsBlock, shiftedRowsBlocksPerSm)
    moveShiftedRowsKernel(const ShiftedRowsArgs<Index> args) {
  waitForPreviousKernel();
  constexpr unsigned TILE = moveRowsBlock * LOADS;
  const std::size_t begin = blockIdx.x * std::size_t{TILE};
  const std::size_t firstRow = args.shape.rowOf(begin);
  const std::size_t skipped = begin - firstRow * args.shape.cols;

  ShiftedVector vectors[LOADS];
#pragma unroll
  for (unsigned k = 0; k < LOADS; ++k) {
    const std::size_t element = skipped + k * moveRowsBlock + threadIdx.x;
    const std::size_t next = args.shape.nearRowOf(element, TILE);
    const std::size_t col = element - next * args.shape.cols, row = firstRow + next;
    const bool exists = row < args.shape.rows;
    const Index index = args.indices[exists ? row : 0];
    const bool isPadding = INDICES == RowIndices::padded && isNegative(index);
    const std::size_t inRow = SIDE == Indexed::in ? static_cast<std::size_t>(index) : row;
    const std::size_t outRow = SIDE == Indexed::out ? static_cast<std::size_t>(index) : row;
    vectors[k].in = exists && !isPadding ? args.in + inRow * args.inPitch : nullptr;
    vectors[k].out = exists && (SIDE == Indexed::in || !isPadding) ? args.out + outRow * args.outPitch : nullptr;
    vectors[k].begin = static_cast<std::ptrdiff_t>(16 * col) -
                       static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(vectors[k].out) % 16);
  }
  uint4 low[LOADS], high[LOADS];
#pragma unroll
  for (unsigned k = 0; k < LOADS; ++k) {
    low[k] = high[k] = uint4{0, 0, 0, 0};
    if (vectors[k].in == nullptr || !vectors[k].isInside(args.rowBytes)) continue;
    const unsigned char* const first = vectors[k].in + vectors[k].begin - vectors[k].shift();
    low[k] = loadVector<Caching::normal>(first);
    high[k] = loadVector<Caching::normal>(first + 16);
  }
#pragma unroll
  for (unsigned k = 0; k < LOADS; ++k) {
    if (vectors[k].out == nullptr) continue;
    if (vectors[k].in != nullptr && vectors[k].isInside(args.rowBytes))
      storeVector(vectors[k].out + vectors[k].begin, shiftedVector(low[k], high[k], vectors[k].shift()));
    else
      moveRowEnd<WORD>(vectors[k], args.rowBytes);
  }
}

GPUOPT_DETAIL_END
