/// \file
/// Reductions within a thread block, completely unrolled: blockReduce and blockAllReduce.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/warp/reduce.cuh>

namespace gpuopt {

namespace detail {

template <int BLOCK>
inline constexpr bool isBlockSize = BLOCK <= 1024 && (isPowerOfTwo<BLOCK> || (BLOCK > 0 && BLOCK % 32 == 0));

// The lanes of a block that is a warp or less.
template <int BLOCK>
inline constexpr unsigned blockMask = BLOCK >= 32 ? fullMask : (1u << BLOCK % 32) - 1;

// From here on it is quicker to put every value into shared memory and let one warp read them four at a time than to
// shuffle in every warp first: the shuffles of 16 and more warps wait for each other (H200, docs/performance.md).
template <int BLOCK, class T, class Op>
inline constexpr bool gathersAll =
    BLOCK >= 512 && BLOCK % 128 == 0 && isCommutative<Op> && (sizeof(T) == 4 || sizeof(T) == 8) && std::is_arithmetic_v<T>;

template <int BLOCK, class T, class Op>
inline constexpr int slots = gathersAll<BLOCK, T, Op> ? BLOCK : (BLOCK + 31) / 32;

}  // namespace detail

/// The shared memory that one block-wide reduction of T by Op needs: one value a warp, or one a thread for large blocks.
template <int BLOCK, class T, class Op>
struct BlockReduceStorage {
  alignas(alignof(T) > 16 ? alignof(T) : 16) unsigned char bytes[sizeof(T) * detail::slots<BLOCK, T, Op>];

  __device__ T* values() { return reinterpret_cast<T*>(bytes); }
};

namespace detail {

// A balanced tree over consecutive values, in order; the loop disappears.
template <int COUNT, class T, class Op>
__device__ inline T sharedTree(const T* shared, Op op) {
  T values[COUNT];
#pragma unroll
  for (int i = 0; i < COUNT; ++i) values[i] = shared[i];
#pragma unroll
  for (int distance = 1; distance < COUNT; distance *= 2)
#pragma unroll
    for (int i = 0; i + distance < COUNT; i += 2 * distance) values[i] = static_cast<T>(op(values[i], values[i + distance]));
  return values[0];
}

// Lane l of a warp reduces the values 4l..4l+3 of every 128: neighbouring lanes read neighbouring 16 bytes.
template <int BLOCK, class T, class Op>
__device__ inline T gatherLane(const T* shared, Op op) {
  const T* mine = shared + 4 * laneIndex();
  T values[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) values[i] = mine[i];
#pragma unroll
  for (int row = 1; row < BLOCK / 128; ++row)
#pragma unroll
    for (int i = 0; i < 4; ++i) values[i] = op(values[i], mine[row * 128 + i]);
  return op(op(values[0], values[1]), op(values[2], values[3]));
}

// Leaves in shared memory what the second half of the reduction reads, and meets at the barrier.
template <int BLOCK, class T, class Op>
__device__ inline T publish(T value, Op op, T* shared) {
  if constexpr (gathersAll<BLOCK, T, Op>) {
    shared[threadIdx.x] = value;
  } else {
    value = warpReduce(value, op);
    if (laneIndex() == 0) shared[threadIdx.x / 32] = value;
  }
  __syncthreads();
  return value;
}

}  // namespace detail

/// Reduces one value a thread over a one-dimensional block of BLOCK threads. Associativity is enough for operations that are
/// not known to be commutative: those are combined in thread order.
/// \returns the result in thread 0; other threads hold values without meaning.
/// \param storage shared memory of the caller; use it again only after a barrier
/// All BLOCK threads call. BLOCK is a multiple of 32 up to 1024, or less than 32 and a power of two.
/// Cost: one barrier; log2(32) shuffles a warp and a tree over the warps, or for arithmetic T from 512 threads one
/// shared store a thread and one warp that reads them four at a time.
/// Technique: complete unrolling (v5.2 of the classical ladder): every step is decided by BLOCK at compile time.
template <int BLOCK, class T, class Op>
__device__ inline T blockReduce(T value, Op op, BlockReduceStorage<BLOCK, T, Op>& storage) {
  static_assert(detail::isBlockSize<BLOCK>, "gpuopt::blockReduce: BLOCK must be a multiple of 32 up to 1024, or a power of two below");
  if constexpr (BLOCK <= 32) {
    return warpReduce<BLOCK>(value, op, BLOCK, detail::blockMask<BLOCK>);
  } else {
    T* shared = storage.values();
    value = detail::publish<BLOCK>(value, op, shared);
    if constexpr (detail::gathersAll<BLOCK, T, Op>) {
      if (threadIdx.x < 32) value = warpReduce(detail::gatherLane<BLOCK>(shared, op), op);
    } else {
      if (threadIdx.x == 0) value = detail::sharedTree<BLOCK / 32>(shared, op);
    }
    return value;
  }
}

/// The same with shared memory of its own. It may be called again at once: a barrier at its start keeps one call from
/// overwriting what the last one still reads.
template <int BLOCK, class T, class Op>
__device__ inline T blockReduce(T value, Op op) {
  __shared__ BlockReduceStorage<BLOCK, T, Op> storage;
  if constexpr (BLOCK > 32) __syncthreads();
  return blockReduce<BLOCK>(value, op, storage);
}

/// The same over the first `validThreads` threads only (1 to BLOCK, the same in every thread); all BLOCK threads call.
template <int BLOCK, class T, class Op>
__device__ inline T blockReduce(T value, Op op, int validThreads) {
  static_assert(detail::isBlockSize<BLOCK>, "gpuopt::blockReduce: BLOCK must be a multiple of 32 up to 1024, or a power of two below");
  if constexpr (BLOCK <= 32) {
    return warpReduce<BLOCK>(value, op, validThreads, detail::blockMask<BLOCK>);
  } else {
    __shared__ BlockReduceStorage<BLOCK, T, Op> storage;
    T* shared = storage.values();
    __syncthreads();
    const int warp = static_cast<int>(threadIdx.x / 32);
    value = warpReduce(value, op, validThreads - 32 * warp);
    if (laneIndex() == 0) shared[warp] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
      const int warps = (validThreads + 31) / 32;
      if (laneIndex() < warps) value = shared[laneIndex()];
      value = warpReduce(value, op, warps);
    }
    return value;
  }
}

/// Reduces one value a thread over a one-dimensional block of BLOCK threads; every thread holds the result, the same bits in each.
/// Requirements as for blockReduce. Cost: one barrier; every warp does the second half for itself, which is
/// quicker than to broadcast thread 0's result over a second barrier.
template <int BLOCK, class T, class Op>
__device__ inline T blockAllReduce(T value, Op op, BlockReduceStorage<BLOCK, T, Op>& storage) {
  static_assert(detail::isBlockSize<BLOCK>, "gpuopt::blockAllReduce: BLOCK must be a multiple of 32 up to 1024, or a power of two below");
  if constexpr (BLOCK <= 32) {
    return warpAllReduce<BLOCK>(value, op, BLOCK, detail::blockMask<BLOCK>);
  } else {
    T* shared = storage.values();
    detail::publish<BLOCK>(value, op, shared);
    if constexpr (detail::gathersAll<BLOCK, T, Op>)
      return warpAllReduce(detail::gatherLane<BLOCK>(shared, op), op);
    else
      return detail::sharedTree<BLOCK / 32>(shared, op);
  }
}

/// The same with shared memory of its own; it may be called again at once.
template <int BLOCK, class T, class Op>
__device__ inline T blockAllReduce(T value, Op op) {
  __shared__ BlockReduceStorage<BLOCK, T, Op> storage;
  if constexpr (BLOCK > 32) __syncthreads();
  return blockAllReduce<BLOCK>(value, op, storage);
}

/// The same over the first `validThreads` threads only (1 to BLOCK, the same in every thread); all BLOCK threads call.
template <int BLOCK, class T, class Op>
__device__ inline T blockAllReduce(T value, Op op, int validThreads) {
  value = blockReduce<BLOCK>(value, op, validThreads);
  if constexpr (BLOCK <= 32) {
    return shuffleFrom(value, 0, BLOCK, detail::blockMask<BLOCK>);
  } else {
    __shared__ BlockReduceStorage<32, T, Op> total;
    if (threadIdx.x == 0) *total.values() = value;
    __syncthreads();
    return *total.values();
  }
}

}  // namespace gpuopt
