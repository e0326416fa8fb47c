/// \file
/// How the threads of a block, the blocks of a cluster and those of a grid come to one result.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/cluster.cuh>
#include <gpuopt/block/reduce.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/host/result.cuh>
#include <gpuopt/host/workspace.cuh>
#include <gpuopt/thread/grid.cuh>

#include <cstddef>

namespace gpuopt::detail {

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
  partial = joinPartials(scratch.partials, blocks, none, op);
  return threadIdx.x == 0;
}

// The same for all blocks of the grid.
template <class Partial, class Op>
__device__ inline bool joinGrid(Partial& partial, const Partial& none, Op op,
                                const GridScratch<Partial>& scratch) {
  return joinBlocks(partial, none, op, scratch, blockIdx.x, gridDim.x);
}

// The same for the blocks of one cluster, which write into the first block's shared memory.
template <int CLUSTER, class Partial, class Op>
__device__ inline bool joinCluster(Partial& partial, const Partial& none, Op op) {
  alignas(16) alignas(Partial) __shared__ unsigned char storage[CLUSTER * sizeof(Partial)];
  Partial* partials = reinterpret_cast<Partial*>(storage);
  clusterWait();
  if (threadIdx.x == 0) *sharedOfRank(partials + clusterRank(), 0) = partial;
  clusterArrive();
  if (clusterRank() != 0) return false;
  clusterWait();
  if (threadIdx.x >= 32) return false;
  partial = joinPartials(partials, CLUSTER, none, op);
  return threadIdx.x == 0;
}

// The block's total in thread 0, for blocks of a size known only at run time.
template <int BLOCK, class Partial, class Op>
__device__ inline Partial reduceWarps(Partial partial, const Partial& none, Op op) {
  constexpr unsigned WARPS = BLOCK / 32;
  alignas(16) alignas(Partial) __shared__ unsigned char storage[WARPS * sizeof(Partial)];
  Partial* totals = reinterpret_cast<Partial*>(storage);
  partial = warpReduce(partial, op);
  if (threadIdx.x % 32 == 0) totals[threadIdx.x / 32] = partial;
  if (threadIdx.x < WARPS && threadIdx.x >= blockDim.x / 32) totals[threadIdx.x] = none;
  __syncthreads();
  if (threadIdx.x == 0) partial = sharedTree<static_cast<int>(WARPS)>(totals, op);
  return partial;
}

// Launches a kernel whose blocks join through scratch memory. What it reads from is a source or a view.
template <class Kernel, class Source, class Reducer, class Shape, class Out>
void launchJoined(Kernel kernel, const LaunchConfig& config, const Source& source, const Reducer& reducer,
                  const Shape& shape, const Out& out, Workspace* workspace) {
  using Partial = typename Reducer::Partial;
  WorkspaceLease scratch = lease(workspace, config.stream);
  launch(kernel, config, source, reducer, shape,
         GridScratch<Partial>{static_cast<Partial*>(scratch.data()), scratch.counters()}, out);
  scratch.done();
}

}  // namespace gpuopt::detail
