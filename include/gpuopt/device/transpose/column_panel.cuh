/// \file
/// Dense matrices of 60 to 160 KiB: a block transposes a panel of neighbouring columns.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/transpose/byte_run.cuh>
#include <gpuopt/device/transpose/plan_sizes.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/thread/async_copy.cuh>

#include <cstddef>
#include <cstdint>

GPUOPT_DETAIL_BEGIN

// How the columns of a matrix are divided into panels. A panel starts and ends at sectors on both sides, and is
// contiguous in the output. A figure is in docs/transpose_kernels.md.
struct ColumnPanelArgs {
  unsigned rows;
  unsigned cols;
  unsigned panels;      // of a matrix
  unsigned groupCols;   // the fewest columns that fill sectors
  unsigned groups;      // of a matrix
  unsigned rowVectors;  // 16-byte vectors in a row of the widest panel
  unsigned pitch;       // bytes from row to row in shared memory; modulo 32 as in the input
  unsigned swizzle;
  ShortDivisor byRows;
  ShortDivisor byRowVectors;

  __device__ unsigned firstColumn(unsigned panel) const {
    const unsigned col = panel * groups / panels * groupCols;
    return col < cols ? col : cols;
  }
};

template <class T>
__device__ inline void loadPanel(const SwizzledBytes& shared, const T* in, unsigned width,
                                 const ColumnPanelArgs& args) {
  constexpr unsigned SIZE = sizeof(T);
  const auto source = reinterpret_cast<const unsigned char*>(in);
  const unsigned origin = misalignment(source);
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < args.rows * args.rowVectors; i += panelThreads) {
    const unsigned row = args.byRowVectors.divide(i);
    const unsigned offset = (i - row * args.rowVectors) * 16;
    if (offset < width * SIZE)
      copyAsync16(shared.at(origin + row * args.pitch + offset), source + row * args.cols * SIZE + offset);
  }
}

// Collects a vector of the output, from its first word on.
template <class T>
__device__ inline uint4 panelVector(const SwizzledBytes& shared, unsigned origin, unsigned firstWord,
                                    const ColumnPanelArgs& args) {
  using Atom = TransposeAtom<T, T, Identity>;
  using Word = typename Atom::Source;
  constexpr unsigned SIZE = sizeof(T);
  constexpr unsigned COUNT = Atom::COUNT;
  constexpr unsigned WORDS = 16 / sizeof(Word);
  const unsigned element = firstWord / COUNT;
  const unsigned col = args.byRows.divide(element);
  unsigned atom = firstWord % COUNT;
  unsigned row = element - col * args.rows;
  unsigned offset = origin + row * args.pitch + col * SIZE + atom * static_cast<unsigned>(sizeof(Word));
  Word words[WORDS];
#pragma unroll
  for (unsigned k = 0; k < WORDS; ++k) {
    words[k] = *reinterpret_cast<const Word*>(shared.at(offset));
    if (k + 1 == WORDS) break;
    offset += static_cast<unsigned>(sizeof(Word));
    if (++atom < COUNT) continue;
    atom = 0;
    offset += args.pitch - SIZE;
    if (++row < args.rows) continue;
    row = 0;
    offset -= args.rows * args.pitch - SIZE;
  }
  uint4 vector;
  __builtin_memcpy(&vector, words, 16);
  return vector;
}

// Both arrays and all rows of the input begin at 16-byte boundaries.
template <class T>
GPUOPT_KERNEL void __launch_bounds__(panelThreads, RESIDENT_THREADS / panelThreads)
    transposeColumnPanelsKernel(const T* in, T* out, const ColumnPanelArgs args) {
  constexpr unsigned WORDS = 16 / sizeof(typename TransposeAtom<T, T, Identity>::Source);
  waitForPreviousKernel();
  const SwizzledBytes shared{&keepAddress(*dynamicShared<unsigned char>()), {args.swizzle, Swizzle::VECTORS}};
  const unsigned matrix = blockIdx.x / args.panels;
  const unsigned panel = blockIdx.x - matrix * args.panels;
  const unsigned first = args.firstColumn(panel);
  const unsigned width = args.firstColumn(panel + 1) - first;
  const std::size_t origin = std::size_t{matrix} * args.rows * args.cols;
  const T* const source = in + origin + first;
  loadPanel(shared, source, width, args);
  awaitAsyncCopies();
  __syncthreads();

  // The first warp begins at a line of 128 bytes, so that every warp writes full lines.
  const auto results = reinterpret_cast<uint4*>(out + origin + first * args.rows);
  const int skipped = static_cast<int>(reinterpret_cast<std::uintptr_t>(results) % 128 / 16);
  const int vectors = static_cast<int>(width * args.rows * static_cast<unsigned>(sizeof(T)) / 16);
  for (int i = static_cast<int>(threadIdx.x) - skipped; i < vectors; i += static_cast<int>(panelThreads))
    if (i >= 0) results[i] = panelVector<T>(shared, misalignment(source), static_cast<unsigned>(i) * WORDS, args);
}

// The pitch and the swizzle keep bank conflicts rare. The best pitch would save at most an eighth of the reads.
template <class T>
void spreadPanelRows(ColumnPanelArgs& args, unsigned rowBytes) {
  constexpr bool VECTORS = sizeof(T) == alignof(T) && sizeof(T) == 16;
  constexpr unsigned NONE = 31;
  const bool odd = args.cols * sizeof(T) % 32 != 0;
  args.pitch = rowBytes + ((odd ? 16 : 0) + 32 - rowBytes % 32) % 32;
  args.swizzle = 3;
  if (VECTORS && odd) {
    args.swizzle = NONE;
  } else if (VECTORS) {
    args.pitch = static_cast<unsigned>(roundUp(args.pitch, 128));
    args.swizzle = swizzleFor(args.pitch);
  } else if (args.pitch % 64 == 0) {
    args.pitch += 32;
  }
}

template <class Problem>
ColumnPanelArgs columnPanelArgs(const Problem& problem, const PanelSizes& sizes) {
  const auto rows = static_cast<unsigned>(problem.rows);
  const unsigned rowVectors = sizes.widestBytes / 16;
  ColumnPanelArgs args{rows,
                       static_cast<unsigned>(problem.cols),
                       sizes.panels,
                       sizes.groupCols,
                       sizes.groups,
                       rowVectors,
                       0,
                       0,
                       ShortDivisor(rows),
                       ShortDivisor(rowVectors)};
  spreadPanelRows<typename Problem::Input>(args, sizes.widestBytes);
  return args;
}

GPUOPT_DETAIL_END
