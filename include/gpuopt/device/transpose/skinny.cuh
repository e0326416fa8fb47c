/// \file
/// The kernel that transposes matrices with few rows or few columns.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/transpose/skinny_image.cuh>
#include <gpuopt/device/transpose/skinny_lines.cuh>
#include <gpuopt/grid/dependency.cuh>

#include <cstddef>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

template <class Layout, class Problem>
GPUOPT_KERNEL void __launch_bounds__(Layout::BLOCK, Layout::BLOCKS)
    transposeSkinnyKernel(const Problem problem, const SkinnyShape shape) {
  waitForPreviousKernel();
  const SkinnyRegion region = skinnyRegion(shape);
  if constexpr (Layout::TO_RECORDS) {
    const auto lines = skinnyLines<Layout>(problem.in, region.matrix * problem.inStride + region.first,
                                           problem.inLd, shape, region);
    const auto records =
        skinnyRecords<Layout>(problem.out, region.matrix * problem.outStride + region.first * problem.outLd,
                              problem.outLd, shape, region.count);
    loadLines<Layout>(lines, records, shape, problem.function);
    if constexpr (Layout::PACK > 1) loadLineEnds<Layout>(lines, records, shape, problem.function);
    __syncthreads();
    storeRecords<Layout>(records, shape);
  } else {
    const auto records =
        skinnyRecords<Layout>(problem.in, region.matrix * problem.inStride + region.first * problem.inLd,
                              problem.inLd, shape, region.count);
    const auto lines = skinnyLines<Layout>(problem.out, region.matrix * problem.outStride + region.first,
                                           problem.outLd, shape, region);
    loadRecords<Layout>(records, shape);
    __syncthreads();
    storeLines<Layout>(lines, records, shape, problem.function);
  }
}

}  // namespace detail
GPUOPT_NAMESPACE_END
