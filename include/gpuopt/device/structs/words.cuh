/// \file
/// The kernels of maps of plain elements: each thread accesses every array by words of its own.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/struct_io.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/structs/arguments.cuh>
#include <gpuopt/device/structs/plan.cuh>
#include <gpuopt/device/structs/tuning.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/thread/prefetch.cuh>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// The size of the widest type.
template <class... T>
constexpr std::size_t largestSize() {
  std::size_t largest = 0;
  ((largest = largerOf(largest, sizeof(T))), ...);
  return largest;
}

// A block's elements: TILES tiles, in each of which a thread owns ITEMS elements of every array. Those of the widest
// type are a 16-byte vector, and those of any type a word, so that an access of a warp covers contiguous bytes.
template <class Policy, class... T>
struct WordTiles : Policy {
  static constexpr auto ITEMS = static_cast<unsigned>(16 / largestSize<T...>());
  static constexpr unsigned ELEMENTS = Policy::BLOCK * ITEMS * Policy::TILES;
  std::size_t n;

  __device__ explicit WordTiles(std::size_t count) : n(count) {}

  __device__ std::size_t first() const { return std::size_t{blockIdx.x} * ELEMENTS; }
  __device__ bool isFull() const { return first() + ELEMENTS <= n; }

  // The index of the calling thread's first element of a tile.
  __device__ std::size_t index(unsigned tile) const { return first() + (tile * Policy::BLOCK + threadIdx.x) * ITEMS; }
};

template <class Out, class... In>
using TransformTiles = WordTiles<TransformWordsPolicy<largestSize<In...>(), sizeof(Out)>, Out, In...>;

template <class T>
using VisitTiles = WordTiles<VisitWordsPolicy, T>;

// A thread's elements of an array in one tile. Those from number `end` of the array on do not exist.
template <unsigned ITEMS, class T>
__device__ inline void readLane(T (&elements)[ITEMS], const T* in, std::size_t index, std::size_t end) {
#pragma unroll
  for (unsigned i = 0; i < ITEMS; ++i)
    if (index + i < end)
      readWords<sizeof(T), minAlignment<T>>(reinterpret_cast<const unsigned char*>(in + index + i), elements + i);
}

template <unsigned ITEMS, class T>
__device__ inline void writeLane(T* out, const T (&elements)[ITEMS], std::size_t index, std::size_t end) {
#pragma unroll
  for (unsigned i = 0; i < ITEMS; ++i)
    if (index + i < end)
      writeWords<sizeof(T), minAlignment<T>>(reinterpret_cast<unsigned char*>(out + index + i), elements + i);
}

// A thread's elements of an array.
template <class Tiles, class T>
struct LaneElements {
  static constexpr unsigned LANE_BYTES = Tiles::ITEMS * sizeof(T);
  StructItems<T, Tiles::ITEMS> tiles[Tiles::TILES];

  template <bool IS_FULL>
  __device__ LaneElements(const Tiles& shape, const T* in, std::bool_constant<IS_FULL>) {
#pragma unroll
    for (unsigned k = 0; k < Tiles::TILES; ++k) {
      if constexpr (IS_FULL)
        readWords<LANE_BYTES, LANE_BYTES>(reinterpret_cast<const unsigned char*>(in + shape.index(k)), tiles[k].values);
      else
        readLane(tiles[k].values, in, shape.index(k), shape.n);
    }
  }
};

// Every load is issued before the first store: the elements are arguments.
template <bool IS_FULL, class Tiles, class Out, class F, class... In>
__device__ inline void transformTiles(const Tiles& shape, Out* out, const F& f,
                                      const LaneElements<Tiles, In>&... elements) {
  constexpr unsigned LANE_BYTES = Tiles::ITEMS * sizeof(Out);
#pragma unroll
  for (unsigned k = 0; k < Tiles::TILES; ++k) {
    StructItems<Out, Tiles::ITEMS> results;
    const std::size_t index = shape.index(k);
#pragma unroll
    for (unsigned i = 0; i < Tiles::ITEMS; ++i)
      if (IS_FULL || index + i < shape.n)
        ::new (static_cast<void*>(results.values + i))
            Out(static_cast<Out>(callForStruct(f, index + i, elements.tiles[k].values[i]...)));
    if constexpr (IS_FULL)
      writeWords<LANE_BYTES, LANE_BYTES>(reinterpret_cast<unsigned char*>(out + index), results.values);
    else
      writeLane(out, results.values, index, shape.n);
  }
}

// Where a map of blocks of ELEMENTS each writes more than it reads: asks L2 for the input of a later block, since reads
// that wait for writes are slow. In small grids, the input may be in L2 already.
template <unsigned ELEMENTS, class Out, class... In>
__device__ inline void prefetchAhead([[maybe_unused]] std::size_t n, const In*... in) {
  if constexpr ((sizeof(In) + ...) < sizeof(Out)) {
    constexpr std::size_t BLOCKS = prefetchDistance / (ELEMENTS * sizeof(Out));
    const std::size_t first = (blockIdx.x + BLOCKS) * ELEMENTS;
    if (threadIdx.x == 0 && gridDim.x >= prefetchDistances * BLOCKS && first + ELEMENTS <= n)
      (prefetchToL2<ELEMENTS * sizeof(In)>(in + first), ...);
  }
}

template <class Tiles, class Out, class F, class... In>
GPUOPT_KERNEL void __launch_bounds__(Tiles::BLOCK)
    transformWordsKernel(const std::size_t n, Out* out, const F f, const In*... in) {
  waitForPreviousKernel();
  const Tiles shape(n);
  prefetchAhead<Tiles::ELEMENTS, Out>(n, in...);
  if (shape.isFull())
    transformTiles<true>(shape, out, f, LaneElements<Tiles, In>(shape, in, std::true_type{})...);
  else
    transformTiles<false>(shape, out, f, LaneElements<Tiles, In>(shape, in, std::false_type{})...);
}

template <bool IS_FULL, class Tiles, class T, class F>
__device__ inline void visitTiles(const Tiles& shape, const F& f, const LaneElements<Tiles, T>& elements) {
#pragma unroll
  for (unsigned k = 0; k < Tiles::TILES; ++k)
#pragma unroll
    for (unsigned i = 0; i < Tiles::ITEMS; ++i)
      if (IS_FULL || shape.index(k) + i < shape.n) callForStruct(f, shape.index(k) + i, elements.tiles[k].values[i]);
}

template <class Tiles, class T, class F>
GPUOPT_KERNEL void __launch_bounds__(Tiles::BLOCK) visitWordsKernel(const std::size_t n, const F f, const T* data) {
  waitForPreviousKernel();
  const Tiles shape(n);
  if (shape.isFull())
    visitTiles<true>(shape, f, LaneElements<Tiles, T>(shape, data, std::true_type{}));
  else
    visitTiles<false>(shape, f, LaneElements<Tiles, T>(shape, data, std::false_type{}));
}

// Whether COUNT elements are a word, and no policy of the user's says how they move.
template <class T, unsigned COUNT>
constexpr bool fillsWord() {
  using Policy = StructTransferPolicy<T, COUNT>;
  return isPowerOfTwo<sizeof(T)> && Policy::load != StructTransfer::exchange &&
         Policy::store != StructTransfer::exchange;
}

template <class... T>
constexpr bool fillWords() {
  if constexpr (largestSize<T...>() > 16)
    return false;
  else
    return (fillsWord<T, 16 / largestSize<T...>()>() && ...);
}

template <class Tiles, class T>
bool isLaneAligned(const T* array) {
  return reinterpret_cast<std::uintptr_t>(array) % (Tiles::ITEMS * sizeof(T)) == 0;
}

// What to launch, besides types.
struct StructsCall {
  StructsPlan plan;
  const char* function;
  cudaStream_t stream;

  LaunchConfig config() const {
    return gridConfig(static_cast<int>(plan.block.threads), plan.blocks, stream, function);
  }
};

// Launches transformWordsKernel, whose types must fill words.
template <class Out, class F, class... In>
GPUOPT_HIDDEN void launchTransformWords(const StructsCall& call, Out* out, const F& f, const In*... in) {
  if constexpr (fillWords<Out, In...>())
    launch(transformWordsKernel<TransformTiles<Out, In...>, Out, F, In...>, call.config(), call.plan.request.n, out, f,
           in...);
}

// The same for visitWordsKernel.
template <class T, class F>
GPUOPT_HIDDEN void launchVisitWords(const StructsCall& call, const F& f, const T* data) {
  if constexpr (fillWords<T>())
    launch(visitWordsKernel<VisitTiles<T>, T, F>, call.config(), call.plan.request.n, f, data);
}

GPUOPT_DETAIL_END
