/// \file
/// The kernel of forEachStruct and forEach for structures that are only read.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/device/structs/transform.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

template <class Shape, class T, class F>
GPUOPT_KERNEL void __launch_bounds__(Shape::BLOCK) visitStructsKernel(const T* data, const std::size_t n, const F f) {
  waitForPreviousKernel();
  using Loads = typename Shape::template Staged<T>;
  __shared__ typename Loads::Storage storage;
  const auto tile = Loads(storage, threadIdx.x).tile(blockIdx.x, n);
  StructItems<T, Shape::ITEMS> elements;
  tile.load(data, elements.values);
#pragma unroll
  for (unsigned i = 0; i < Shape::ITEMS; ++i) {
    const T& element = elements.values[i];
    if (tile.has(i)) callForStruct(f, tile.index(i), element);
  }
}

// n is not 0.
template <class T, class F>
GPUOPT_HIDDEN void launchVisitStructs(const T* data, std::size_t n, const F& f, const char* function,
                                      cudaStream_t stream) {
  if (launchVisitWords(n, f, function, stream, data)) return;
  using Shape = TransformBlock<T>;
  static SharedCarveout carveout;
  launchTransform<Shape>(visitStructsKernel<Shape, T, F>, carveout, n, function, stream, data, n, f);
}

// Checks the arguments, and launches if there is anything to do. Structures that are not const are written back.
template <class It, class F>
void forEachChecked(It iterator, std::size_t n, const F& f, const char* function, cudaStream_t stream) {
  [[maybe_unused]] const CallRange range(function);
  using T = WrittenTo<It>;
  T* const data = Unwrap<It>::pointer(iterator);
  if constexpr (requireStruct<std::remove_const_t<T>>()) {
    requireArray(namedArray(data, n, "data"), function);
    if (n == 0) return;
    if constexpr (std::is_const_v<T>)
      launchVisitStructs(data, n, f, function, stream);
    else
      launchTransformStructs<const T*>(data, n, data, Changing<T, F>{f}, function, stream);
  }
}

GPUOPT_DETAIL_END
