/// \file
/// The plan, the launch and the kernel of transformStructs and forEachStruct.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/struct_io.cuh>
#include <gpuopt/core/call_range.cuh>
#include <gpuopt/device/structs/arguments.cuh>
#include <gpuopt/device/structs/tuning.cuh>
#include <gpuopt/device/structs/words.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/host/launch.cuh>

#include <cstddef>
#include <iterator>
#include <new>
#include <string>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

template <class It>
using StructOf = typename std::iterator_traits<It>::value_type;

// StructTransferPolicy, except for structures whose tiles do not fit in SHARED bytes of shared memory.
template <class T, unsigned BLOCK, unsigned ITEMS, std::size_t SHARED>
struct TransformPolicy : StructTransferPolicy<T, ITEMS> {
  using Base = StructTransferPolicy<T, ITEMS>;
  static constexpr bool FITS = StructTileLayout<T, BLOCK, ITEMS>::SHARED_BYTES <= SHARED;
  static constexpr StructTransfer load = FITS ? Base::load : StructTransfer::direct;
  static constexpr StructTransfer store = FITS ? Base::store : StructTransfer::direct;
};

// The threads of a block and the elements of each, chosen for the largest type. Each block has one tile: short-lived
// blocks keep more loads in flight than persistent ones. A tile may take SHARED bytes of shared memory.
template <class Largest, std::size_t SHARED = maxTransformShared>
struct TransformBlock {
  static constexpr unsigned ITEMS = StructTransferPolicy<Largest>::items;
  static constexpr unsigned BLOCK = transformThreads(sizeof(Largest) * ITEMS);

  template <class T>
  using Staged = StagedStructs<T, BLOCK, ITEMS, TransformPolicy<T, BLOCK, ITEMS, SHARED>>;
};

template <class T, class U>
using LargerType = std::conditional_t<(sizeof(T) > sizeof(U)), T, U>;

template <class In, class Out, bool READS>
struct ArrayTransformBlock : TransformBlock<std::conditional_t<READS, LargerType<In, Out>, Out>> {};

// Two inputs share what one input has alone.
template <class In1, class In2, class Out>
struct PairTransformBlock : TransformBlock<LargerType<In1, LargerType<In2, Out>>, maxTransformShared / 2> {};

template <class Staged>
inline constexpr bool usesShared = !std::is_empty_v<typename Staged::Storage>;

// Whether a warp's output tile overlaps another warp's input tile.
template <class Loads, class Stores>
inline constexpr bool tilesCollide = usesShared<Loads>&& usesShared<Stores> &&
                                     sizeof(typename Loads::Storage) != sizeof(typename Stores::Storage);

// Whether the tiles of a kernel that reads `in` and writes n structures to `out` spread: see StagedStructs.
template <class Out>
__device__ inline bool spreadsTiles(const void* in, const Out* out, std::size_t n) {
  return in != out && n > spreadBytes / sizeof(Out);
}

// Adapts forEachStruct's function to transformStructs.
template <class T, class F>
struct Changing {
  F f;

  __device__ T operator()(const T& before, std::size_t i) const {
    T element = before;
    callForStruct(f, i, element);
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

template <class Block, class It, class Out, class F>
GPUOPT_KERNEL void __launch_bounds__(Block::BLOCK)
    transformStructsKernel(const It in, const std::size_t n, Out* out, const F f) {
  waitForPreviousKernel();
  using In = StructOf<It>;
  using Stores = typename Block::template Staged<Out>;
  StructItems<Out, Block::ITEMS> results;
  const auto make = [&](unsigned i, const In& element, std::size_t index) {
    ::new (static_cast<void*>(results.values + i)) Out(static_cast<Out>(callForStruct(f, index, element)));
  };
  if constexpr (std::is_pointer_v<It>) {
    using Loads = typename Block::template Staged<In>;
    __shared__ union {
      typename Loads::Storage in;
      typename Stores::Storage out;
    } storage;
    const bool spreads = spreadsTiles(in, out, n);
    const auto source = Loads(storage.in, threadIdx.x, spreads).tile(blockIdx.x, n);
    const auto target = Stores(storage.out, threadIdx.x, spreads).tile(blockIdx.x, n);
    StructItems<In, Block::ITEMS> elements;
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

// Launches a kernel of tiles.
template <class... Params, class... Args>
GPUOPT_HIDDEN void launchTiles(const StructsCall& call, void (*kernel)(Params...), SharedCarveout& carveout,
                               const Args&... args) {
  carveout.prefer(reinterpret_cast<const void*>(kernel), transformCarveout);
  launch(kernel, call.config(), args...);
}

template <class Block, class... T>
inline constexpr bool stagesTiles = (usesShared<typename Block::template Staged<T>> || ...);

// The request of a map of these arrays, one of which may be written: an element of that one has `writtenBytes`. Block
// is that of the kernel of tiles, WordTiles that of words.
template <class Block, class WordTiles, class... T>
StructsRequest structsRequest(std::size_t n, bool areStaged, std::size_t writtenBytes, const T*... arrays) {
  StructsRequest request;
  request.n = n;
  request.readBytes = (sizeof(T) + ...) - writtenBytes;
  request.writtenBytes = writtenBytes;
  request.areStaged = areStaged;
  request.tiles = {Block::BLOCK, Block::BLOCK * Block::ITEMS};
  if constexpr (fillWords<T...>()) {
    request.fillWords = true;
    request.areAligned = (isLaneAligned<WordTiles>(arrays) && ...);
    request.words = {WordTiles::BLOCK, WordTiles::ELEMENTS};
  }
  return request;
}

// Pointers as pointers to const, so that both share a kernel; other iterators unchanged.
template <class In>
const In* readFrom(In* in) {
  return in;
}
template <class It>
It readFrom(const It& in) {
  return in;
}

template <class It, class Out>
using TransformBlockOf = ArrayTransformBlock<StructOf<It>, Out, std::is_pointer_v<It>>;

// `in` is a pointer to const or an iterator.
template <class It, class Out>
StructsPlan planTransform([[maybe_unused]] It in, std::size_t n, const Out* out) {
  using Block = TransformBlockOf<It, Out>;
  if constexpr (std::is_pointer_v<It>) {
    using Tiles = TransformTiles<Out, StructOf<It>>;
    constexpr bool areStaged = stagesTiles<Block, StructOf<It>, Out>;
    return planStructs(structsRequest<Block, Tiles>(n, areStaged, sizeof(Out), out, in));
  } else {
    StructsRequest request = structsRequest<Block, VisitTiles<Out>>(n, stagesTiles<Block, Out>, sizeof(Out), out);
    request.readsIterator = true;
    return planStructs(request);
  }
}

template <class It, class Out, class F>
GPUOPT_HIDDEN void launchTransformTiles(const StructsCall& call, It in, Out* out, const F& f) {
  static SharedCarveout carveout;
  launchTiles(call, transformStructsKernel<TransformBlockOf<It, Out>, It, Out, F>, carveout, in, call.plan.request.n,
              out, f);
}

template <class It, class Out, class F>
GPUOPT_HIDDEN void launchTransformStructs(const StructsCall& call, It in, Out* out, const F& f) {
  if constexpr (std::is_pointer_v<It>)
    if (call.plan.algorithm == StructsAlgorithm::words) return launchTransformWords(call, out, f, in);
  launchTransformTiles(call, in, out, f);
}

// The element type of what callers pass as an input.
template <class It>
using ElementOf = StructOf<Unwrapped<It>>;

// Checks the arguments, and launches if there is anything to do.
template <class It, class OutIt, class F>
void transformChecked(It in, std::size_t n, OutIt out, const F& f, const char* function, cudaStream_t stream) {
  [[maybe_unused]] const CallRange range(function);
  const auto source = readFrom(Unwrap<It>::pointer(in));
  const auto target = Unwrap<OutIt>::pointer(out);
  if constexpr (requireStruct<ElementOf<OutIt>>() && (!isMemory<It> || requireStruct<ElementOf<It>>())) {
    requireTransform(source, n, target, function);
    if (n > 0) launchTransformStructs({planTransform(source, n, target), function, stream}, source, target, f);
  }
}

template <class It, class OutIt>
std::string explainTransform(It in, std::size_t n, OutIt out, const char* function) {
  const auto source = readFrom(Unwrap<It>::pointer(in));
  const auto target = Unwrap<OutIt>::pointer(out);
  requireTransform(source, n, target, function);
  return planInWords(planTransform(source, n, target));
}

GPUOPT_DETAIL_END
