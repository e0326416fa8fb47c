/// \file
/// The kernels of forEach and transform of views: a lane holds neighbouring structures in registers.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/soa/convert_tile.cuh>
#include <gpuopt/device/soa/plan.cuh>
#include <gpuopt/device/structs/arguments.cuh>
#include <gpuopt/device/structs/tuning.cuh>
#include <gpuopt/device/structs/words.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/soa/view.cuh>

#include <cstddef>
#include <new>

GPUOPT_DETAIL_BEGIN

// The block of a kernel for views of such structures, as planColumns has it: that of the conversions, which access
// columns alike.
template <class... T>
struct ColumnsBlock {
  static constexpr std::size_t LARGEST = largestSize<T...>();
  static constexpr unsigned ITEMS = convertItems(LARGEST, true);
  static constexpr unsigned BLOCK = convertThreads(ITEMS * LARGEST), WARPS = BLOCK / 32;
  static constexpr unsigned STRUCTS = BLOCK * ITEMS;
  static constexpr unsigned BLOCKS_PER_SM = convertThreadsPerSm(ITEMS * LARGEST) / BLOCK;
  static constexpr bool FITS_REGISTERS = fitRegisters(LARGEST);
};

template <class... Views>
using BlockOfViews = ColumnsBlock<typename Views::Value...>;

// The shared memory of a warp that accesses the columns of two views in turn; some where it needs none.
template <unsigned ITEMS, class First, class Second = First>
inline constexpr unsigned columnsSharedBytes = largerOf(16u, largerOf(ConvertTile<First, ITEMS, true>::COLUMNS_BYTES,
                                                                      ConvertTile<Second, ITEMS, true>::COLUMNS_BYTES));

// out[i] = f(in[i]). ALIGNED: all columns are contiguous, and aligned as ConvertColumn says.
template <bool ALIGNED, class In, class Out, class F>
GPUOPT_KERNEL void __launch_bounds__(BlockOfViews<In, Out>::BLOCK, BlockOfViews<In, Out>::BLOCKS_PER_SM)
    transformColumnsKernel(const In in, const Out out, const F f) {
  waitForPreviousKernel();
  using Block = BlockOfViews<In, Out>;
  using T = typename In::Value;
  using U = typename Out::Value;
  const std::size_t n = in.size(), first = std::size_t{blockIdx.x} * Block::STRUCTS, end = first + Block::STRUCTS;
  if constexpr (ALIGNED) {
    constexpr unsigned ITEMS = Block::ITEMS;
    alignas(32) __shared__ unsigned char tiles[Block::WARPS][columnsSharedBytes<ITEMS, In, Out>];
    if (end <= n) {
      unsigned char* const shared = tiles[threadIdx.x / 32];
      const std::size_t warps = first + threadIdx.x / 32 * 32 * ITEMS, own = first + threadIdx.x * ITEMS;
      StructItems<T, ITEMS> elements;
      StructItems<U, ITEMS> results;
      ConvertTile<In, ITEMS, true>(shared, in, warps).load(elements.values);
#pragma unroll
      for (unsigned i = 0; i < ITEMS; ++i)
        ::new (static_cast<void*>(results.values + i))
            U(static_cast<U>(callForStruct(f, own + i, static_cast<const T&>(elements.values[i]))));
      return ConvertTile<Out, ITEMS, true>(shared, out, warps).store(results.values);
    }
  }
  for (std::size_t i = first + threadIdx.x; i < end && i < n; i += Block::BLOCK) {
    const T element = in[i];
    out.store(i, static_cast<U>(callForStruct(f, i, element)));
  }
}

// Calls f for structures that are only read.
template <bool ALIGNED, class View, class F>
GPUOPT_KERNEL void __launch_bounds__(BlockOfViews<View>::BLOCK, BlockOfViews<View>::BLOCKS_PER_SM)
    visitColumnsKernel(const View view, const F f) {
  waitForPreviousKernel();
  using Block = BlockOfViews<View>;
  using T = typename View::Value;
  const std::size_t n = view.size(), first = std::size_t{blockIdx.x} * Block::STRUCTS, end = first + Block::STRUCTS;
  if constexpr (ALIGNED) {
    constexpr unsigned ITEMS = Block::ITEMS;
    alignas(32) __shared__ unsigned char tiles[Block::WARPS][columnsSharedBytes<ITEMS, View>];
    if (end <= n) {
      const std::size_t warps = first + threadIdx.x / 32 * 32 * ITEMS, own = first + threadIdx.x * ITEMS;
      StructItems<T, ITEMS> elements;
      ConvertTile<View, ITEMS, true>(tiles[threadIdx.x / 32], view, warps).load(elements.values);
#pragma unroll
      for (unsigned i = 0; i < ITEMS; ++i) callForStruct(f, own + i, static_cast<const T&>(elements.values[i]));
      return;
    }
  }
  for (std::size_t i = first + threadIdx.x; i < end && i < n; i += Block::BLOCK) {
    const T element = view[i];
    callForStruct(f, i, element);
  }
}

GPUOPT_DETAIL_END
