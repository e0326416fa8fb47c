/// \file
/// Prefix sums and other scans within a thread block: blockInclusiveScan and blockExclusiveScan.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/reduce.cuh>
#include <gpuopt/block/shared.cuh>
#include <gpuopt/block/threads.cuh>
#include <gpuopt/warp/scan.cuh>

GPUOPT_NAMESPACE_BEGIN

namespace detail {

// What the values of a block's warps before this one give, and those of all warps.
template <class T>
struct WarpPrefix {
  T before;  // without meaning in warp 0
  T total;
};

// `totals` holds one value of each of `warps` warps, a power of two. Every warp scans them itself.
template <class T, class Op>
__device__ inline WarpPrefix<T> prefixOfWarps(const T* totals, int warp, int warps, Op op) {
  const T upTo = scanLanes(totals[laneIndex() & (warps - 1)], op, warps);
  return {shuffleFrom(upTo, warp > 0 ? warp - 1 : 0, warps), shuffleFrom(upTo, warps - 1, warps)};
}

}  // namespace detail

/// The inclusive scan of one value per thread of a block of BLOCK threads in one, two or three dimensions: thread i
/// gets op over the values of threads 0 to i, in the order of threadRank(). The operation must be associative and need
/// not be commutative. It may be called again at once.
///
/// All BLOCK threads call; BLOCK is a power of two from 32 to 1024. T is trivially copyable. Cost: two barriers, up to
/// eleven shuffles per word, one value of shared memory for each warp.
///
/// \param value the thread's value
/// \param op the operation
/// \returns the thread's prefix; that of the last thread is the result of the whole block
template <int BLOCK, class T, class Op>
__device__ inline T blockInclusiveScan(T value, Op op) {
  static_assert(detail::isPowerOfTwo<BLOCK> && BLOCK >= 32 && BLOCK <= 1024,
                "gpuopt::blockInclusiveScan: BLOCK must be a power of two from 32 to 1024");
  detail::requireThreads("gpuopt::blockInclusiveScan", BLOCK);
  if constexpr (detail::needsBox<T>) {
    return detail::unbox(blockInclusiveScan<BLOCK>(detail::Box<T>(value), detail::OnBoxes<Op, T>{op}));
  } else if constexpr (BLOCK == 32) {
    return warpInclusiveScan(value, op);
  } else {
    constexpr int WARPS = BLOCK / 32;
    alignas(16) alignas(T) __shared__ unsigned char bytes[WARPS * sizeof(T)];
    T* const totals = reinterpret_cast<T*>(bytes);
    const int warp = threadRank() / 32;
    const T scanned = warpInclusiveScan(value, op);
    __syncthreads();  // a call before this one may still read
    if (threadRank() % 32 == 31) totals[warp] = scanned;
    __syncthreads();
    const T before = detail::prefixOfWarps(totals, warp, WARPS, op).before;
    return warp == 0 ? scanned : static_cast<T>(op(before, scanned));
  }
}

/// The exclusive scan: thread i gets op over `init` and the values of threads 0 to i - 1, thread 0 gets `init`.
/// Requirements as for blockInclusiveScan; one more shuffle.
///
/// \param value the thread's value
/// \param init what the scan begins with
/// \param op the operation
/// \returns the thread's prefix
/// \tparam BLOCK threads of the block: a power of two from 32 to 1024
template <int BLOCK, class T, class Op>
__device__ inline T blockExclusiveScan(T value, T init, Op op) {
  static_assert(detail::isPowerOfTwo<BLOCK> && BLOCK >= 32 && BLOCK <= 1024,
                "gpuopt::blockExclusiveScan: BLOCK must be a power of two from 32 to 1024");
  detail::requireThreads("gpuopt::blockExclusiveScan", BLOCK);
  if constexpr (detail::needsBox<T>) {
    using Box = detail::Box<T>;
    return detail::unbox(blockExclusiveScan<BLOCK>(Box(value), Box(init), detail::OnBoxes<Op, T>{op}));
  } else {
    constexpr int WARPS = BLOCK / 32;
    alignas(16) alignas(T) __shared__ unsigned char bytes[WARPS * sizeof(T)];
    T* const totals = reinterpret_cast<T*>(bytes);
    const int warp = threadRank() / 32;
    const T scanned = warpInclusiveScan(value, op);
    __syncthreads();  // a call before this one may still read
    if (threadRank() % 32 == 31) totals[warp] = scanned;
    __syncthreads();
    const T before = detail::prefixOfWarps(totals, warp, WARPS, op).before;
    const T start = warp == 0 ? init : static_cast<T>(op(init, before));
    const T lower = shuffleUp(scanned, 1);
    return threadRank() % 32 == 0 ? start : static_cast<T>(op(start, lower));
  }
}

GPUOPT_NAMESPACE_END
