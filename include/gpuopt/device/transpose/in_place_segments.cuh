/// \file
/// The segments of a rectangular matrix that is transposed in place: where the passes put them.
/// docs/transpose_in_place.md has the figures.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cuda_runtime.h>

#include <cstddef>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// A matrix of `length` x `width` elements, length >= width, is cut into panels of `height` rows. A column of
// a panel is a segment: in the transposed matrix its elements are contiguous. If every panel is transposed,
// what remains is to transpose a matrix of panels x width segments in place. Catanzaro, Keller, Garland, "A
// decomposition for in-place matrix transposition" (PPoPP 2014), do that in three steps: rotate columns,
// shuffle rows, shuffle columns.
//
// - The row shuffle costs nothing: transposing a panel writes each segment to its shuffled column.
// - A column has few rows, so a block can shuffle a group of neighbouring ones in shared memory: as many as
//   the greatest common divisor of both sides. Within a group segments may change columns, which makes the
//   rotation unnecessary.
// - A transposed panel overwrites the panel before it. The first one waits in scratch memory.
//
// So every element is read and written twice. The transposition back takes the same steps in reverse.
//
// The first rows, those that make no full panel, are the remainder. They are saved beforehand, and each row
// of the result begins with a gap for them. As panels begin after the remainder, the segments of a panel
// never reach its own rows or later ones.

// Neighbouring columns of a panel whose segments are one row of the result apart.
struct ColumnRun {
  std::size_t firstColumn;
  std::size_t count;
  std::size_t offset;  // of the first segment
};

// The matrix of panels x columns segments.
struct SegmentGrid {
  unsigned panels;
  unsigned columns;
  unsigned group;   // neighbouring columns that are shuffled together
  unsigned groups;  // columns / group
  std::size_t height;
  std::size_t gap;  // elements before the segments of each row of the result

  // The row of a panel's segments before the column shuffle: that of the panel that it has overwritten.
  __host__ __device__ unsigned rowOf(unsigned panel) const { return panel == 0 ? panels - 1 : panel - 1; }

  // The first element of segment `index`, counted in the order of the result.
  __device__ std::size_t offsetOf(std::size_t index) const {
    return index * height + (index / panels + 1) * gap;
  }

  // The row shuffle puts column turn * groups + i of a panel into column
  // (i * panels + panel) % columns - panel % group + turn, which is in the group of its final column. The
  // modulus cuts the columns of a turn into runs, `panels` in all turns.
  __device__ ColumnRun run(unsigned panel, unsigned number) const {
    const unsigned runsPerTurn = panels / group;
    const std::size_t turn = number / runsPerTurn;
    const std::size_t wrapped = std::size_t{number % runsPerTurn} * columns;
    // The first i with i * panels + panel >= bound.
    const auto firstFrom = [&](std::size_t bound) {
      return bound <= panel ? 0 : (bound - panel + panels - 1) / panels;
    };
    const std::size_t first = firstFrom(wrapped);
    const std::size_t column = first * panels + panel - wrapped - panel % group + turn;
    return {turn * groups + first, firstFrom(wrapped + columns) - first,
            offsetOf(std::size_t{rowOf(panel)} * columns + column)};
  }
};

}  // namespace detail
GPUOPT_NAMESPACE_END
