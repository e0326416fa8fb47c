/// \file
/// How a rectangular matrix that is transposed in place is cut into panels. Host code only.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/transpose/in_place_segments.cuh>
#include <gpuopt/device/transpose/in_place_tuning.cuh>
#include <gpuopt/host/grid_config.cuh>

#include <cstddef>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

struct PanelPlan {
  std::size_t panels;
  std::size_t height;     // rows of a panel
  std::size_t remainder;  // rows that are in no panel

  std::size_t panelRows() const { return panels * height; }
};

// If one block can shuffle all segments, the matrix is flat: all columns are one group, and a panel is
// transposed without a row shuffle.
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

// The first number of panels from `least` on that leaves a small remainder; none if the matrix is flat,
// because that costs another pass. Segments consist of 16-byte vectors if the rows of the result do, too.
inline PanelPlan planPanels(std::size_t length, std::size_t width, std::size_t size, std::size_t least) {
  const bool flat = isFlat(least, width);
  const std::size_t multiple = flat || length * size % 16 == 0 ? 16 / greatestCommonDivisor(16, size) : 1;
  const std::size_t tolerated = flat ? 0 : length / toleratedRemainderFraction;
  PanelPlan best{0, 0, length};
  for (std::size_t panels = least; panels <= maxPanels && best.remainder > tolerated; ++panels) {
    if (panels * columnGroup(panels, width) > maxGroupSegments || isFlat(panels, width) != flat) continue;
    const std::size_t most = length / panels;
    const bool isExact = flat && most * panels == length && most * size % 4 == 0;
    const std::size_t height = isExact || most < multiple ? most : most / multiple * multiple;
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

}  // namespace detail
GPUOPT_NAMESPACE_END
