/// \file
/// Structures that blocks of histograms and of reduceBy read through shared memory: each warp copies the bytes of its
/// lanes there, and the next ones while it counts.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/block/struct_io.cuh>
#include <gpuopt/device/keyed/steps.cuh>
#include <gpuopt/warp/struct_tile.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// Structures per thread: as many as fill words, if they leave registers for the rest.
template <class T>
inline constexpr int stagedItems = itemsOf<T>() * sizeof(T) <= maxStagedLaneBytes ? static_cast<int>(itemsOf<T>()) : 1;

// An array of structures, with full tiles of steps read through shared memory, and the others one by one. The first
// step begins at a 16-byte boundary; if no structure does, 16 bytes after the first one or more, because the copies
// then read the neighbours' bytes, too.
template <class T, class F>
struct StagedSource {
  static constexpr int STEP = stagedItems<T>;
  static constexpr std::size_t BYTES = STEP * sizeof(T);
  using Step = VectorGroup<T, STEP, false>;
  using Value = std::decay_t<CallResult<F, T>>;
  using Tile = WarpTile<BYTES, minAlignment<T>>;
  static constexpr unsigned WARP_BYTES = roundUpTo(Tile::SHARED_BYTES, sharedPass);
  // With what aligns them to such a pass.
  static constexpr std::size_t SHARED_BYTES = keyedThreads / 32 * WARP_BYTES + sharedPass;
  static_assert(BYTES >= 16, "a step has the bytes that a copy reads beyond a tile");

  const T* data;
  const T* first;  // data + head
  std::size_t head;
  F f;
  unsigned sharedOffset;  // bytes of dynamic shared memory before the tiles

  template <Caching CACHING>
  __device__ void load(Step& step, std::size_t s) const {
    step.template load<CACHING>(first + s * STEP);
  }

  __device__ void values(const Step& step, Value (&v)[STEP]) const {
#pragma unroll
    for (int i = 0; i < STEP; ++i) v[i] = f(step.values[i]);
  }

  __device__ Value at(std::size_t i) const { return f(data[i]); }
};

// Structures that are read through shared memory.
template <class T, class F>
struct StagedFormOf {
  static constexpr bool exists = true;
  static constexpr std::size_t sharedBytes = StagedSource<T, F>::SHARED_BYTES;

  // `sharedOffset` bytes of dynamic shared memory are something else's.
  static StagedSource<T, F> make(const T* data, std::size_t n, const F& f, std::size_t sharedOffset) {
    std::size_t head = headElements(data, n);
    if (!onVectorBoundary(data + head)) head = smallerOf(ceilDivide(16, sizeof(T)), n);
    return {data, data + head, head, f, static_cast<unsigned>(roundUp(sharedOffset, sharedPass))};
  }
};

struct NoStagedForm {
  static constexpr bool exists = false;
  static constexpr std::size_t sharedBytes = 0;
};

template <class T, class F>
using StagedFormIf = std::conditional_t<std::is_trivially_copyable_v<T> && isStagedSize(sizeof(T), minAlignment<T>),
                                        StagedFormOf<T, F>, NoStagedForm>;

// The staged form of a source that reads structures one by one, if it has one.
template <class Source>
struct StagedForm : NoStagedForm {};

template <class T, class F>
struct StagedForm<IteratorSource<T*, F>> : StagedFormIf<std::remove_const_t<T>, F> {
  static auto of(const IteratorSource<T*, F>& source, std::size_t n, std::size_t sharedOffset) {
    return StagedForm::make(source.in, n, source.f, sharedOffset);
  }
};

template <class T, class F>
struct StagedForm<ArraySource<T, F, false>> : StagedFormIf<T, F> {
  static auto of(const ArraySource<T, F, false>& source, std::size_t n, std::size_t sharedOffset) {
    return StagedForm::make(source.data, n, source.f, sharedOffset);
  }
};

// A warp's steps of a block's tiles, in shared memory.
template <class T, class F>
class StagedSteps {
  using Source = StagedSource<T, F>;
  using Tile = typename Source::Tile;

 public:
  __device__ explicit StagedSteps(const Source& source)
      : first_(reinterpret_cast<const unsigned char*>(source.first)), misalignment_(Tile::misalignment(first_)) {
    unsigned char* const tiles = dynamicShared<unsigned char>() + source.sharedOffset;
    tile_ = Tile::smemStart(first_, tiles + threadIdx.x / 32 * Source::WARP_BYTES);
  }

  // Full tiles of `steps` > 0 steps. A copy of misaligned ones reads bytes of the step after them.
  __device__ std::size_t tiles(std::size_t steps) const { return (steps - (misalignment_ != 0 ? 1 : 0)) / blockDim.x; }

  // Starts to copy the warp's steps of a tile. All lanes call this and take().
  __device__ void start(std::size_t tile) const {
    const std::size_t step = tile * blockDim.x + threadIdx.x / 32 * 32;
    Tile::startCopyIn(tile_, first_ + step * Source::BYTES, threadIdx.x % 32, misalignment_);
  }

  // Waits for the copy, and loads the lane's step.
  __device__ void take(typename Source::Step& step) const {
    const unsigned lane = threadIdx.x % 32;
    awaitAsyncCopies();
    Tile::finishCopyIn(tile_, lane, misalignment_);
    Tile::loadLane(tile_, lane, step.values, misalignment_);
    __syncwarp();
  }

 private:
  const unsigned char* first_;
  unsigned char* tile_;
  unsigned misalignment_;
};

// takeSteps() of structures: a warp copies its next steps while it takes those in registers.
template <int, class T, class F, class Take, class EndTile, class TakeRest>
__device__ inline void takeSteps(const StagedSource<T, F>& source, const StepArgs& shape, std::size_t block,
                                 std::size_t blocks, const Take& take, const EndTile& endTile,
                                 const TakeRest& takeRest) {
  const StagedSteps<T, F> staged(source);
  const std::size_t tiles = staged.tiles(shape.end);
  if (block < tiles) staged.start(block);
  for (std::size_t tile = block; tile < tiles; tile += blocks) {
    typename StagedSource<T, F>::Step step;
    staged.take(step);
    if (tile + blocks < tiles) staged.start(tile + blocks);
    takeStep(source, step, take);
    endTile();
  }
  for (std::size_t s = (tiles + block) * blockDim.x + threadIdx.x; s < shape.end; s += blocks * blockDim.x) {
    typename StagedSource<T, F>::Step step;
    source.template load<Caching::stream>(step, s);
    takeStep(source, step, takeRest);
  }
  endTile();
  if (block == 0) takeEdge(source, shape, takeRest);
}

GPUOPT_DETAIL_END
