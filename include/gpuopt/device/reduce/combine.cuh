/// \file
/// How the threads of a block, and the blocks of a grid, combine their partial results; and the launch of such grids.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/reduce.cuh>
#include <gpuopt/device/reduce/plan.cuh>
#include <gpuopt/device/reduce/tuning.cuh>
#include <gpuopt/grid/arrival.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/host/result.cuh>
#include <gpuopt/host/workspace.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// Global memory that the blocks of a grid share.
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

// Reduces groups of `lanes` neighbouring lanes, a power of two; the first of each group holds the result.
template <class Partial, class Op>
__device__ inline Partial reduceLanes(Partial partial, Op op, unsigned lanes) {
  for (unsigned delta = 1; delta < lanes; delta *= 2) partial = op(partial, shuffleDown(partial, delta));
  return partial;
}

// The same for the whole warp. Partial results with a faster way overload it.
template <class Partial, class Op>
__device__ inline Partial reduceLanes(const Partial& partial, Op op) {
  return warpReduce(partial, op);
}

// One warp combines partial results in their order; lane 0 holds the result.
template <class Partial, class Op>
__device__ inline Partial reducePartials(const Partial* partials, unsigned count, const Partial& neutral, Op op) {
  constexpr unsigned BATCH = sizeof(Partial) <= 8 ? 8 : 2;
  const unsigned share = (count + 31) / 32;
  const unsigned first = static_cast<unsigned>(laneIndex()) * share;
  const unsigned end = first + share < count ? first + share : count;
  Partial sum = neutral;
  for (unsigned start = first; start < end; start += BATCH) {
    Partial batch[BATCH];
#pragma unroll
    for (unsigned i = 0; i < BATCH; ++i) batch[i] = start + i < end ? partials[start + i] : neutral;
#pragma unroll
    for (unsigned i = 0; i < BATCH; ++i) sum = op(sum, batch[i]);
  }
  return warpReduce(sum, op);
}

// Combines the results of `blocks` blocks, in thread 0 of each; this one is number `block`. Returns true in the one
// thread that then holds the result. The last block to arrive does it, in an order that does not depend on which block
// that is.
template <class Partial, class Op>
__device__ inline bool combineBlocks(Partial& partial, const Partial& neutral, Op op,
                                     const GridScratch<Partial>& scratch, unsigned block, unsigned blocks) {
  if (threadIdx.x >= 32) return false;
  bool last = false;
  if (threadIdx.x == 0) {
    scratch.partials[block] = partial;
    last = arriveLast(scratch.arrivals, blocks);
  }
  if (__shfl_sync(fullMask, static_cast<int>(last), 0) == 0) return false;
  __syncwarp();  // makes the writes that thread 0 has acquired visible to the other lanes; a shuffle does not
  partial = reducePartials(scratch.partials, blocks, neutral, op);
  return threadIdx.x == 0;
}

// Combines the results of a block's warps, in lane 0 of each; thread 0 gets the result. blockDim.x may be less than
// BLOCK.
template <int BLOCK, class Partial, class Op>
__device__ inline Partial combineWarps(Partial partial, const Partial& neutral, Op op) {
  constexpr unsigned WARPS = BLOCK / 32;
  alignas(16) alignas(Partial) __shared__ unsigned char storage[WARPS * sizeof(Partial)];
  Partial* totals = reinterpret_cast<Partial*>(storage);
  if (threadIdx.x % 32 == 0) totals[threadIdx.x / 32] = partial;
  if (threadIdx.x < WARPS && threadIdx.x >= blockDim.x / 32) totals[threadIdx.x] = neutral;
  __syncthreads();
  // A tree in one thread takes fewer steps, but holds all totals in registers.
  if constexpr (sizeof(Partial) <= 8) {
    if (threadIdx.x == 0) partial = sharedTree<static_cast<int>(WARPS)>(totals, op);
  } else if (threadIdx.x < 32) {
    partial = warpReduce(threadIdx.x < WARPS ? totals[threadIdx.x] : neutral, op);
  }
  return partial;
}

// The same for one value per thread.
template <int BLOCK, class Partial, class Op>
__device__ inline Partial reduceWarps(const Partial& partial, const Partial& neutral, Op op) {
  return combineWarps<BLOCK>(warpReduce(partial, op), neutral, op);
}

// Blocks send their results to the last block as marked words, which replace the counters of the scratch memory and are
// zero between kernels, too. Saves the ticket's fence and counter, 0.3 us.
template <class Partial>
struct MarkedPartials {
  static constexpr unsigned WORDS = (sizeof(Partial) + 3) / 4;
  MarkedWord* words;  // word i of block b at [i * gridDim.x + b]

  __device__ explicit MarkedPartials(const GridScratch<Partial>& scratch)
      : words(reinterpret_cast<MarkedWord*>(scratch.arrivals)) {}

  // Publishes a block's result; true in the block that collects all results.
  __device__ bool publish(const Partial& partial) const {
    if (blockIdx.x == gridDim.x - 1) return true;
    if (threadIdx.x > 0) return false;
    unsigned values[WORDS] = {};
    __builtin_memcpy(values, &partial, sizeof(Partial));
#pragma unroll
    for (unsigned i = 0; i < WORDS; ++i) storeMarkedWord(words + i * gridDim.x + blockIdx.x, markWord(values[i]));
    return false;
  }

  // Waits for the result of another block, and zeroes its words. The loads are not predicated, because the compiler
  // would issue predicated ones in pairs.
  __device__ Partial collect(unsigned block, const Partial& neutral) const {
    const bool exists = block < gridDim.x - 1;
    MarkedWord* first = words + (exists ? block : 0);
    MarkedWord loaded[WORDS];
    bool complete;
    do {
      complete = true;
#pragma unroll
      for (unsigned i = 0; i < WORDS; ++i) loaded[i] = loadMarkedWord(first + i * gridDim.x);
#pragma unroll
      for (unsigned i = 0; i < WORDS; ++i) complete = complete && isMarked(loaded[i]);
    } while (__any_sync(fullMask, exists && !complete));
    if (!exists) return neutral;
    unsigned values[WORDS];
#pragma unroll
    for (unsigned i = 0; i < WORDS; ++i) {
      values[i] = static_cast<unsigned>(loaded[i]);
      storeMarkedWord(first + i * gridDim.x, 0);  // other warps may still read it, without a use
    }
    Partial partial = neutral;
    __builtin_memcpy(&partial, values, sizeof(Partial));
    return partial;
  }
};

// Blocks store their results and take a ticket; the block with the last one collects. For large results.
template <class Partial>
struct TicketPartials {
  const GridScratch<Partial>& scratch;

  __device__ bool publish(Partial& partial) const {
    bool last = false;
    if (threadIdx.x == 0) {
      scratch.partials[blockIdx.x] = partial;
      last = arriveLast(scratch.arrivals, gridDim.x);
    }
    if (__syncthreads_or(last) == 0) return false;
    partial = scratch.partials[gridDim.x - 1];
    return true;
  }

  __device__ Partial collect(unsigned block, const Partial& neutral) const {
    return block < gridDim.x - 1 ? scratch.partials[block] : neutral;
  }
};

template <class Partial>
inline constexpr bool isMarkable = sizeof(Partial) <= maxMarkedBytes;

// The most blocks whose results can be combined.
template <class Partial>
inline constexpr std::size_t maxBlocks = isMarkable<Partial> ? maxMarkedWords / MarkedPartials<Partial>::WORDS
                                                             : Workspace::capacity / sizeof(Partial);

// Combines the results of all blocks of a grid, in thread 0 of each, in the order of their numbers. All threads call;
// returns true in the one thread that then holds the result.
template <int BLOCK, class Partial, class Op>
__device__ inline bool gridReduce(Partial& partial, const Partial& neutral, Op op,
                                  const GridScratch<Partial>& scratch) {
  using Partials = std::conditional_t<isMarkable<Partial>, MarkedPartials<Partial>, TicketPartials<Partial>>;
  const Partials partials{scratch};
  if (!partials.publish(partial)) return false;
  const unsigned share = (gridDim.x - 1 + blockDim.x - 1) / blockDim.x;
  Partial sum = neutral;
  for (unsigned i = 0; i < share; ++i) sum = op(sum, partials.collect(threadIdx.x * share + i, neutral));
  __syncthreads();  // thread 0 may still be reading the totals that reduceWarps overwrites
  sum = reduceWarps<BLOCK>(sum, neutral, op);
  if (threadIdx.x == 0) partial = op(sum, partial);
  return threadIdx.x == 0;
}

// The arguments that all public functions share, and the name for error messages.
struct ReduceCall {
  const char* function;
  cudaStream_t stream;
  Workspace* workspace;
};

// Launches a kernel that reads `input`, a source or a view.
template <class Kernel, class Input, class Reducer, class Args, class Out>
GPUOPT_HIDDEN void launchGrid(const ReduceCall& call, const ReduceGrid& grid, Kernel kernel, const Input& input,
                              const Reducer& reducer, const Args& args, const Out& out) {
  using Partial = typename Reducer::Partial;
  const LaunchConfig config = gridConfig(static_cast<int>(grid.threads), grid.blocks, call.stream, call.function);
  if (!grid.combines) return launch(kernel, config, input, reducer, args, GridScratch<Partial>{}, out);
  WorkspaceLease scratch(call.workspace, call.stream);
  launch(kernel, config, input, reducer, args,
         GridScratch<Partial>{static_cast<Partial*>(scratch.data()), scratch.counters()}, out);
  scratch.done();
}

GPUOPT_DETAIL_END
