/// \file
/// Transposition of matrices with few rows or few columns, vectors among them.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/transpose/copy.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/device/transpose/skinny.cuh>
#include <gpuopt/host/grid_config.cuh>
#include <gpuopt/host/launch.cuh>

#include <cstddef>
#include <cstdint>

GPUOPT_NAMESPACE_BEGIN

/// How narrow matrices are cut up. Pass a type derived from this one to change a value. `toRecords` says
/// that the long rows are in the input, `aligned` that all of them begin at multiples of 16 bytes (in
/// the output: of 32), `lines` how many there are. Measured on an H200, 2026-11-22, 256 MiB a side,
/// ratios to the best copy for elements of 1 to 16 bytes; the first for aligned lines, the second for
/// others:
///
///     k x N:  k = 2 to 8: 0.97 to 0.99, 0.96 to 0.98;  12, 16: 0.97 to 0.98, 0.95 to 0.96;
///             24 to 32: 0.96 to 0.97, 0.93 to 0.95
///     N x k:  k = 2 to 8: 0.96 to 0.99, 0.93 to 0.97;  12, 16: 0.95 to 0.97, 0.91 to 0.94;
///             24 to 32: 0.92 to 0.96, 0.88 to 0.92
///     1 x N and N x 1: 0.99 to 1.0
///
/// 24 lines of bytes have 0.03 to 0.04 less. Writes to so many lines at once are what binds N x k in DRAM: 60
/// trial kernels with other threads, tiles, orders of blocks, hints, bulk and asynchronous copies did not
/// change it by more than 0.02.
struct TransposeNarrowPolicy {
  static constexpr std::size_t maxLines = 32;           ///< rows or columns of what is narrow
  static constexpr std::size_t sharedBytes = 48 << 10;  ///< most that a block may take
  static constexpr int BLOCK = 512;                     ///< most threads of a block
  static constexpr int THREADS = 1536;                  ///< of a multiprocessor: 2048 would spill registers
  static constexpr int ITEMS = 4;                       ///< 16-byte loads in flight a thread
  static constexpr std::size_t threadBytes = 64;        ///< of a tile, for each thread

  /// Small blocks are best where lines are written aligned, as long as each gets 256 bytes: 1 to 3 % over 128
  /// threads, as much again over 512. Other lines cost the more the shorter their part in a tile is.
  static constexpr unsigned block(bool toRecords, bool aligned, unsigned lines) {
    if (toRecords) return aligned || lines < 16 ? 256 : 512;
    if (aligned) return lines <= 16 ? 64 : 128;
    return lines < 8 ? 128 : 512;
  }

  /// Neighbouring lanes that take neighbouring vectors of a line of elements of SIZE bytes, 8, 16 or 32.
  /// Whole 256 bytes at once are 3 % better for 16 lines and more. A whole warp with one line never meets in
  /// a bank, while bytes of several lines that are not aligned may do so four times over.
  template <std::size_t SIZE>
  static constexpr unsigned lanes(bool aligned) {
    return SIZE == 1 && !aligned ? 32 : 16;
  }
};

namespace detail {

template <class Problem>
bool linesAreInput(const Problem& problem) {
  return problem.rows <= problem.cols;
}

// Whether all lines begin where their vectors, or the sectors that they write, do.
template <class Layout, class Problem>
bool linesAligned(const Problem& problem) {
  if constexpr (!isWord<typename Layout::Line>)
    return true;
  else if constexpr (Layout::TO_RECORDS)
    return rowsAlignedTo(problem.in, problem.inLd, problem.batch, problem.inStride, 16);
  else
    return rowsAlignedTo(problem.out, problem.outLd, problem.batch, problem.outStride, 32);
}

// The number of records of a tile: lines of whole groups of vectors if so much fits, else of whole sectors.
template <class Layout>
unsigned narrowTile(std::size_t tileBytes, std::size_t groupBytes, const SkinnyShape& shape, bool oneMore) {
  constexpr std::size_t SIZE = Layout::LINE_ELEMENT;
  constexpr std::size_t SECTOR_ELEMENTS = 32 / greatestCommonDivisor(32, SIZE);
  const std::size_t most = tileBytes / (shape.lines * largerOf(SIZE, std::size_t{Layout::ELEMENT}));
  std::size_t unit = groupBytes / greatestCommonDivisor(groupBytes, SIZE);
  const bool groups = unit <= most;
  if (!groups) unit = SECTOR_ELEMENTS;
  const std::size_t units = clampTo(most / unit, std::size_t{1}, ceilDivide(shape.records, unit));
  // The vector that alignment costs shall not begin another group.
  return static_cast<unsigned>(units * unit - (oneMore && groups ? SECTOR_ELEMENTS : 0));
}

template <class Layout>
unsigned narrowMargin(std::size_t lines) {
  return Layout::MARGIN ? static_cast<unsigned>(
                              ceilDivide((Layout::LINE_ALIGNMENT + Layout::ELEMENT) * lines, 128) * 128)
                        : 0;
}

template <class Layout>
std::size_t narrowSharedBytes(const SkinnyShape& shape) {
  const std::size_t bytes = std::size_t{shape.tileRecords + shape.halo} * shape.lines * Layout::ELEMENT;
  return ceilDivide(bytes + Layout::ALIGNMENT + 2 * shape.margin, 128) * 128;
}

struct NarrowPlan {
  SkinnyShape shape;
  unsigned block;
  std::size_t sharedBytes;
};

template <class Policy, class Layout, class Problem>
NarrowPlan narrowPlan(const Problem& problem) {
  constexpr bool TO_RECORDS = Layout::TO_RECORDS;
  using Image = typename Layout::Image;
  const bool aligned = linesAligned<Layout>(problem);
  NarrowPlan plan;
  SkinnyShape& shape = plan.shape;
  shape.inBegin = reinterpret_cast<std::uintptr_t>(problem.in);
  shape.inEnd = reinterpret_cast<std::uintptr_t>(problem.in + (problem.batch - 1) * problem.inStride +
                                                 (problem.rows - 1) * problem.inLd + problem.cols);
  shape.records = TO_RECORDS ? problem.cols : problem.rows;
  shape.lines = static_cast<unsigned>(TO_RECORDS ? problem.rows : problem.cols);
  shape.dense = (TO_RECORDS ? problem.outLd : problem.inLd) == shape.lines;
  plan.block = Policy::block(TO_RECORDS, aligned, shape.lines);
  const unsigned lanes = Policy::template lanes<sizeof(Image)>(aligned);
  const bool oneMore = TO_RECORDS && !aligned;
  shape.tileRecords = narrowTile<Layout>(plan.block * Policy::threadBytes, lanes * 16, shape, oneMore);
  shape.halo =
      TO_RECORDS || aligned
          ? 0
          : static_cast<unsigned>(ceilDivide(32 - sizeof(typename Layout::Line), Layout::LINE_ELEMENT));
  shape.margin = narrowMargin<Layout>(shape.lines);
  shape.tiles = static_cast<unsigned>(ceilDivide(shape.records + shape.halo, shape.tileRecords));
  const std::size_t vectors = ceilDivide(shape.tileRecords * Layout::COUNT, Layout::PACK) +
                              (oneMore ? Layout::LINE_ALIGNMENT / 16 : 0);
  shape.vectors = static_cast<unsigned>(ceilDivide(vectors, lanes) * lanes * shape.lines);
  shape.laneBits = lanes == 8 ? 3 : lanes == 16 ? 4 : 5;
  shape.byLines = FixedShiftDivisor<18>(shape.lines);
  shape.swizzle = laneSwizzle<Layout>(isWord<Image> ? shape.lines * Layout::PACK * sizeof(Image) : 1);
  plan.sharedBytes = narrowSharedBytes<Layout>(shape);
  return plan;
}

template <class Policy = TransposeNarrowPolicy, class In, class Out, class Function>
bool narrowFits(const TransposeProblem<In, Out, Function>& problem) {
  if (smallerOf(problem.rows, problem.cols) > Policy::maxLines) return false;
  // Of shorter lines, more than the first and the last may have vectors that stick out of the input.
  if (linesAreInput(problem) && problem.rows > 1 && problem.inLd * sizeof(In) < 16) return false;
  using ToRecords = SkinnyLayout<Policy, true, In, Out, Function>;
  using ToLines = SkinnyLayout<Policy, false, In, Out, Function>;
  const NarrowPlan plan =
      linesAreInput(problem) ? narrowPlan<Policy, ToRecords>(problem) : narrowPlan<Policy, ToLines>(problem);
  return plan.sharedBytes <= Policy::sharedBytes;
}

template <class Policy, class Layout, class Problem>
void launchNarrow(const Problem& problem, cudaStream_t stream) {
  const NarrowPlan plan = narrowPlan<Policy, Layout>(problem);
  LaunchConfig config =
      gridConfig(static_cast<int>(plan.block), plan.shape.tiles * problem.batch, stream, "gpuopt::transpose");
  config.sharedBytes = plan.sharedBytes;
  launch(transposeSkinnyKernel<Layout, Problem>, config, problem, plan.shape);
}

template <class Policy = TransposeNarrowPolicy, class In, class Out, class Function>
void launchTransposeNarrow(const TransposeProblem<In, Out, Function>& problem, cudaStream_t stream) {
  if (isCopy(problem))
    launchCopy(problem, stream);
  else if (linesAreInput(problem))
    launchNarrow<Policy, SkinnyLayout<Policy, true, In, Out, Function>>(problem, stream);
  else
    launchNarrow<Policy, SkinnyLayout<Policy, false, In, Out, Function>>(problem, stream);
}

}  // namespace detail
GPUOPT_NAMESPACE_END
