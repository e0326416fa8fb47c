/// \file
/// A function applied to every structure of an array: the kernel behind transformStructs and forEachStruct.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/struct_io.cuh>
#include <gpuopt/core/callable.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/host/carveout.cuh>
#include <gpuopt/host/grid_config.cuh>
#include <gpuopt/host/launch.cuh>

#include <cstddef>
#include <iterator>
#include <new>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

template <class It>
using StructOf = typename std::iterator_traits<It>::value_type;

// The ways of a type. A block has 48 KB of shared memory without asking; structures too large for that, of
// more than 767 bytes, are accessed directly.
template <class T, unsigned BLOCK, unsigned ITEMS>
inline constexpr bool fitsBlock = StructTileShape<T, BLOCK, ITEMS>::SHARED_BYTES <= 48 * 1024;

template <class T, unsigned BLOCK, unsigned ITEMS>
struct TransformPlan : StructTransferPolicy<T, ITEMS> {
  static constexpr bool FITS = fitsBlock<T, BLOCK, ITEMS>;
  static constexpr StructTransfer load = FITS ? StructTransferPolicy<T, ITEMS>::load : StructTransfer::direct;
  static constexpr StructTransfer store =
      FITS ? StructTransferPolicy<T, ITEMS>::store : StructTransfer::direct;
};

// Threads of a block whose lanes move so many bytes each: 64, but enough for 3 KiB. Devices start at most
// 1.66e9 blocks a second (trial kernels, H200).
constexpr unsigned structBlock(std::size_t laneBytes) {
  unsigned threads = 64;
  while (threads < 256 && threads * laneBytes < 3072) threads *= 2;
  return threads;
}

// How the work is cut up: the larger of the two types decides, most bytes are its. Blocks are short-lived and
// have one tile each: the device's scheduler keeps loads in flight, where persistent blocks of several stages
// reached 0.83 to 0.94 of the copy (trial kernels, H200). Ratio to the best copy of 16 MiB in a graph, with
// 64, 128 and 256 threads (H200, 2026-11-22): lanes of 16 bytes 0.50, 0.91, 1.02; of 24 bytes 0.70, 0.93,
// 0.93; of 64 bytes 0.92, 0.88, 0.89; of 256 bytes 0.93, 0.79, 0.79. Of 1 GiB, cold, the chosen one has 0.974
// to 1.0, the others at most 0.003 more.
template <class In, class Out, bool READS>
struct TransformShape {
  using Larger = std::conditional_t<(READS && sizeof(In) > sizeof(Out)), In, Out>;
  static constexpr unsigned ITEMS = StructTransferPolicy<Larger>::items;
  static constexpr unsigned BLOCK = structBlock(sizeof(Larger) * ITEMS);

  template <class T>
  using Staged = StagedStructs<T, BLOCK, ITEMS, TransformPlan<T, BLOCK, ITEMS>>;
};

// COUNT structures in registers, which nobody constructs.
template <class T, unsigned COUNT>
union StructItems {
  T values[COUNT];

  __device__ StructItems() {}
};

// Shared memory for tiles that come in, and then for tiles that go out.
template <class Loads, class Stores>
union TransformStorage {
  typename Loads::Storage in;
  typename Stores::Storage out;
};

template <class Staged>
inline constexpr bool usesShared = !std::is_empty_v<typename Staged::Storage>;

// Whether a warp's tile of what comes in lies where another warp has its tile of what goes out.
template <class Loads, class Stores>
inline constexpr bool tilesCollide = usesShared<Loads>&& usesShared<Stores> &&
                                     sizeof(typename Loads::Storage) != sizeof(typename Stores::Storage);

// Calls f with the element alone if it takes that, else with its index too.
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

// forEachStruct's function as one of transformStructs.
template <class T, class F>
struct Changing {
  F f;

  __device__ T operator()(const T& before, std::size_t i) const {
    T element = before;
    callForStruct<T>(f, element, i);
    return element;
  }
};

// Stores a thread's structures, which make(i) makes, those that exist. They are put into the tile where they
// are made: behind the end of a condition the compiler would take them apart into bytes. A single one is made
// in one place: with two, the compiler takes it apart for both (63 bytes: 54 registers for 32).
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
    ::new (static_cast<void*>(results.values + i))
        Out(static_cast<Out>(callForStruct<const In>(f, element, index)));
  };
  if constexpr (std::is_pointer_v<It>) {
    using Loads = typename Shape::template Staged<In>;
    __shared__ TransformStorage<Loads, Stores> storage;
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
  carveout.prefer(reinterpret_cast<const void*>(kernel), structCarveout);
  constexpr std::size_t STRUCTS = std::size_t{Shape::BLOCK} * Shape::ITEMS;
  launch(kernel, gridConfig(Shape::BLOCK, ceilDivide(n, STRUCTS), stream, function), in, n, out, f);
}

}  // namespace detail
GPUOPT_NAMESPACE_END
