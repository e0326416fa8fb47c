/// \file
/// The kernel of forEachStruct and forEach for structures that are only read.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/device/structs/transform.cuh>

#include <cstddef>
#include <string>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

template <class Block, class T, class F>
GPUOPT_KERNEL void __launch_bounds__(Block::BLOCK) visitStructsKernel(const T* data, const std::size_t n, const F f) {
  waitForPreviousKernel();
  using Loads = typename Block::template Staged<T>;
  __shared__ typename Loads::Storage storage;
  const auto tile = Loads(storage, threadIdx.x).tile(blockIdx.x, n);
  StructItems<T, Block::ITEMS> elements;
  tile.load(data, elements.values);
#pragma unroll
  for (unsigned i = 0; i < Block::ITEMS; ++i) {
    const T& element = elements.values[i];
    if (tile.has(i)) callForStruct(f, tile.index(i), element);
  }
}

// Structures that are not const are written back, by the kernels of transformStructs.
template <class T>
StructsPlan planForEach(T* data, std::size_t n) {
  using Struct = std::remove_const_t<T>;
  using Block = TransformBlock<Struct>;
  if constexpr (std::is_const_v<T>)
    return planStructs(structsRequest<Block, VisitTiles<Struct>>(n, stagesTiles<Block, Struct>, 0, data));
  else
    return planTransform<const T*>(data, n, data);
}

template <class T, class F>
GPUOPT_HIDDEN void launchVisitStructs(const StructsCall& call, const T* data, const F& f) {
  if (call.plan.algorithm == StructsAlgorithm::words) return launchVisitWords(call, f, data);
  static SharedCarveout carveout;
  launchTiles(call, visitStructsKernel<TransformBlock<T>, T, F>, carveout, data, call.plan.request.n, f);
}

// Checks the arguments, and launches if there is anything to do.
template <class It, class F>
void forEachChecked(It iterator, std::size_t n, const F& f, const char* function, cudaStream_t stream) {
  [[maybe_unused]] const CallRange range(function);
  using T = WrittenTo<It>;
  T* const data = Unwrap<It>::pointer(iterator);
  if constexpr (requireStruct<std::remove_const_t<T>>()) {
    requireArray(namedArray(data, n, "data"), function);
    if (n == 0) return;
    const StructsCall call{planForEach(data, n), function, stream};
    if constexpr (std::is_const_v<T>)
      launchVisitStructs(call, data, f);
    else
      launchTransformStructs<const T*>(call, data, data, Changing<T, F>{f});
  }
}

template <class It>
std::string explainForEach(It iterator, std::size_t n, const char* function) {
  const auto data = Unwrap<It>::pointer(iterator);
  requireArray(namedArray(data, n, "data"), function);
  return planInWords(planForEach(data, n));
}

GPUOPT_DETAIL_END
