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

// Where it is quicker to put every value into shared memory and let one warp read them four at a time than to
// shuffle in every warp first (H200, 2026-11-21, cycles: 512 floats 371 against 402, 1024 doubles 743 against
// 783, 256 ints 181 against 199).
template <int BLOCK, class T, class Op>
inline constexpr bool gathersAll = BLOCK % 128 == 0 && BLOCK >= (std::is_integral_v<T> ? 256 : 512) &&
                                   isCommutative<Op>&& std::is_arithmetic_v<T> &&
                                   (sizeof(T) == 4 || sizeof(T) == 8);

// Up to here every thread adds the warps' results for itself: no branch, and no second barrier where all want
// the result. With more warps their reads stand in each other's way.
inline constexpr int mostForAll = 256;

template <int BLOCK, class T, class Op>
inline constexpr int slots = gathersAll<BLOCK, T, Op> ? BLOCK : (BLOCK + 31) / 32;

}  // namespace detail

/// The shared memory that one block-wide reduction of T by Op needs: one value a warp, or one a thread for
/// large blocks, and one for the result.
template <int BLOCK, class T, class Op>
struct BlockReduceStorage {
  alignas(alignof(T) > 16 ? alignof(T)
                          : 16) unsigned char bytes[sizeof(T) * (detail::slots<BLOCK, T, Op> + 1)];

  __device__ T* values() { return reinterpret_cast<T*>(bytes); }
  __device__ T& result() { return values()[detail::slots<BLOCK, T, Op>]; }
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
    for (int i = 0; i + distance < COUNT; i += 2 * distance) values[i] = op(values[i], values[i + distance]);
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

// The first half: leaves in shared memory what the second half reads, and meets at the barrier.
template <int BLOCK, class T, class Op>
__device__ inline void publish(T value, Op op, T* shared) {
  if constexpr (gathersAll<BLOCK, T, Op>) {
    shared[threadRank()] = value;
  } else {
    value = warpReduce(value, op);
    if (laneIndex() == 0) shared[threadRank() / 32] = value;
  }
  __syncthreads();
}

// The second half, by one warp or by all; the calling warp's lane 0 holds the result.
template <int BLOCK, class T, class Op>
__device__ inline T reducePublished(const T* shared, Op op) {
  if constexpr (gathersAll<BLOCK, T, Op>)
    return warpReduce(gatherLane<BLOCK>(shared, op), op);
  else
    return sharedTree<BLOCK / 32>(shared, op);
}

}  // namespace detail

/// Reduces one value a thread over a block of BLOCK threads in one, two or three dimensions. Associativity is
/// enough for operations that are not known to be commutative: those are combined in the order of
/// threadRank().
///
/// All BLOCK threads call. BLOCK is a multiple of 32 up to 1024, or a power of two below. T is trivially
/// copyable.
///
/// Cost: one barrier; five shuffles a warp and a tree over the warps, or for arithmetic T in large blocks one
/// shared store a thread and one warp that reads them four at a time. Technique: complete unrolling (v5.2 of
/// the classical ladder): every step is decided by BLOCK at compile time.
///
/// \param value the thread's value
/// \param op the operation
/// \param storage shared memory of the caller; use it again only after a barrier
/// \returns the result in thread 0; other threads hold values without meaning
template <int BLOCK, class T, class Op>
__device__ inline T blockReduce(T value, Op op, BlockReduceStorage<BLOCK, T, Op>& storage) {
  static_assert(detail::isBlockSize<BLOCK>,
                "gpuopt::blockReduce: BLOCK must be a multiple of 32 up to 1024, or a power of two below");
  if constexpr (BLOCK <= 32) {
    return warpReduce<BLOCK>(value, op, BLOCK, detail::blockMask<BLOCK>);
  } else {
    detail::publish<BLOCK>(value, op, storage.values());
    if constexpr (BLOCK <= detail::mostForAll && !detail::gathersAll<BLOCK, T, Op>)
      value = detail::reducePublished<BLOCK>(storage.values(), op);
    else if (threadRank() < 32)
      value = detail::reducePublished<BLOCK>(storage.values(), op);
    return value;
  }
}

/// The same with shared memory of its own. It may be called again at once: a barrier at its start keeps one
/// call from overwriting what the last one still reads.
template <int BLOCK, class T, class Op>
__device__ inline T blockReduce(T value, Op op) {
  __shared__ BlockReduceStorage<BLOCK, T, Op> storage;
  if constexpr (BLOCK > 32) __syncthreads();
  return blockReduce<BLOCK>(value, op, storage);
}

/// The same over the first `validThreads` threads only (1 to BLOCK, the same in every thread); all BLOCK
/// threads call.
template <int BLOCK, class T, class Op>
__device__ inline T blockReduce(T value, Op op, int validThreads) {
  static_assert(detail::isBlockSize<BLOCK>,
                "gpuopt::blockReduce: BLOCK must be a multiple of 32 up to 1024, or a power of two below");
  if constexpr (BLOCK <= 32) {
    return warpReduce<BLOCK>(value, op, validThreads, detail::blockMask<BLOCK>);
  } else {
    __shared__ BlockReduceStorage<BLOCK, T, Op> storage;
    T* shared = storage.values();
    __syncthreads();
    const int warp = threadRank() / 32;
    value = warpReduce(value, op, validThreads - 32 * warp);
    if (laneIndex() == 0) shared[warp] = value;
    __syncthreads();
    if (warp == 0) {
      const int warps = (validThreads + 31) / 32;
      if (laneIndex() < warps) value = shared[laneIndex()];
      value = warpReduce(value, op, warps);
    }
    return value;
  }
}

namespace detail {

// Both halves by the warp's own instruction, the second in every warp: cheaper than a second barrier.
template <int BLOCK, class T, class Op>
__device__ inline T reduxAll(T value, Op op, T* shared) {
  value = redux(value, op);
  if (laneIndex() == 0) shared[threadRank() / 32] = value;
  __syncthreads();
  return redux(laneIndex() < BLOCK / 32 ? shared[laneIndex()] : Identity<Op, T>::value(), op);
}

}  // namespace detail

/// Reduces one value a thread over a block of BLOCK threads; every thread holds the result, the same bits in
/// each. Requirements as for blockReduce. Cost: one barrier while every warp can do the second half for
/// itself (up to 256 threads, and for integers that the hardware reduces), a second one beyond.
template <int BLOCK, class T, class Op>
__device__ inline T blockAllReduce(T value, Op op, BlockReduceStorage<BLOCK, T, Op>& storage) {
  static_assert(detail::isBlockSize<BLOCK>,
                "gpuopt::blockAllReduce: BLOCK must be a multiple of 32 up to 1024, or a power of two below");
  if constexpr (BLOCK <= 32) {
    return warpAllReduce<BLOCK>(value, op, BLOCK, detail::blockMask<BLOCK>);
  } else if constexpr (detail::reduxAvailable && detail::hasRedux<32, T, Op>) {
    return detail::reduxAll<BLOCK>(value, op, storage.values());
  } else if constexpr (BLOCK <= detail::mostForAll && !detail::gathersAll<BLOCK, T, Op>) {
    return blockReduce<BLOCK>(value, op, storage);
  } else {
    detail::publish<BLOCK>(value, op, storage.values());
    if (threadRank() < 32) {
      value = detail::reducePublished<BLOCK>(storage.values(), op);
      if (laneIndex() == 0) storage.result() = value;
    }
    __syncthreads();
    return storage.result();
  }
}

/// The same with shared memory of its own; it may be called again at once.
template <int BLOCK, class T, class Op>
__device__ inline T blockAllReduce(T value, Op op) {
  __shared__ BlockReduceStorage<BLOCK, T, Op> storage;
  if constexpr (BLOCK > 32) __syncthreads();
  return blockAllReduce<BLOCK>(value, op, storage);
}

/// The same over the first `validThreads` threads only (1 to BLOCK, the same in every thread); all BLOCK
/// threads call.
template <int BLOCK, class T, class Op>
__device__ inline T blockAllReduce(T value, Op op, int validThreads) {
  value = blockReduce<BLOCK>(value, op, validThreads);
  if constexpr (BLOCK <= 32) {
    return shuffleFrom(value, 0, BLOCK, detail::blockMask<BLOCK>);
  } else {
    __shared__ BlockReduceStorage<32, T, Op> storage;
    if (threadRank() == 0) storage.result() = value;
    __syncthreads();
    return storage.result();
  }
}

}  // namespace gpuopt
