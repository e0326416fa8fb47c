/// \file
/// The kernel of transformStructs and forEachStruct.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/struct_io.cuh>
#include <gpuopt/core/callable.cuh>
#include <gpuopt/device/structs/tuning.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/host/launch.cuh>

#include <cstddef>
#include <iterator>
#include <new>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

template <class It>
using StructOf = typename std::iterator_traits<It>::value_type;

// StructTransferPolicy, except for structures whose tiles do not fit in shared memory.
template <class T, unsigned BLOCK, unsigned ITEMS>
struct TransformPolicy : StructTransferPolicy<T, ITEMS> {
  using Base = StructTransferPolicy<T, ITEMS>;
  static constexpr bool FITS = StructTileShape<T, BLOCK, ITEMS>::SHARED_BYTES <= maxTransformShared;
  static constexpr StructTransfer load = FITS ? Base::load : StructTransfer::direct;
  static constexpr StructTransfer store = FITS ? Base::store : StructTransfer::direct;
};

// The shape of a block, chosen for the larger type. Each block has one tile: short-lived blocks keep more loads in
// flight than persistent ones.
template <class In, class Out, bool READS>
struct TransformShape {
  using Larger = std::conditional_t<(READS && sizeof(In) > sizeof(Out)), In, Out>;
  static constexpr unsigned ITEMS = StructTransferPolicy<Larger>::items;
  static constexpr unsigned BLOCK = transformThreads(sizeof(Larger) * ITEMS);

  template <class T>
  using Staged = StagedStructs<T, BLOCK, ITEMS, TransformPolicy<T, BLOCK, ITEMS>>;
};

template <class Staged>
inline constexpr bool usesShared = !std::is_empty_v<typename Staged::Storage>;

// Whether a warp's output tile overlaps another warp's input tile.
template <class Loads, class Stores>
inline constexpr bool tilesCollide = usesShared<Loads>&& usesShared<Stores> &&
                                     sizeof(typename Loads::Storage) != sizeof(typename Stores::Storage);

// Calls f with the element if it takes that alone, otherwise with the element and its index.
template <class Element, class F>
__device__ inline decltype(auto) callForStruct(const F& f, Element& element, std::size_t i) {
  if constexpr (isCallable<const F&, Element&>) {
    return f(element);
  } else {
    static_assert(isCallable<const F&, Element&, std::size_t>,
                  "gpuopt: the function must take a structure, or a structure and its index");
    return f(element, i);
  }
}

// Adapts forEachStruct's function to transformStructs.
template <class T, class F>
struct Changing {
  F f;

  __device__ T operator()(const T& before, std::size_t i) const {
    T element = before;
    callForStruct<T>(f, element, i);
    return element;
  }
};

// Calls make(i), which sets results[i], for the thread's structures that exist, and stores them. beginStore() is called
// in the branch of make(): after it, the compiler would split structures into bytes, a register each. For the same
// reason a single structure has only one call of make().
template <class Tile, class Out, unsigned ITEMS, class Make>
__device__ inline void storeMade(const Tile& tile, Out* out, const Out (&results)[ITEMS], const Make& make) {
  if (ITEMS == 1 ? tile.has() : tile.isFull()) {
#pragma unroll
    for (unsigned i = 0; i < ITEMS; ++i) make(i);
    tile.beginStore(out, results);
  } else if constexpr (ITEMS > 1) {
#pragma unroll
    for (unsigned i = 0; i < ITEMS; ++i)
      if (tile.has(i)) make(i);
    tile.beginStore(out, results);
  }
  tile.finishStore(out);
}

template <class Shape, class It, class Out, class F>
GPUOPT_KERNEL void __launch_bounds__(Shape::BLOCK)
    transformStructsKernel(const It in, const std::size_t n, Out* out, const F f) {
  waitForPreviousKernel();
  using In = StructOf<It>;
  using Stores = typename Shape::template Staged<Out>;
  StructItems<Out, Shape::ITEMS> results;
  const auto make = [&](unsigned i, const In& element, std::size_t index) {
    ::new (static_cast<void*>(results.values + i)) Out(static_cast<Out>(callForStruct<const In>(f, element, index)));
  };
  if constexpr (std::is_pointer_v<It>) {
    using Loads = typename Shape::template Staged<In>;
    __shared__ union {
      typename Loads::Storage in;
      typename Stores::Storage out;
    } storage;
    const auto source = Loads(storage.in, threadIdx.x).tile(blockIdx.x, n);
    const auto target = Stores(storage.out, threadIdx.x).tile(blockIdx.x, n);
    StructItems<In, Shape::ITEMS> elements;
    source.load(in, elements.values);
    if constexpr (tilesCollide<Loads, Stores>) __syncthreads();
    const auto makeOne = [&](unsigned i) { make(i, elements.values[i], source.index(i)); };
    storeMade(target, out, results.values, makeOne);
  } else {
    __shared__ typename Stores::Storage storage;
    const auto target = Stores(storage, threadIdx.x).tile(blockIdx.x, n);
    storeMade(target, out, results.values, [&](unsigned i) {
      const std::size_t index = target.index(i);
      make(i, in[static_cast<typename std::iterator_traits<It>::difference_type>(index)], index);
    });
  }
}

// n is not 0; `in` is a pointer to const or an iterator.
template <class It, class Out, class F>
GPUOPT_HIDDEN void launchTransformStructs(It in, std::size_t n, Out* out, const F& f, const char* function,
                                          cudaStream_t stream) {
  using Shape = TransformShape<StructOf<It>, Out, std::is_pointer_v<It>>;
  const auto kernel = transformStructsKernel<Shape, It, Out, F>;
  static SharedCarveout carveout;
  carveout.prefer(reinterpret_cast<const void*>(kernel), transformCarveout);
  constexpr std::size_t STRUCTS = std::size_t{Shape::BLOCK} * Shape::ITEMS;
  launch(kernel, gridConfig(Shape::BLOCK, ceilDivide(n, STRUCTS), stream, function), in, n, out, f);
}

GPUOPT_DETAIL_END
