/// \file
/// The kernel that transposes matrices with few rows or few columns.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/device/transpose/plan_sizes.cuh>
#include <gpuopt/device/transpose/skinny_image.cuh>
#include <gpuopt/device/transpose/skinny_lines.cuh>
#include <gpuopt/grid/dependency.cuh>

#include <cstdint>

GPUOPT_DETAIL_BEGIN

template <class Layout, class Problem>
GPUOPT_KERNEL void __launch_bounds__(Layout::BLOCK, Layout::BLOCKS)
    transposeSkinnyKernel(const Problem problem, const SkinnyShape shape) {
  waitForPreviousKernel();
  const SkinnyRegion region = skinnyRegion(shape);
  if constexpr (Layout::TO_RECORDS) {
    const auto lines =
        skinnyLines<Layout>(problem.in, region.matrix * problem.inStride + region.first, problem.inLd, shape, region);
    const auto records =
        skinnyRecords<Layout>(problem.out, region.matrix * problem.outStride + region.first * problem.outLd,
                              problem.outLd, shape, region.count);
    loadLines<Layout>(lines, records, shape, problem.function);
    if constexpr (Layout::PACK > 1) loadLineEnds<Layout>(lines, records, shape, problem.function);
    __syncthreads();
    storeRecords<Layout>(records, shape);
  } else {
    const auto records = skinnyRecords<Layout>(
        problem.in, region.matrix * problem.inStride + region.first * problem.inLd, problem.inLd, shape, region.count);
    const auto lines = skinnyLines<Layout>(problem.out, region.matrix * problem.outStride + region.first, problem.outLd,
                                           shape, region);
    loadRecords<Layout>(records, shape);
    __syncthreads();
    storeLines<Layout>(lines, records, shape, problem.function);
  }
}

template <class Layout, class Problem>
SkinnyShape skinnyShape(const Problem& problem, const SkinnySizes& sizes) {
  using Image = typename Layout::Image;
  SkinnyShape shape;
  shape.inBegin = reinterpret_cast<std::uintptr_t>(problem.in);
  shape.inEnd = reinterpret_cast<std::uintptr_t>(problem.in + (problem.batch - 1) * problem.inStride +
                                                 (problem.rows - 1) * problem.inLd + problem.cols);
  shape.records = sizes.records;
  shape.lines = sizes.lines;
  shape.tileRecords = sizes.tile;
  shape.tiles = static_cast<unsigned>(ceilDivide(sizes.records + sizes.halo, sizes.tile));
  shape.halo = sizes.halo;
  shape.margin = sizes.margin;
  shape.vectors = sizes.vectors;
  shape.laneBits = sizes.lanes == 8 ? 3 : sizes.lanes == 16 ? 4 : 5;
  shape.byLines = FixedShiftDivisor<18>(sizes.lines);
  shape.swizzle = laneSwizzle<Layout>(isWord<Image> ? sizes.lines * Layout::PACK * sizeof(Image) : 1);
  shape.dense = (Layout::TO_RECORDS ? problem.outLd : problem.inLd) == sizes.lines;
  return shape;
}

GPUOPT_DETAIL_END
