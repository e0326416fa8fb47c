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
  TileOrder order{1, 1};  // of a square
  PanelPlan panels{};     // of a rectangle
};
template <>
inline constexpr bool isPlan<InPlacePlan> = true;

// Rows and columns of a square.
template <class Tuning>
InPlacePlan planSquareInPlace(const InPlaceRequest& r) {
  const bool areVectors = r.movesByVectors && r.rowAlignment >= 16;
  const bool sharesNoSector = areVectors && r.elementBytes >= Tuning::minBankOrderSize && r.rowAlignment >= sectorBytes;
  return {areVectors ? InPlaceAlgorithm::vectorPairs : InPlaceAlgorithm::wordPairs,
          areVectors         ? "rows begin at 16-byte boundaries"
          : r.movesByVectors ? "rows do not begin at 16-byte boundaries"
                             : "elements do not fill 16-byte vectors",
          r,
          sharesNoSector ? Tuning::bankOrder : Tuning::sectorOrder,
          {}};
}

template <class Tuning>
InPlacePlan planRectangleInPlace(const InPlaceRequest& r) {
  if (r.rows * r.cols * r.elementBytes <= Tuning::scratchBytes)
    return {InPlaceAlgorithm::scratch, "the matrix fits into scratch memory", r, {1, 1}, {}};
  const std::size_t length = largerOf(r.rows, r.cols), width = smallerOf(r.rows, r.cols);
  const std::size_t least = minPanels<Tuning>(length, width, r.elementBytes);
  return {InPlaceAlgorithm::panels,
          "the matrix exceeds the scratch memory",
          r,
          {1, 1},
          planPanels(length, width, r.elementBytes, least)};
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
  return {rows, cols, batch, sizeof(E), alignment, movesByVectors<E>};
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
      kernel = "pairs of tiles by vectors";
      break;
    case InPlaceAlgorithm::wordPairs:
      kernel = "pairs of tiles by words";
      break;
    case InPlaceAlgorithm::scratch:
      kernel = "into scratch memory and back";
      break;
    case InPlaceAlgorithm::panels:
      kernel = message({plan.panels.panels, " panels of ", plan.panels.height, " lines, ", plan.panels.remainder,
                        " lines apart, then their columns"});
  }
  const std::size_t bytes = plan.request.batch * movedElements(plan) * plan.request.elementBytes;
  return inWords({kernel, plan.reason, 0, 0, bytes, bytes});
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
