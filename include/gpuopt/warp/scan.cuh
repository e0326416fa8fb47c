/// \file
/// Prefix sums and other scans within a warp: warpInclusiveScan and warpExclusiveScan.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/box.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/warp/shuffle.cuh>

GPUOPT_NAMESPACE_BEGIN

namespace detail {

// The inclusive scan within segments of `width` lanes, a power of two that need not be a constant.
template <class T, class Op>
__device__ inline T scanLanes(T value, Op op, int width) {
  const int lane = laneIndex() & (width - 1);
#pragma unroll
  for (int delta = 1; delta < width; delta *= 2) {
    const T lower = shuffleUp(value, static_cast<unsigned>(delta), width);
    if (lane >= delta) value = static_cast<T>(op(lower, value));
  }
  return value;
}

}  // namespace detail

/// The inclusive scan of one value per lane within segments of WIDTH lanes (a power of two up to 32): lane i of a
/// segment gets op over the values of its lanes 0 to i, in lane order. The operation must be associative and need not
/// be commutative.
///
/// All 32 lanes of the warp call, converged. Cost: log2(WIDTH) shuffles per word (Hillis and Steele 1986).
///
/// \param value the lane's value, of any trivially copyable type of any size
/// \param op the operation
/// \returns the lane's prefix; that of the segment's last lane is what warpReduce gives
template <int WIDTH = 32, class T, class Op>
__device__ inline T warpInclusiveScan(T value, Op op) {
  static_assert(detail::isPowerOfTwo<WIDTH> && WIDTH <= 32,
                "gpuopt::warpInclusiveScan: WIDTH must be 1, 2, 4, 8, 16 or 32");
  if constexpr (detail::needsBox<T>)
    return detail::unbox(detail::scanLanes(detail::Box<T>(value), detail::OnBoxes<Op, T>{op}, WIDTH));
  else
    return detail::scanLanes(value, op, WIDTH);
}

/// The exclusive scan: lane i of a segment gets op over `init` and the values of its lanes 0 to i - 1, lane 0 gets
/// `init`. Requirements as for warpInclusiveScan; one more shuffle.
///
/// \param value the lane's value
/// \param init what the scan of each segment begins with
/// \param op the operation
/// \returns the lane's prefix
/// \tparam WIDTH lanes of a segment: 1, 2, 4, 8, 16 or 32
template <int WIDTH = 32, class T, class Op>
__device__ inline T warpExclusiveScan(T value, T init, Op op) {
  if constexpr (detail::needsBox<T>) {
    using Box = detail::Box<T>;
    return detail::unbox(warpExclusiveScan<WIDTH>(Box(value), Box(init), detail::OnBoxes<Op, T>{op}));
  } else {
    const T lower = shuffleUp(warpInclusiveScan<WIDTH>(value, op), 1, WIDTH);
    return laneIndex() % WIDTH == 0 ? init : static_cast<T>(op(init, lower));
  }
}

GPUOPT_NAMESPACE_END
