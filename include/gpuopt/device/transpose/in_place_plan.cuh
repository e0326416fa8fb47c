/// \file
/// How a matrix is transposed in place, and why: the only place that decides. Pure host code.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/tile_vector.cuh>
#include <gpuopt/core/explain.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/matrix_view.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/transpose/in_place_elements.cuh>
#include <gpuopt/device/transpose/in_place_pairs.cuh>
#include <gpuopt/device/transpose/in_place_segments.cuh>
#include <gpuopt/device/transpose/in_place_sizes.cuh>
#include <gpuopt/device/transpose/in_place_tuning.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/soa/equality.cuh>

#include <cstddef>
#include <cstdint>
#include <string>

GPUOPT_DETAIL_BEGIN

struct InPlaceRequest {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t batch = 1;
  std::size_t elementBytes = 1;
  unsigned rowAlignment = 1;  // the largest power of two, up to a sector, that divides the address of every row
  bool movesByVectors = false;
  unsigned addressAlignment = 16;          // the largest power of two up to 16 that divides the matrix's address
  unsigned elementAlignment = 1;           // of its type
  std::size_t sharedLimit = commonShared;  // bytes of shared memory that a block can have
};
template <>
inline constexpr bool isPlan<InPlaceRequest> = true;

enum class InPlaceAlgorithm {
  nothing,
  vectorPairs,  // a square: blocks exchange pairs of tiles by 16-byte vectors
  wordPairs,    // the same by words of any alignment
  scratch,      // a rectangle that is transposed into scratch memory, and copied back
  panels,       // a rectangle of panels, of which one fits into scratch memory
};

struct InPlacePlan {
  InPlaceAlgorithm algorithm = InPlaceAlgorithm::nothing;
  const char* reason = "the elements stay where they are";
  InPlaceRequest request{};
  TileOrder order{1, 1};         // of a square
  PanelPlan panels{};            // of a rectangle
  PairTileSizes tile{};          // of a square
  std::size_t blocks = 0;        // the same
  ColumnShuffleSizes shuffle{};  // of a rectangle of panels

  std::size_t length() const { return largerOf(request.rows, request.cols); }
  std::size_t width() const { return smallerOf(request.rows, request.cols); }
};
template <>
inline constexpr bool isPlan<InPlacePlan> = true;

// The tile, or a smaller one where the device gives a block less shared memory.
template <class Tuning>
PairTileSizes pairTileSizes(const InPlaceRequest& r, bool areVectors) {
  const auto fits = [&](const PairTileSizes& sizes) {
    return sizes.sharedBytes <= largerOf(r.sharedLimit, commonShared);
  };
  std::size_t maxBytes = Tuning::wordTileBytes;
  PairTileSizes sizes = areVectors ? vectorPairSizes<Tuning>(r.elementBytes) : wordPairSizes(r.elementBytes, maxBytes);
  while (!fits(sizes))
    sizes = areVectors ? PairTileSizes{sizes.side / 2, sizes.threads / 4, sizes.sharedBytes / 4}
                       : wordPairSizes(r.elementBytes, maxBytes /= 2);
  return sizes;
}

template <class Tuning>
InPlacePlan planSquareInPlace(const InPlaceRequest& r) {
  const bool areVectors = r.movesByVectors && r.rowAlignment >= 16;
  const bool sharesNoSector = areVectors && r.elementBytes >= Tuning::minBankOrderSize && r.rowAlignment >= sectorBytes;
  const TileOrder order = sharesNoSector ? Tuning::bankOrder : Tuning::sectorOrder;
  const PairTileSizes tile = pairTileSizes<Tuning>(r, areVectors);
  return {areVectors ? InPlaceAlgorithm::vectorPairs : InPlaceAlgorithm::wordPairs,
          areVectors         ? "rows begin at 16-byte boundaries"
          : r.movesByVectors ? "rows do not begin at 16-byte boundaries"
                             : "elements do not fill 16-byte vectors",
          r,
          order,
          {},
          tile,
          TileTriangle(r.rows, tile.side, order).blocks * r.batch};
}

// The alignment that all segments have in common, up to 16 bytes.
inline unsigned segmentAlignment(const InPlaceRequest& r, const SegmentGrid& grid) {
  const auto common = static_cast<unsigned>(
      powerOfTwoIn(r.addressAlignment | grid.height * r.elementBytes | grid.gap * r.elementBytes | 16));
  return common >= 16 ? 16 : common >= 4 ? 4 : smallerOf(r.elementAlignment, 4U);
}

template <class Tuning>
InPlacePlan planRectangleInPlace(const InPlaceRequest& r) {
  if (r.rows * r.cols * r.elementBytes <= Tuning::scratchBytes)
    return {InPlaceAlgorithm::scratch, "the matrix fits into scratch memory", r, {1, 1}, {}};
  InPlacePlan plan{InPlaceAlgorithm::panels, "the matrix exceeds the scratch memory", r};
  const std::size_t length = plan.length(), width = plan.width();
  plan.panels = planPanels(length, width, r.elementBytes, minPanels<Tuning>(length, width, r.elementBytes));
  const SegmentGrid grid = segmentGrid(plan.panels, width);
  plan.shuffle =
      columnShuffleSizes(grid, r.elementBytes, segmentAlignment(r, grid), Tuning::regionBytes, r.sharedLimit);
  return plan;
}

inline InPlacePlan planInPlace(const InPlaceRequest& request) {
  if (request.batch == 0 || request.rows == 0 || request.cols == 0 || request.rows == 1 || request.cols == 1) return {};
  return request.rows == request.cols ? planSquareInPlace<SquareTuningSm90>(request)
                                      : planRectangleInPlace<RectangleTuningSm90>(request);
}

// Whether 16-byte vectors consist of elements that are aligned to their size.
template <class E>
inline constexpr bool movesByVectors = fillsVectors<sizeof(E)> && alignof(E) == sizeof(E);

template <class E>
InPlaceRequest inPlaceRequest(const E* data, std::size_t rows, std::size_t cols, std::size_t ld, std::size_t batch,
                              std::size_t stride) {
  const unsigned alignment =
      rowAlignment(reinterpret_cast<std::uintptr_t>(data), ld * sizeof(E), batch, stride * sizeof(E));
  const bool isEmpty = rows == 0 || cols == 0 || batch == 0;  // needs no device
  const auto address = static_cast<unsigned>(powerOfTwoIn(reinterpret_cast<std::uintptr_t>(data) | 16));
  return {rows,      cols,       batch,
          sizeof(E), alignment,  movesByVectors<E>,
          address,   alignof(E), isEmpty ? commonShared : sharedLimit()};
}

// Elements that all passes over a matrix read. They write as many.
inline std::size_t movedElements(const InPlacePlan& plan) {
  const std::size_t area = plan.request.rows * plan.request.cols;
  if (plan.algorithm == InPlaceAlgorithm::scratch) return 2 * area;
  if (plan.algorithm != InPlaceAlgorithm::panels) return area;
  const std::size_t width = smallerOf(plan.request.rows, plan.request.cols), panel = plan.panels.height * width;
  const std::size_t dense = plan.panels.panels * panel, remainder = plan.panels.remainder * width;
  const bool movesRows = remainder > 0 && isFlat(plan.panels.panels, width);
  return (movesRows ? 4 : 2) * dense + panel + 2 * remainder;
}

inline std::string planInWords(const InPlacePlan& plan) {
  std::string kernel;
  switch (plan.algorithm) {
    case InPlaceAlgorithm::nothing:
      break;
    case InPlaceAlgorithm::vectorPairs:
      kernel = message({"vector pairs of tiles ", plan.tile.side, " x ", plan.tile.side});
      break;
    case InPlaceAlgorithm::wordPairs:
      kernel = message({"word pairs of tiles ", plan.tile.side, " x ", plan.tile.side});
      break;
    case InPlaceAlgorithm::scratch:
      kernel = "scratch memory, and back";
      break;
    case InPlaceAlgorithm::panels:
      kernel = message({plan.panels.panels, " panels of ", plan.panels.height, " lines, ", plan.panels.remainder,
                        " lines apart, then their columns by words of ", plan.shuffle.wordBytes, " bytes"});
  }
  const std::size_t bytes = plan.request.batch * movedElements(plan) * plan.request.elementBytes;
  return inWords({kernel, plan.reason, plan.blocks, plan.tile.threads, bytes, bytes});
}

// Addresses alone are looked at.
template <class T>
std::string explainInPlace(const MatrixView<T>& view) {
  InPlacePlan plan;
  withRawElements(view.data, [&](const auto* data) {
    plan = planInPlace(inPlaceRequest(data, view.rows, view.cols, view.ld, view.batch, view.batchStride));
  });
  return planInWords(plan);
}

GPUOPT_DETAIL_END
