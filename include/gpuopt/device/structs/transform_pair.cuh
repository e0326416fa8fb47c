/// \file
/// The kernel of transform with two inputs.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/device/structs/transform.cuh>

#include <cstddef>
#include <new>

GPUOPT_DETAIL_BEGIN

// As transformStructsKernel. The second input has shared memory of its own: no warp waits to load it.
template <class Block, class In1, class In2, class Out, class F>
GPUOPT_KERNEL void __launch_bounds__(Block::BLOCK)
    transformPairKernel(const In1* in1, const In2* in2, const std::size_t n, Out* out, const F f) {
  waitForPreviousKernel();
  using Loads1 = typename Block::template Staged<In1>;
  using Loads2 = typename Block::template Staged<In2>;
  using Stores = typename Block::template Staged<Out>;
  __shared__ union {
    typename Loads1::Storage in;
    typename Stores::Storage out;
  } storage;
  __shared__ typename Loads2::Storage storage2;
  const bool spreads = spreadsTiles(in1, out, n);
  const auto source1 = Loads1(storage.in, threadIdx.x, spreads).tile(blockIdx.x, n);
  const auto source2 = Loads2(storage2, threadIdx.x, spreads).tile(blockIdx.x, n);
  const auto target = Stores(storage.out, threadIdx.x, spreads).tile(blockIdx.x, n);
  StructItems<In1, Block::ITEMS> elements1;
  StructItems<In2, Block::ITEMS> elements2;
  StructItems<Out, Block::ITEMS> results;
  source1.load(in1, elements1.values);
  source2.load(in2, elements2.values);
  if constexpr (tilesCollide<Loads1, Stores>) __syncthreads();
  storeMade(target, out, results.values, [&](unsigned i) {
    const In1& element1 = elements1.values[i];
    const In2& element2 = elements2.values[i];
    ::new (static_cast<void*>(results.values + i))
        Out(static_cast<Out>(callForStruct(f, target.index(i), element1, element2)));
  });
}

// n is not 0.
template <class In1, class In2, class Out, class F>
GPUOPT_HIDDEN void launchTransformPair(const In1* in1, const In2* in2, std::size_t n, Out* out, const F& f,
                                       const char* function, cudaStream_t stream) {
  using Block = PairTransformBlock<In1, In2, Out>;
  constexpr bool areStaged = stagesTiles<Block, In1, In2, Out>;
  const auto request = structsRequest<Block, TransformTiles<Out, In1, In2>>(n, areStaged, sizeof(Out), out, in1, in2);
  const StructsCall call{planStructs(request), function, stream};
  if (call.plan.algorithm == StructsAlgorithm::words) return launchTransformWords(call, out, f, in1, in2);
  static SharedCarveout carveout;
  launchTiles(call, transformPairKernel<Block, In1, In2, Out, F>, carveout, in1, in2, n, out, f);
}

// Checks the arguments, and launches if there is anything to do.
template <class It1, class It2, class OutIt, class F>
void transformPairChecked(It1 iterator1, It2 iterator2, std::size_t n, OutIt iterator, const F& f, const char* function,
                          cudaStream_t stream) {
  [[maybe_unused]] const CallRange range(function);
  const auto in1 = readFrom(Unwrap<It1>::pointer(iterator1));
  const auto in2 = readFrom(Unwrap<It2>::pointer(iterator2));
  const auto out = Unwrap<OutIt>::pointer(iterator);
  if constexpr (requireStruct<ElementOf<It1>>() && requireStruct<ElementOf<It2>>() &&
                requireStruct<ElementOf<OutIt>>()) {
    requireTransform(in1, n, out, function, "in1");
    requireTransform(in2, n, out, function, "in2");
    if (n > 0) launchTransformPair(in1, in2, n, out, f, function, stream);
  }
}

GPUOPT_DETAIL_END
