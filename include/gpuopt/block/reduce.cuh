/// \file
/// Reductions within a thread block, completely unrolled: blockReduce and blockAllReduce.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/block/threads.cuh>
#include <gpuopt/warp/reduce.cuh>

GPUOPT_NAMESPACE_BEGIN

namespace detail {

template <int BLOCK>
inline constexpr bool isBlockSize = BLOCK <= 1024 && (isPowerOfTwo<BLOCK> || (BLOCK > 0 && BLOCK % 32 == 0));

// The lanes of a block that is a warp or less.
template <int BLOCK>
inline constexpr unsigned blockMask = BLOCK >= 32 ? fullMask : (1u << BLOCK % 32) - 1;

// Whether to leave every thread's value in shared memory, where one warp gathers them, rather than to reduce
// every warp to one value first. H200, 2026-11-22, cycles of a sum, gathered and by warps: 256 floats 246 and
// 268, 1024 floats 511 and 545; without tensor cores 1024 doubles 667 and 779, but 256 doubles 358 and 341.
template <int BLOCK, class T, class Op>
inline constexpr bool canGather =
    isCommutative<Op>&& std::is_arithmetic_v<T> && !hasRedux<32, T, Op> &&
    (sizeof(T) == 4 ? BLOCK >= 256 && BLOCK % 128 == 0 : sizeof(T) == 8 && BLOCK % 512 == 0);

// Sums of doubles, which tensor cores add where they are quick at it: 256 in 217 cycles, 1024 in 449.
template <class T, class Op>
inline constexpr bool isTensorSum = std::is_same_v<T, double>&& std::is_same_v<Op, Plus>;

// Up to here every warp does the second half for itself where all threads want the result: that saves the
// second barrier. With more warps their reads stand in each other's way, unless redux does with one.
template <int BLOCK, class T, class Op>
inline constexpr bool everyWarpEnds = BLOCK <= 256 || (reduxAvailable && hasRedux<32, T, Op>);

// The same on every device, and in host code.
template <int BLOCK, class T, class Op>
inline constexpr int slots = canGather<BLOCK, T, Op> ? BLOCK + 32
                             : isTensorSum<T, Op>    ? (BLOCK + 7) / 8
                                                     : (BLOCK + 31) / 32;

}  // namespace detail

/// The shared memory that one reduction of T by Op in a block of BLOCK threads needs: one value a warp, or
/// for large blocks up to one a thread and 32 more, and one for the result.
template <int BLOCK, class T, class Op>
struct BlockReduceStorage {
  /// Bytes alone, so that no constructor runs in shared memory.
  alignas(alignof(T) > 16 ? alignof(T)
                          : 16) unsigned char bytes[sizeof(T) * (detail::slots<BLOCK, T, Op> + 1)];

  /// The values that threads exchange. For the library's own functions, as result().
  __device__ T* values() { return reinterpret_cast<T*>(bytes); }
  /// The value that every thread reads in the end.
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

// A lane's part of BLOCK values: 16 bytes of every 512, neighbouring lanes neighbouring ones.
template <int BLOCK, class T, class Op>
__device__ inline T gatherLane(const T* shared, unsigned lane, Op op) {
  constexpr int ITEMS = 16 / sizeof(T);
  struct alignas(16) Items {
    T values[ITEMS];
  };
  const Items* mine = reinterpret_cast<const Items*>(shared) + lane;
  Items sums = mine[0];
#pragma unroll
  for (int row = 32; row < BLOCK / ITEMS; row += 32) {
    const Items items = mine[row];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) sums.values[i] = op(sums.values[i], items.values[i]);
  }
  return sharedTree<ITEMS>(sums.values, op);
}

// One warp reduces BLOCK values, behind which there is room for 32 more; the result is in lane 0.
template <int BLOCK, class T, class Op>
__device__ inline T gather(T* shared, unsigned lane, Op op) {
  T* lanes = shared + BLOCK;
  lanes[lane] = gatherLane<BLOCK>(shared, lane, op);
  __syncwarp();
  return joinFour(sharedTree<8>(lanes + 8 * (lane % 4), op), 1, op);
}

// One warp adds COUNT sums; the result is in every lane.
template <unsigned COUNT>
__device__ inline double addTensorSums(const double* shared, unsigned lane) {
  double sum = -0.0;  // changes nothing that is added to it, not even -0.0
#pragma unroll
  for (unsigned row = 0; row < COUNT; row += 32)
    if (row + 32 <= COUNT || row + lane < COUNT) sum += shared[row + lane];
  return tensorSumOfFours(tensorSumOfEights(sum));
}

// One warp reduces the warps' results; the result is in every lane. For few of them a tree is quicker than
// redux: of 512 ints 235 cycles and 283, of 1024 442 and 330; where every warp does it, of 256 ints 188 and
// 197, of 512 332 and 245.
template <int BLOCK, bool EVERY_WARP, class T, class Op>
__device__ inline T reduceWarpTotals(const T* shared, unsigned lane, Op op) {
  if constexpr (BLOCK > (EVERY_WARP ? 256 : 512) && reduxAvailable && hasRedux<32, T, Op>)
    return redux(lane < BLOCK / 32 ? shared[lane] : NeutralElement<Op, T>::value(), op);
  else
    return sharedTree<BLOCK / 32>(shared, op);
}

// A warp's result in lane 0. While few warps shuffle, seven shuffles in three steps are quicker than five in
// as many: 269 cycles for 289 to give 256 floats' sum to all, but 375 for 363 with doubles.
template <int BLOCK, class T, class Op>
__device__ inline T reduceWarp(T value, Op op) {
  if constexpr (BLOCK * sizeof(T) > 1024 || (reduxAvailable && hasRedux<32, T, Op>)) {
    return warpReduce(value, op);
  } else {
    value = joinFour(joinFour(value, 1, op), 4, op);
    return static_cast<T>(op(value, shuffleDown(value, 16)));
  }
}

// The first half: leaves in shared memory what the second half reads, and meets at the barrier. Warp and lane
// are taken from the rank, which is there at the start: another special register would be read where lane 0
// stores, when all wait for it.
template <int BLOCK, bool EVERY_WARP, class T, class Op>
__device__ inline void publish(T value, Op op, T* shared, unsigned rank) {
  if constexpr (tensorSumsAvailable && isTensorSum<T, Op>) {
    value = tensorSumOfEights(value);
    if (rank % 32 < 4) shared[rank / 32 * 4 + rank % 32] = value;
  } else if constexpr (canGather<BLOCK, T, Op> && !EVERY_WARP) {
    shared[rank] = value;
  } else {
    value = reduceWarp<BLOCK>(value, op);
    if (rank % 32 == 0) shared[rank / 32] = value;
  }
  __syncthreads();
}

// The second half; the result is in lane 0 of the warp that calls, or of EVERY_WARP in all lanes.
template <int BLOCK, bool EVERY_WARP, class T, class Op>
__device__ inline T reducePublished(T* shared, unsigned lane, Op op) {
  if constexpr (tensorSumsAvailable && isTensorSum<T, Op>)
    return addTensorSums<BLOCK / 8>(shared, lane);
  else if constexpr (canGather<BLOCK, T, Op> && !EVERY_WARP)
    return gather<BLOCK>(shared, lane, op);
  else
    return reduceWarpTotals<BLOCK, EVERY_WARP>(shared, lane, op);
}

}  // namespace detail

/// Reduces one value a thread over a block of BLOCK threads in one, two or three dimensions. Associativity is
/// enough for operations that are not known to be commutative: those are combined in the order of
/// threadRank().
///
/// All BLOCK threads call. BLOCK is a multiple of 32 up to 1024, or a power of two below. T is trivially
/// copyable.
///
/// Cost: one barrier; five to seven shuffles a warp and a tree over the warps, or for arithmetic T in large
/// blocks one shared store a thread and one warp that reads 16 bytes at a time.
/// Technique: complete unrolling (v5.2 of the classical ladder): every step is decided by BLOCK at compile
/// time.
///
/// On GPUs of compute capability 8.0, 9.0 and 10.0, Plus on double is left to the tensor cores, which add in
/// double, too, but in an order of their own: the last bits can differ from those on other devices. An
/// operation of your own, such as a lambda, is combined in the order of threadRank() on all of them. No value
/// goes through more than 14 rounded additions.
///
/// \param value the thread's value
/// \param op the operation
/// \param storage shared memory of the caller; use it again only after a barrier
/// \returns the result in thread 0; other threads hold values without meaning
template <int BLOCK, class T, class Op>
__device__ inline T blockReduce(T value, Op op, BlockReduceStorage<BLOCK, T, Op>& storage) {
  static_assert(detail::isBlockSize<BLOCK>,
                "gpuopt::blockReduce: BLOCK must be a multiple of 32 up to 1024, or a power of two below");
  detail::requireThreads("gpuopt::blockReduce", BLOCK);
  if constexpr (BLOCK <= 32) {
    return warpReduce<BLOCK>(value, op, BLOCK, detail::blockMask<BLOCK>);
  } else {
    T* shared = detail::keepAddress(storage).values();
    const auto rank = static_cast<unsigned>(threadRank());
    detail::publish<BLOCK, false>(value, op, shared, rank);
    if (rank < 32) value = detail::reducePublished<BLOCK, false>(shared, rank, op);
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
  detail::requireThreads("gpuopt::blockReduce", BLOCK);
  if constexpr (BLOCK <= 32) {
    return warpReduce<BLOCK>(value, op, validThreads, detail::blockMask<BLOCK>);
  } else {
    __shared__ BlockReduceStorage<BLOCK, T, Op> storage;
    T* shared = detail::keepAddress(storage).values();
    __syncthreads();
    const int rank = threadRank(), warp = rank / 32;
    value = warpReduce(value, op, validThreads - 32 * warp);
    if (rank % 32 == 0) shared[warp] = value;
    __syncthreads();
    if (warp == 0) {
      const int warps = (validThreads + 31) / 32;
      if (rank < warps) value = shared[rank];
      value = warpReduce(value, op, warps);
    }
    return value;
  }
}

/// Reduces one value a thread over a block of BLOCK threads; every thread holds the result, the same bits in
/// each. Requirements as for blockReduce. Cost: one barrier while every warp can do the second half for
/// itself (up to 256 threads, and for integers that the hardware reduces), a second one beyond.
///
/// \param value the thread's value
/// \param op the operation
/// \param storage shared memory of the caller; use it again only after a barrier
/// \returns the result, in every thread
template <int BLOCK, class T, class Op>
__device__ inline T blockAllReduce(T value, Op op, BlockReduceStorage<BLOCK, T, Op>& storage) {
  static_assert(detail::isBlockSize<BLOCK>,
                "gpuopt::blockAllReduce: BLOCK must be a multiple of 32 up to 1024, or a power of two below");
  detail::requireThreads("gpuopt::blockAllReduce", BLOCK);
  if constexpr (BLOCK <= 32) {
    return warpAllReduce<BLOCK>(value, op, BLOCK, detail::blockMask<BLOCK>);
  } else {
    constexpr bool EVERY_WARP = detail::everyWarpEnds<BLOCK, T, Op>;
    auto& kept = detail::keepAddress(storage);
    const auto rank = static_cast<unsigned>(threadRank());
    detail::publish<BLOCK, EVERY_WARP>(value, op, kept.values(), rank);
    if constexpr (EVERY_WARP) {
      return detail::reducePublished<BLOCK, EVERY_WARP>(kept.values(), rank % 32, op);
    } else {
      if (rank < 32) {
        value = detail::reducePublished<BLOCK, EVERY_WARP>(kept.values(), rank, op);
        if (rank == 0) kept.result() = value;
      }
      __syncthreads();
      return kept.result();
    }
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

GPUOPT_NAMESPACE_END
