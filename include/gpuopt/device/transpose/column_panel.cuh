/// \file
/// Transposition of dense matrices of which few would fit into shared memory: a block takes some columns.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/core/fast_divide.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/transpose/plan_sizes.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/device/transpose/smem.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/thread/async_copy.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// How the columns of a matrix are divided among blocks: in slabs of whole sectors of both sides, each of
// which is one run of the output.
struct ColumnPanelShape {
  unsigned rows;
  unsigned cols;
  unsigned panels;      // of a matrix
  unsigned groupCols;   // columns that are whole sectors
  unsigned groups;      // of a matrix
  unsigned rowVectors;  // of 16 bytes, of a row of the widest slab
  unsigned pitch;       // bytes from row to row in shared memory, modulo 32 as in the input
  unsigned swizzle;
  ShortDivisor byRows;
  ShortDivisor byRowVectors;
};

// Both arrays, and all rows of the input, begin at multiples of 16 bytes. A thread makes 16-byte vectors of
// the output.
template <class T>
GPUOPT_KERNEL void __launch_bounds__(panelThreads, RESIDENT_THREADS / panelThreads)
    transposeColumnPanelsKernel(const T* in, T* out, const ColumnPanelShape shape) {
  using Atom = TransposeAtom<T, T, Identity>;
  using Word = typename Atom::Source;
  constexpr unsigned SIZE = sizeof(T);
  constexpr unsigned COUNT = Atom::COUNT;
  constexpr unsigned WORDS = 16 / sizeof(Word);
  waitForPreviousKernel();
  const SwizzledBytes staged{&keepAddress(*dynamicShared<unsigned char>()),
                             {shape.swizzle, Swizzle::VECTORS}};
  const unsigned matrix = blockIdx.x / shape.panels;
  const unsigned slab = blockIdx.x - matrix * shape.panels;
  const auto beginOf = [&](unsigned number) {
    const unsigned col = number * shape.groups / shape.panels * shape.groupCols;
    return col < shape.cols ? col : shape.cols;
  };
  const unsigned first = beginOf(slab);
  const unsigned width = beginOf(slab + 1) - first;
  const std::size_t before = std::size_t{matrix} * shape.rows * shape.cols;

  const auto source = reinterpret_cast<const unsigned char*>(in + before + first);
  const unsigned origin = misalignment(source);
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < shape.rows * shape.rowVectors; i += panelThreads) {
    const unsigned row = shape.byRowVectors.divide(i);
    const unsigned offset = (i - row * shape.rowVectors) * 16;
    if (offset < width * SIZE)
      copyAsync16(staged.at(origin + row * shape.pitch + offset), source + row * shape.cols * SIZE + offset);
  }
  awaitAsyncCopies();
  __syncthreads();

  // Stores begin at a line, so that a warp's lie in whole ones.
  const auto results = reinterpret_cast<uint4*>(out + before + first * shape.rows);
  const int lead = static_cast<int>(reinterpret_cast<std::uintptr_t>(results) % 128 / 16);
  const int vectors = static_cast<int>(width * shape.rows * SIZE / 16);
  for (int i = static_cast<int>(threadIdx.x) - lead; i < vectors; i += static_cast<int>(panelThreads))
    if (i >= 0) {
      const unsigned word = static_cast<unsigned>(i) * WORDS;
      const unsigned element = word / COUNT;
      const unsigned col = shape.byRows.divide(element);
      unsigned part = word % COUNT;
      unsigned row = element - col * shape.rows;
      unsigned place = origin + row * shape.pitch + col * SIZE + part * static_cast<unsigned>(sizeof(Word));
      Word words[WORDS];
#pragma unroll
      for (unsigned k = 0; k < WORDS; ++k) {
        words[k] = *reinterpret_cast<const Word*>(staged.at(place));
        if (k + 1 == WORDS) break;
        place += static_cast<unsigned>(sizeof(Word));
        if (++part < COUNT) continue;
        part = 0;
        place += shape.pitch - SIZE;
        if (++row < shape.rows) continue;
        row = 0;
        place -= shape.rows * shape.pitch - SIZE;
      }
      uint4 vector;
      __builtin_memcpy(&vector, words, 16);
      results[i] = vector;
    }
}

// The pitch and the swizzle keep bank conflicts rare. The best pitch would save at most an eighth of the
// reads.
template <class T>
void spreadPanelRows(ColumnPanelShape& shape, unsigned rowBytes) {
  constexpr bool VECTORS = sizeof(T) == alignof(T) && sizeof(T) == 16;
  constexpr unsigned NONE = 31;
  const bool odd = shape.cols * sizeof(T) % 32 != 0;
  shape.pitch = rowBytes + ((odd ? 16 : 0) + 32 - rowBytes % 32) % 32;
  shape.swizzle = 3;
  if (VECTORS && odd) {
    shape.swizzle = NONE;
  } else if (VECTORS) {
    shape.pitch = static_cast<unsigned>(roundUp(shape.pitch, 128));
    shape.swizzle = swizzleFor(shape.pitch);
  } else if (shape.pitch % 64 == 0) {
    shape.pitch += 32;
  }
}

template <class Problem>
ColumnPanelShape columnPanelShape(const Problem& problem, const PanelSizes& sizes) {
  ColumnPanelShape shape{};
  shape.rows = static_cast<unsigned>(problem.rows);
  shape.cols = static_cast<unsigned>(problem.cols);
  shape.panels = sizes.panels;
  shape.groupCols = sizes.groupCols;
  shape.groups = sizes.groups;
  shape.rowVectors = sizes.widestBytes / 16;
  spreadPanelRows<typename Problem::Input>(shape, sizes.widestBytes);
  shape.byRows = ShortDivisor(shape.rows);
  shape.byRowVectors = ShortDivisor(shape.rowVectors);
  return shape;
}

}  // namespace detail
GPUOPT_NAMESPACE_END
