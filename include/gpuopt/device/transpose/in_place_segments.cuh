/// \file
/// How a rectangular matrix that is transposed in place is cut into panels and segments, and where the passes put the
/// segments. docs/transpose_in_place.md has the figures.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/transpose/in_place_tuning.cuh>

#include <cuda_runtime.h>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// A matrix of `length` x `width` elements, length >= width, is cut into panels of `height` rows. A column of a panel is
// a segment: in the transposed matrix its elements are contiguous. Transposing a panel shuffles its segments among the
// columns and overwrites the panel before; the first panel waits in scratch memory. Then blocks permute the segments of
// each group of neighbouring columns in shared memory. Every element is read and written twice. After Catanzaro, Keller
// and Garland, "A decomposition for in-place matrix transposition" (PPoPP 2014); groups save its rotation.
//
// The first rows, those that make no full panel, are the remainder. They are saved beforehand, and each row of the
// result begins with a gap for them. As panels begin after the remainder, the segments of a panel never reach its own
// rows or later ones.

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
  __device__ std::size_t offsetOf(std::size_t index) const { return index * height + (index / panels + 1) * gap; }

  // The row shuffle puts column turn * groups + i of a panel into column (i * panels + panel) % columns - panel % group
  // + turn, which is in the group of its final column. The modulus cuts the columns of a turn into runs, `panels` in
  // all turns.
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

struct PanelPlan {
  std::size_t panels;
  std::size_t height;     // rows of a panel
  std::size_t remainder;  // rows that are in no panel
};

// If one block can shuffle all segments, the matrix is flat: all columns are one group, and a panel is transposed
// without a row shuffle.
inline bool isFlat(std::size_t panels, std::size_t width) { return panels * width <= maxGroupSegments; }

// Neighbouring columns that are shuffled together.
inline std::size_t columnGroup(std::size_t panels, std::size_t width) {
  return isFlat(panels, width) ? width : greatestCommonDivisor(panels, width);
}

// The fewest panels whose elements fit into the scratch memory.
template <class Tuning>
std::size_t minPanels(std::size_t length, std::size_t width, std::size_t size) {
  const std::size_t bytes = length * width * size;
  const std::size_t scratch = largerOf(Tuning::scratchBytes, ceilDivide(bytes, Tuning::scratchFraction));
  return smallerOf(length, ceilDivide(bytes, scratch));
}

// The first number of panels from minPanels on that leaves a small remainder; none if the matrix is flat, because that
// costs another pass. Segments consist of 16-byte vectors if the rows of the result do, too.
inline PanelPlan planPanels(std::size_t length, std::size_t width, std::size_t size, std::size_t minPanels) {
  const bool flat = isFlat(minPanels, width);
  const std::size_t multiple = flat || length * size % 16 == 0 ? 16 / greatestCommonDivisor(16, size) : 1;
  const std::size_t tolerated = flat ? 0 : length / toleratedRemainderFraction;
  PanelPlan best{0, 0, length};
  for (std::size_t panels = minPanels; panels <= maxPanels && best.remainder > tolerated; ++panels) {
    if (panels * columnGroup(panels, width) > maxGroupSegments || isFlat(panels, width) != flat) continue;
    const std::size_t maxHeight = length / panels;
    const bool isExact = flat && maxHeight * panels == length && maxHeight * size % 4 == 0;
    const std::size_t height = isExact || maxHeight < multiple ? maxHeight : maxHeight / multiple * multiple;
    const std::size_t remainder = length - panels * height;
    if (height > 0 && remainder < best.remainder) best = {panels, height, remainder};
  }
  return best;
}

inline SegmentGrid segmentGrid(const PanelPlan& plan, std::size_t width) {
  const std::size_t group = columnGroup(plan.panels, width);
  return {static_cast<unsigned>(plan.panels),
          static_cast<unsigned>(width),
          static_cast<unsigned>(group),
          static_cast<unsigned>(width / group),
          plan.height,
          isFlat(plan.panels, width) ? 0 : plan.remainder};
}

GPUOPT_DETAIL_END
