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

// How often the lanes of a warp are halved by shuffles before what is left goes to shared memory, where one
// warp gathers it.
template <class T>
inline constexpr int halvings = sizeof(T) == 8 ? 2 : 0;

// Where that is quicker than to reduce every warp to one value first. H200, 2026-11-21, cycles, and those of
// CUB's better algorithm: 256 floats 280 (326), 1024 floats 531 (686), 1024 doubles 721 (827) and to all
// threads 703 (922), 512 ints 233 (287). Of 1024 ints, redux in every warp takes 337 and gathering 452 (472).
template <int BLOCK, class T, class Op>
inline constexpr bool gathersAll = isCommutative<Op>&& std::is_arithmetic_v<T> &&
                                   (sizeof(T) == 4 ? BLOCK % 128 == 0 && BLOCK >= 256 &&
                                                         !(hasRedux<32, T, Op> && BLOCK > 512)
                                                   : sizeof(T) == 8 && BLOCK % 512 == 0);

template <int BLOCK, class T>
inline constexpr int gathered = BLOCK >> halvings<T>;

// Up to here every thread adds the warps' results for itself: no branch, and no second barrier where all want
// the result. With more warps their reads stand in each other's way.
inline constexpr int mostForAll = 256;

template <int BLOCK, class T, class Op>
inline constexpr int slots = gathersAll<BLOCK, T, Op> ? gathered<BLOCK, T> + 32 : (BLOCK + 31) / 32;

}  // namespace detail

/// The shared memory that one block-wide reduction of T by Op needs: one value a warp, or for large blocks up
/// to one a thread and 32 more, and one for the result.
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
template <int COUNT, class T, class Op>
__device__ inline T gatherLane(const T* shared, Op op) {
  const T* mine = shared + 4 * laneIndex();
  T values[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) values[i] = mine[i];
#pragma unroll
  for (int row = 1; row < COUNT / 128; ++row)
#pragma unroll
    for (int i = 0; i < 4; ++i) values[i] = op(values[i], mine[row * 128 + i]);
  return op(op(values[0], values[1]), op(values[2], values[3]));
}

// One warp reduces COUNT values, behind which there is room for 32 more; every lane holds the result.
template <int COUNT, class T, class Op>
__device__ inline T gather(T* shared, Op op) {
  const T value = gatherLane<COUNT>(shared, op);
  if constexpr (reduxAvailable && hasRedux<32, T, Op>) {
    return redux(value, op);
  } else {
    shared[COUNT + laneIndex()] = value;
    __syncwarp();
    return sharedTree<32>(shared + COUNT, op);
  }
}

// The first half: leaves in shared memory what the second half reads, and meets at the barrier. Of every warp
// one value,
template <class T, class Op>
__device__ inline void publishWarps(T value, Op op, T* shared) {
  value = warpReduce(value, op);
  if (laneIndex() == 0) shared[threadRank() / 32] = value;
  __syncthreads();
}

// or of every lane that is left.
template <int BLOCK, class T, class Op>
__device__ inline void publish(T value, Op op, T* shared) {
  if constexpr (gathersAll<BLOCK, T, Op>) {
    constexpr int LANES = 32 >> halvings<T>;
#pragma unroll
    for (int delta = 16; delta >= LANES; delta /= 2)
      value = static_cast<T>(op(value, shuffleDown(value, static_cast<unsigned>(delta))));
    if (LANES == 32 || laneIndex() < LANES) shared[threadRank() / 32 * LANES + laneIndex()] = value;
    __syncthreads();
  } else {
    publishWarps(value, op, shared);
  }
}

// The second half, of what warps have published; every lane of the calling warp holds the result.
template <int BLOCK, class T, class Op>
__device__ inline T reduceWarpTotals(const T* shared, Op op) {
  if constexpr (BLOCK > 128 && reduxAvailable && hasRedux<32, T, Op>)
    return redux(laneIndex() < BLOCK / 32 ? shared[laneIndex()] : Identity<Op, T>::value(), op);
  else
    return sharedTree<BLOCK / 32>(shared, op);
}

template <int BLOCK, class T, class Op>
__device__ inline T reducePublished(T* shared, Op op) {
  if constexpr (gathersAll<BLOCK, T, Op>)
    return gather<gathered<BLOCK, T>>(shared, op);
  else
    return reduceWarpTotals<BLOCK>(shared, op);
}

}  // namespace detail

/// Reduces one value a thread over a block of BLOCK threads in one, two or three dimensions. Associativity is
/// enough for operations that are not known to be commutative: those are combined in the order of
/// threadRank().
///
/// All BLOCK threads call. BLOCK is a multiple of 32 up to 1024, or a power of two below. T is trivially
/// copyable.
///
/// Cost: one barrier; five shuffles a warp and a tree over the warps, or for arithmetic T in large blocks at
/// most two shuffles, one shared store a thread and one warp that reads what is there four at a time.
/// Technique: complete unrolling (v5.2 of the classical ladder): every step is decided by BLOCK at compile
/// time.
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

/// Reduces one value a thread over a block of BLOCK threads; every thread holds the result, the same bits in
/// each. Requirements as for blockReduce. Cost: one barrier while every warp can do the second half for
/// itself (up to 256 threads, and for integers that the hardware reduces), a second one beyond.
template <int BLOCK, class T, class Op>
__device__ inline T blockAllReduce(T value, Op op, BlockReduceStorage<BLOCK, T, Op>& storage) {
  static_assert(detail::isBlockSize<BLOCK>,
                "gpuopt::blockAllReduce: BLOCK must be a multiple of 32 up to 1024, or a power of two below");
  if constexpr (BLOCK <= 32) {
    return warpAllReduce<BLOCK>(value, op, BLOCK, detail::blockMask<BLOCK>);
  } else if constexpr (BLOCK <= detail::mostForAll ||
                       (detail::reduxAvailable && detail::hasRedux<32, T, Op>)) {
    detail::publishWarps(value, op, storage.values());
    return detail::reduceWarpTotals<BLOCK>(storage.values(), op);
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
