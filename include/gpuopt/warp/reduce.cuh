/// \file
/// Reductions within a warp: warpReduce and warpAllReduce.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/box.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/thread/operators.cuh>
#include <gpuopt/warp/shuffle.cuh>

#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

namespace detail {

// Whether redux can do it: integers of up to 32 bits, in one instruction instead of five shuffles (sm_80).
template <int WIDTH, class T, class Op>
inline constexpr bool hasRedux = WIDTH == 32 && std::is_integral_v<T> &&
                                 sizeof(T) <= 4 && isOneOf<Op, Plus, Minimum, Maximum, BitAnd, BitOr, BitXor>;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
inline constexpr bool reduxAvailable = true;
#else
inline constexpr bool reduxAvailable = false;
#endif

template <class T, class Op>
__device__ inline T redux(T value, Op) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  using Word = std::conditional_t<std::is_signed_v<T>, int, unsigned>;
  const Word word = static_cast<Word>(value);
  if constexpr (std::is_same_v<Op, Plus>) return static_cast<T>(__reduce_add_sync(fullMask, word));
  if constexpr (std::is_same_v<Op, Minimum>) return static_cast<T>(__reduce_min_sync(fullMask, word));
  if constexpr (std::is_same_v<Op, Maximum>) return static_cast<T>(__reduce_max_sync(fullMask, word));
  const unsigned bits = static_cast<unsigned>(value);
  if constexpr (std::is_same_v<Op, BitAnd>) return static_cast<T>(__reduce_and_sync(fullMask, bits));
  if constexpr (std::is_same_v<Op, BitOr>) return static_cast<T>(__reduce_or_sync(fullMask, bits));
  if constexpr (std::is_same_v<Op, BitXor>) return static_cast<T>(__reduce_xor_sync(fullMask, bits));
#endif
  return value;
}

// Combines the values of the lanes l, l + distance, l + 2 distance and l + 3 distance, in this order: two levels of the
// tree by three independent shuffles.
template <class T, class Op>
__device__ inline T combineFour(T value, unsigned distance, Op op) {
  const T second = shuffleDown(value, distance);
  const T third = shuffleDown(value, 2 * distance);
  const T fourth = shuffleDown(value, 3 * distance);
  return static_cast<T>(op(static_cast<T>(op(value, second)), static_cast<T>(op(third, fourth))));
}

// Whether the tensor cores multiply doubles at full rate: compute capability 8.0, 9.0 and 10.0. On others from 8.0 on
// the instruction exists, but is slow.
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000)
inline constexpr bool tensorSumsAvailable = true;
#else
inline constexpr bool tensorSumsAvailable = false;
#endif

struct TensorElements {
  double first, second;
};

// The product of an 8x4 matrix, of which lane l holds element (l / 4, l % 4), and a 4x8 matrix, of which it holds (l %
// 4, l / 4). Lane l gets the elements (l / 4, 2 (l % 4)) and (l / 4, 2 (l % 4) + 1). The whole warp calls, where
// tensorSumsAvailable. The product is added to -0.0, which keeps the sign of zeros.
__device__ inline TensorElements tensorProduct([[maybe_unused]] double left, [[maybe_unused]] double right) {
  TensorElements product = {-0.0, -0.0};
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(product.first), "+d"(product.second)
               : "d"(left), "d"(right));
#endif
  return product;
}

// Four sums of eight lanes each: lane l gets the sum of the lanes from 8 (l % 4) on. All factors are 1, so that
// infinities do not become NaN.
__device__ inline double tensorSumOfEights(double value) {
  const TensorElements sums = tensorProduct(1.0, value);
  return sums.first + sums.second;
}

// The sum of four neighbouring lanes, in all of them.
__device__ inline double tensorSumOfFours(double value) { return tensorProduct(value, 1.0).first; }

}  // namespace detail

/// Reduces one value per lane within segments of WIDTH lanes (a power of two up to 32), in lane order: the operation
/// must be associative and need not be commutative.
///
/// All 32 lanes of the warp call, converged; the overload with a count takes other masks.
///
/// Cost: log2(WIDTH) shuffles per word; one instruction for integers of up to 32 bits on sm_80 and later. Technique:
/// the last warp of the classical reduction ladder (v5.1), with shuffles in place of volatile shared memory.
///
/// \param value the lane's value, of any trivially copyable type of any size
/// \param op the operation
/// \returns the result in lane 0 of each segment; other lanes hold partial results without meaning
template <int WIDTH = 32, class T, class Op>
__device__ inline T warpReduce(T value, Op op) {
  static_assert(detail::isPowerOfTwo<WIDTH> && WIDTH <= 32, "gpuopt::warpReduce: WIDTH must be 1, 2, 4, 8, 16 or 32");
  if constexpr (detail::needsBox<T>) {
    return detail::unbox(warpReduce<WIDTH>(detail::Box<T>(value), detail::OnBoxes<Op, T>{op}));
  } else if constexpr (detail::reduxAvailable && detail::hasRedux<WIDTH, T, Op>) {
    return detail::redux(value, op);
  } else {
#pragma unroll
    for (int delta = 1; delta < WIDTH; delta *= 2)
      value = static_cast<T>(op(value, shuffleDown(value, static_cast<unsigned>(delta), WIDTH)));
    return value;
  }
}

/// The same for the first `validLanes` lanes of each segment only (1 to WIDTH); the values of the others are not used.
/// `mask` names the lanes that call, converged; they form full segments, so that half a warp can work alone.
template <int WIDTH = 32, class T, class Op>
__device__ inline T warpReduce(T value, Op op, int validLanes, unsigned mask = fullMask) {
  static_assert(detail::isPowerOfTwo<WIDTH> && WIDTH <= 32, "gpuopt::warpReduce: WIDTH must be 1, 2, 4, 8, 16 or 32");
  if constexpr (detail::needsBox<T>) {
    return detail::unbox(warpReduce<WIDTH>(detail::Box<T>(value), detail::OnBoxes<Op, T>{op}, validLanes, mask));
  } else {
    const int lane = laneIndex() % WIDTH;
#pragma unroll
    for (int delta = 1; delta < WIDTH; delta *= 2) {
      const T other = shuffleDown(value, static_cast<unsigned>(delta), WIDTH, mask);
      if (lane + delta < validLanes) value = static_cast<T>(op(value, other));
    }
    return value;
  }
}

/// Reduces one value per lane within segments of WIDTH lanes; every lane holds the result, the same bits in each.
/// Requirements as for warpReduce. Cost: as warpReduce for operations that are known to be commutative (a butterfly),
/// one more shuffle for others.
///
/// \param value the lane's value
/// \param op the operation
/// \returns the result, in every lane
template <int WIDTH = 32, class T, class Op>
__device__ inline T warpAllReduce(T value, Op op) {
  static_assert(detail::isPowerOfTwo<WIDTH> && WIDTH <= 32,
                "gpuopt::warpAllReduce: WIDTH must be 1, 2, 4, 8, 16 or 32");
  if constexpr (detail::needsBox<T>) {
    return detail::unbox(warpAllReduce<WIDTH>(detail::Box<T>(value), detail::OnBoxes<Op, T>{op}));
  } else if constexpr (detail::reduxAvailable && detail::hasRedux<WIDTH, T, Op>) {
    return detail::redux(value, op);
  } else if constexpr (isCommutative<Op>) {
#pragma unroll
    for (int delta = 1; delta < WIDTH; delta *= 2) value = static_cast<T>(op(value, shuffleXor(value, delta, WIDTH)));
    return value;
  } else {
    return shuffleFrom(warpReduce<WIDTH>(value, op), 0, WIDTH);
  }
}

/// The same for the first `validLanes` lanes of each segment only (1 to WIDTH); `mask` as for warpReduce.
template <int WIDTH = 32, class T, class Op>
__device__ inline T warpAllReduce(T value, Op op, int validLanes, unsigned mask = fullMask) {
  return shuffleFrom(warpReduce<WIDTH>(value, op, validLanes, mask), 0, WIDTH, mask);
}

GPUOPT_NAMESPACE_END
