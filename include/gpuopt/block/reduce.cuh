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

// Whether all threads store their values in shared memory and one warp gathers them. Otherwise each warp reduces its
// values first. For 256 floats gathering takes 246 cycles instead of 268. Measurements of all thresholds here:
// benchmarks/results/reduce_tuning.csv.
template <int BLOCK, class T, class Op>
inline constexpr bool canGather =
    isCommutative<Op>&& std::is_arithmetic_v<T> && !hasRedux<32, T, Op> &&
    (sizeof(T) == 4 ? BLOCK >= 256 && BLOCK % 128 == 0 : sizeof(T) == 8 && BLOCK % 512 == 0);

// Sums of doubles, for the tensor cores of some devices.
template <class T, class Op>
inline constexpr bool isTensorSum = std::is_same_v<T, double>&& std::is_same_v<Op, Plus>;

// Whether every warp does the second half itself if all threads want the result, which saves the second barrier. With
// more warps their reads of shared memory compete, unless each needs a single one, for redux.
template <int BLOCK, class T, class Op>
inline constexpr bool everyWarpFinishes = BLOCK <= 256 || (reduxAvailable && hasRedux<32, T, Op>);

// Values in shared memory: the same number on every device, and in host code.
template <int BLOCK, class T, class Op>
inline constexpr int sharedValues = canGather<BLOCK, T, Op> ? BLOCK + 32
                                    : isTensorSum<T, Op>    ? (BLOCK + 7) / 8
                                                            : (BLOCK + 31) / 32;

// A balanced tree over consecutive values, in order.
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

// Folds what one lane reads of BLOCK values: one vector of each 512 bytes.
template <int BLOCK, class T, class Op>
__device__ inline T gatherLane(const T* shared, unsigned lane, Op op) {
  constexpr int ITEMS = 16 / sizeof(T);
  struct alignas(16) Items {
    T values[ITEMS];
  };
  const Items* own = reinterpret_cast<const Items*>(shared) + lane;
  Items sums = own[0];
#pragma unroll
  for (int row = 32; row < BLOCK / ITEMS; row += 32) {
    const Items items = own[row];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) sums.values[i] = op(sums.values[i], items.values[i]);
  }
  return sharedTree<ITEMS>(sums.values, op);
}

// One warp reduces BLOCK values, followed by space for 32 more; the result is in lane 0.
template <int BLOCK, class T, class Op>
__device__ inline T gather(T* shared, unsigned lane, Op op) {
  T* lanes = shared + BLOCK;
  lanes[lane] = gatherLane<BLOCK>(shared, lane, op);
  __syncwarp();
  return combineFour(sharedTree<8>(lanes + 8 * (lane % 4), op), 1, op);
}

// One warp adds COUNT sums; the result is in every lane.
template <unsigned COUNT>
__device__ inline double addTensorSums(const double* shared, unsigned lane) {
  double sum = -0.0;  // the neutral element: +0.0 would turn a sum of -0.0 into +0.0
#pragma unroll
  for (unsigned row = 0; row < COUNT; row += 32)
    if (row + 32 <= COUNT || row + lane < COUNT) sum += shared[row + lane];
  return tensorSumOfFours(tensorSumOfEights(sum));
}

// One warp reduces the warps' results; the result is in every lane. For few of them a tree is faster than redux.
template <int BLOCK, bool EVERY_WARP, class T, class Op>
__device__ inline T reduceWarpTotals(const T* shared, unsigned lane, Op op) {
  if constexpr (BLOCK > (EVERY_WARP ? 256 : 512) && reduxAvailable && hasRedux<32, T, Op>)
    return redux(lane < BLOCK / 32 ? shared[lane] : NeutralElement<Op, T>::value(), op);
  else
    return sharedTree<BLOCK / 32>(shared, op);
}

// A warp's result in lane 0. In small blocks, seven shuffles of which only three depend on each other are faster than
// five dependent ones; in large blocks the number of shuffles counts.
template <int BLOCK, class T, class Op>
__device__ inline T reduceWarp(T value, Op op) {
  if constexpr (BLOCK * sizeof(T) > 1024 || (reduxAvailable && hasRedux<32, T, Op>)) {
    return warpReduce(value, op);
  } else {
    value = combineFour(combineFour(value, 1, op), 4, op);
    return static_cast<T>(op(value, shuffleDown(value, 16)));
  }
}

// The first half: publishes in shared memory what the second half reads, up to the barrier. Warp and lane follow from
// the rank, which is known early; the lane's special register would be read just before lane 0 stores, while all
// threads wait.
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

// The second half; the result is in lane 0 of the calling warp, for EVERY_WARP in all lanes.
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

/// The shared memory that one reduction of T by Op in a block of BLOCK threads needs: one value per warp, or for large
/// blocks up to one per thread and 32 more, and one for the result.
template <int BLOCK, class T, class Op>
struct BlockReduceStorage {
  /// Raw bytes, so that no constructor runs in shared memory.
  alignas(alignof(T) > 16 ? alignof(T) : 16) unsigned char bytes[sizeof(T) * (detail::sharedValues<BLOCK, T, Op> + 1)];

  /// The values that threads exchange. For the library's own functions, as result().
  __device__ T* values() { return reinterpret_cast<T*>(bytes); }
  /// The value that every thread reads at the end.
  __device__ T& result() { return values()[detail::sharedValues<BLOCK, T, Op>]; }
};

namespace detail {

// The same memory for values in boxes.
template <int BLOCK, class T, class Op>
__device__ inline auto& ofBoxes(BlockReduceStorage<BLOCK, T, Op>& storage) {
  using Storage = BlockReduceStorage<BLOCK, Box<T>, OnBoxes<Op, T>>;
  static_assert(sizeof(Storage) == sizeof(storage));
  return reinterpret_cast<Storage&>(storage);
}

}  // namespace detail

/// Reduces one value per thread over a block of BLOCK threads in one, two or three dimensions. The operation must be
/// associative; unless it is known to commute, values are combined in the order of threadRank().
///
/// All BLOCK threads call. BLOCK is a multiple of 32 up to 1024, or a power of two below 32. T is trivially copyable.
///
/// Cost: one barrier; five to seven shuffles per warp and a tree over the warps, or for arithmetic T in large blocks
/// one shared store per thread and one warp that reads 16 bytes at a time. Technique: complete unrolling (v5.2 of the
/// classical ladder): BLOCK decides every step at compile time.
///
/// On GPUs of compute capability 8.0, 9.0 and 10.0 the tensor cores do Plus on double. They add in double, too, but in
/// an order of their own: the last bits can differ from those on other devices. An operation of your own, such as a
/// lambda, is combined in the order of threadRank() on all of them. No value goes through more than 14 rounded
/// additions.
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
  if constexpr (detail::needsBox<T>) {
    return detail::unbox(
        blockReduce<BLOCK>(detail::Box<T>(value), detail::OnBoxes<Op, T>{op}, detail::ofBoxes(storage)));
  } else if constexpr (BLOCK == 32) {
    return warpReduce(value, op);
  } else if constexpr (BLOCK < 32) {
    return warpReduce<BLOCK>(value, op, BLOCK, detail::blockMask<BLOCK>);
  } else {
    T* shared = detail::keepAddress(storage).values();
    const auto rank = static_cast<unsigned>(threadRank());
    detail::publish<BLOCK, false>(value, op, shared, rank);
    if (rank < 32) value = detail::reducePublished<BLOCK, false>(shared, rank, op);
    return value;
  }
}

/// The same with shared memory of its own. It may be called again at once: a barrier at its start keeps a call from
/// overwriting values that the call before still reads.
template <int BLOCK, class T, class Op>
__device__ inline T blockReduce(T value, Op op) {
  __shared__ BlockReduceStorage<BLOCK, T, Op> storage;
  if constexpr (BLOCK > 32) __syncthreads();
  return blockReduce<BLOCK>(value, op, storage);
}

/// The same over the first `validThreads` threads only (1 to BLOCK, the same in every thread); all BLOCK threads call.
template <int BLOCK, class T, class Op>
__device__ inline T blockReduce(T value, Op op, int validThreads) {
  static_assert(detail::isBlockSize<BLOCK>,
                "gpuopt::blockReduce: BLOCK must be a multiple of 32 up to 1024, or a power of two below");
  detail::requireThreads("gpuopt::blockReduce", BLOCK);
  if constexpr (detail::needsBox<T>) {
    return detail::unbox(blockReduce<BLOCK>(detail::Box<T>(value), detail::OnBoxes<Op, T>{op}, validThreads));
  } else if constexpr (BLOCK <= 32) {
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

/// Reduces one value per thread over a block of BLOCK threads; every thread holds the result, the same bits in each.
/// Requirements as for blockReduce. Cost: one barrier where every warp does the second half itself (up to 256 threads,
/// and for integers that the hardware reduces), two otherwise.
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
  if constexpr (detail::needsBox<T>) {
    return detail::unbox(
        blockAllReduce<BLOCK>(detail::Box<T>(value), detail::OnBoxes<Op, T>{op}, detail::ofBoxes(storage)));
  } else if constexpr (BLOCK == 32) {
    return warpAllReduce(value, op);
  } else if constexpr (BLOCK < 32) {
    return warpAllReduce<BLOCK>(value, op, BLOCK, detail::blockMask<BLOCK>);
  } else {
    constexpr bool EVERY_WARP = detail::everyWarpFinishes<BLOCK, T, Op>;
    auto& shared = detail::keepAddress(storage);
    const auto rank = static_cast<unsigned>(threadRank());
    detail::publish<BLOCK, EVERY_WARP>(value, op, shared.values(), rank);
    if constexpr (EVERY_WARP) {
      return detail::reducePublished<BLOCK, EVERY_WARP>(shared.values(), rank % 32, op);
    } else {
      if (rank < 32) {
        value = detail::reducePublished<BLOCK, EVERY_WARP>(shared.values(), rank, op);
        if (rank == 0) shared.result() = value;
      }
      __syncthreads();
      return shared.result();
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

/// The same over the first `validThreads` threads only (1 to BLOCK, the same in every thread); all BLOCK threads call.
template <int BLOCK, class T, class Op>
__device__ inline T blockAllReduce(T value, Op op, int validThreads) {
  if constexpr (detail::needsBox<T>) {
    return detail::unbox(blockAllReduce<BLOCK>(detail::Box<T>(value), detail::OnBoxes<Op, T>{op}, validThreads));
  } else if constexpr (BLOCK <= 32) {
    return shuffleFrom(blockReduce<BLOCK>(value, op, validThreads), 0, BLOCK, detail::blockMask<BLOCK>);
  } else {
    value = blockReduce<BLOCK>(value, op, validThreads);
    __shared__ BlockReduceStorage<32, T, Op> storage;
    if (threadRank() == 0) storage.result() = value;
    __syncthreads();
    return storage.result();
  }
}

GPUOPT_NAMESPACE_END
