/// \file
/// How the threads of a block and the blocks of a grid come to one result.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/reduce.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/grid/arrival.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/grid/marked_word.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/host/result.cuh>
#include <gpuopt/host/workspace.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// What the blocks of a grid share.
template <class Partial>
struct GridScratch {
  Partial* partials;
  unsigned* arrivals;
};

template <class T>
__device__ inline void storeResult(const Destination<T>& out, const T& value) {
  *out.value = value;
  if (out.flag != nullptr) {
    __threadfence_system();
    *static_cast<volatile unsigned*>(out.flag) = out.signal;
  }
}

// One warp joins partial results in their order; lane 0 holds the result.
template <class Partial, class Op>
__device__ inline Partial joinPartials(const Partial* partials, unsigned count, const Partial& none, Op op) {
  constexpr unsigned BATCH = sizeof(Partial) <= 8 ? 8 : 2;
  const unsigned share = (count + 31) / 32;
  const unsigned first = static_cast<unsigned>(laneIndex()) * share;
  const unsigned end = first + share < count ? first + share : count;
  Partial sum = none;
  for (unsigned start = first; start < end; start += BATCH) {
    Partial batch[BATCH];
#pragma unroll
    for (unsigned i = 0; i < BATCH; ++i) batch[i] = start + i < end ? partials[start + i] : none;
#pragma unroll
    for (unsigned i = 0; i < BATCH; ++i) sum = op(sum, batch[i]);
  }
  return warpReduce(sum, op);
}

// Joins the results of `blocks` blocks (in thread 0 of each), of which this is number `block`; true in the
// one thread that then holds the whole. The last block to arrive does it: one launch, in an order that does
// not depend on who is last.
template <class Partial, class Op>
__device__ inline bool joinBlocks(Partial& partial, const Partial& none, Op op,
                                  const GridScratch<Partial>& scratch, unsigned block, unsigned blocks) {
  if (threadIdx.x >= 32) return false;
  bool last = false;
  if (threadIdx.x == 0) {
    scratch.partials[block] = partial;
    last = arriveLast(scratch.arrivals, blocks);
  }
  if (__shfl_sync(fullMask, static_cast<int>(last), 0) == 0) return false;
  __syncwarp();  // shuffles alone do not pass on what thread 0 sees of the others' writes
  partial = joinPartials(scratch.partials, blocks, none, op);
  return threadIdx.x == 0;
}

// The block's total in thread 0, of what its warps hold in their lanes 0, for blocks of a size known only at
// run time.
template <int BLOCK, class Partial, class Op>
__device__ inline Partial joinWarps(Partial partial, const Partial& none, Op op) {
  constexpr unsigned WARPS = BLOCK / 32;
  alignas(16) alignas(Partial) __shared__ unsigned char storage[WARPS * sizeof(Partial)];
  Partial* totals = reinterpret_cast<Partial*>(storage);
  if (threadIdx.x % 32 == 0) totals[threadIdx.x / 32] = partial;
  if (threadIdx.x < WARPS && threadIdx.x >= blockDim.x / 32) totals[threadIdx.x] = none;
  __syncthreads();
  // A tree in one thread has fewer steps, but all totals in its registers.
  if constexpr (sizeof(Partial) <= 8) {
    if (threadIdx.x == 0) partial = sharedTree<static_cast<int>(WARPS)>(totals, op);
  } else if (threadIdx.x < 32) {
    partial = warpReduce(threadIdx.x < WARPS ? totals[threadIdx.x] : none, op);
  }
  return partial;
}

// The same of what all threads hold.
template <int BLOCK, class Partial, class Op>
__device__ inline Partial reduceWarps(const Partial& partial, const Partial& none, Op op) {
  return joinWarps<BLOCK>(warpReduce(partial, op), none, op);
}

// The results of the blocks of a grid, as marked words in place of the counters: like those, they are zero
// between kernels. The last block waits for the others. A ticket and a fence would take 0.3 us more, and for
// results of several words 1 us (H200, 2026-11-21).
template <class Partial>
struct SentPartials {
  static constexpr unsigned WORDS = (sizeof(Partial) + 3) / 4;
  MarkedWord* places;

  __device__ explicit SentPartials(const GridScratch<Partial>& scratch)
      : places(reinterpret_cast<MarkedWord*>(scratch.arrivals)) {}

  __device__ bool leave(const Partial& partial) const {
    if (blockIdx.x == gridDim.x - 1) return true;
    if (threadIdx.x > 0) return false;
    unsigned words[WORDS] = {};
    __builtin_memcpy(words, &partial, sizeof(Partial));
#pragma unroll
    for (unsigned i = 0; i < WORDS; ++i) sendWord(places + i * gridDim.x + blockIdx.x, markWord(words[i]));
    return false;
  }

  // The loads are not predicated: those would be issued two at a time.
  __device__ Partial take(unsigned block, const Partial& none) const {
    const bool exists = block < gridDim.x - 1;
    MarkedWord* place = places + (exists ? block : 0);
    MarkedWord words[WORDS];
    bool complete;
    do {
      complete = true;
#pragma unroll
      for (unsigned i = 0; i < WORDS; ++i) words[i] = lookForWord(place + i * gridDim.x);
#pragma unroll
      for (unsigned i = 0; i < WORDS; ++i) complete = complete && isMarked(words[i]);
    } while (__any_sync(fullMask, exists && !complete));
    if (!exists) return none;
    unsigned values[WORDS];
#pragma unroll
    for (unsigned i = 0; i < WORDS; ++i) {
      values[i] = static_cast<unsigned>(words[i]);
      place[i * gridDim.x] = 0;
    }
    Partial partial = none;
    __builtin_memcpy(&partial, values, sizeof(Partial));
    return partial;
  }
};

// The same in memory, with a ticket: for results of many words, and where blocks start in any order.
template <class Partial>
struct StoredPartials {
  const GridScratch<Partial>& scratch;

  __device__ bool leave(Partial& partial) const {
    bool last = false;
    if (threadIdx.x == 0) {
      scratch.partials[blockIdx.x] = partial;
      last = arriveLast(scratch.arrivals, gridDim.x);
    }
    if (__syncthreads_or(last) == 0) return false;
    partial = scratch.partials[gridDim.x - 1];
    return true;
  }

  __device__ Partial take(unsigned block, const Partial& none) const {
    return block < gridDim.x - 1 ? scratch.partials[block] : none;
  }
};

// Results of so many bytes are sent: places for 292 blocks.
template <class Partial>
inline constexpr bool isSent = sizeof(Partial) <= 28;

// The most blocks that can join.
template <class Partial>
inline constexpr std::size_t mostBlocks = isSent<Partial>
                                              ? Workspace::counterCount / 2 / SentPartials<Partial>::WORDS
                                              : Workspace::capacity / sizeof(Partial);

// Joins the results of all blocks of a grid (in thread 0 of each), in the order of their numbers; true in the
// one thread that then holds the whole. All threads call. One launch, in an order that does not depend on who
// is last.
template <int BLOCK, class Partial, class Op>
__device__ inline bool joinGrid(Partial& partial, const Partial& none, Op op,
                                const GridScratch<Partial>& scratch) {
  using Partials = std::conditional_t<isSent<Partial> && blocksStartInOrder, SentPartials<Partial>,
                                      StoredPartials<Partial>>;
  const Partials partials{scratch};
  if (!partials.leave(partial)) return false;
  const unsigned share = (gridDim.x - 1 + blockDim.x - 1) / blockDim.x;
  Partial sum = none;
  for (unsigned i = 0; i < share; ++i) sum = op(sum, partials.take(threadIdx.x * share + i, none));
  __syncthreads();  // until here, thread 0 may still read what reduceWarps writes
  sum = reduceWarps<BLOCK>(sum, none, op);
  if (threadIdx.x == 0) partial = op(sum, partial);
  return threadIdx.x == 0;
}

// Launches a kernel whose blocks join through scratch memory. What it reads from is a source or a view.
template <class Kernel, class Source, class Reducer, class Shape, class Out>
GPUOPT_HIDDEN void launchJoined(Kernel kernel, const LaunchConfig& config, const Source& source,
                                const Reducer& reducer, const Shape& shape, const Out& out,
                                Workspace* workspace) {
  using Partial = typename Reducer::Partial;
  WorkspaceLease scratch = lease(workspace, config.stream);
  launch(kernel, config, source, reducer, shape,
         GridScratch<Partial>{static_cast<Partial*>(scratch.data()), scratch.counters()}, out);
  scratch.done();
}

}  // namespace detail
GPUOPT_NAMESPACE_END
