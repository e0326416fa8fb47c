/// \file
/// What callers choose about reductions, and what these return: policies, initial values, results, and
/// the results of two parts combined.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/callable.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/thread/operators.cuh>

#include <cmath>
#include <cstddef>
#include <iterator>
#include <type_traits>

GPUOPT_TYPES_BEGIN

/// The smallest and largest element, of type T.
template <class T>
struct MinMax {
  T minimum;  ///< the smallest element
  T maximum;  ///< the largest element
};

/// The sum, of type Sum, and the smallest and largest element, of type T.
template <class T, class Sum>
struct SumMinMax {
  Sum sum;    ///< of all elements
  T minimum;  ///< the smallest element
  T maximum;  ///< the largest element
};

/// An extreme value, of type T, and the index of its first occurrence; `none` where there are no elements.
template <class T>
struct ArgResult {
  static constexpr std::size_t none = ~std::size_t{0};  ///< the index where there are no elements
  T value;                                              ///< the extreme value
  std::size_t index;                                    ///< of its first occurrence

  /// The same with an index that counts from `offset` elements earlier: for a part that begins at that element.
  __host__ __device__ ArgResult shifted(std::size_t offset) const {
    return {value, index == none ? none : index + offset};
  }
};

/// Number of elements, mean, and population variance, the latter of type T.
template <class T>
struct MeanVariance {
  std::size_t count;  ///< the number of elements
  T mean;             ///< the arithmetic mean
  T variance;         ///< the sum of squared deviations over count

  /// The unbiased estimate from a sample: the sum of squared deviations over count - 1.
  __host__ __device__ T sampleVariance() const {
    return count > 1 ? variance * (static_cast<T>(count) / static_cast<T>(count - 1)) : T(0);
  }
};

GPUOPT_TYPES_END

GPUOPT_NAMESPACE_BEGIN

namespace detail {

// Whether `a` is strictly more extreme than `b`. A NaN is more extreme than every number.
template <class Select, class T>
__host__ __device__ inline bool beats(const T& a, const T& b) {
  const bool inOrder = std::is_same_v<Select, Minimum> ? a >= b : a <= b;
  return !inOrder && b == b;
}

// The more extreme of two values with indices; of equal ones the one with the lower index.
template <class Select, class Part>
__host__ __device__ inline Part moreExtreme(const Part& a, const Part& b) {
  const bool second = beats<Select>(b.value, a.value) || (!beats<Select>(a.value, b.value) && b.index < a.index);
  return second ? b : a;
}

// Number, mean and sum of squared deviations.
template <class A>
struct MomentSums {
  A count;
  A mean;
  A squares;
};

// a / b, for float on the device to within 2 units in the last place: a quarter of the instructions.
template <class A>
__host__ __device__ inline A quotient(A a, A b) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<A, float>) return __fdividef(a, b);
#endif
  return a / b;
}

// The pairwise formula of Chan, Golub and LeVeque (1979), which takes no difference of large sums. Half the distance of
// the means is in range whatever they are; scaling by powers of two rounds nothing. Without branches: a part of no
// elements has the mean 0.
template <class A>
__host__ __device__ inline MomentSums<A> combine(const MomentSums<A>& a, const MomentSums<A>& b) {
  const A count = a.count + b.count;
  const A weight = a.count == A(0) ? A(1) : quotient(b.count, count);
  const A halfDelta = b.mean * A(0.5) - a.mean * A(0.5);
  using std::fma;
  return {count, fma(halfDelta, 2 * weight, a.mean),
          a.squares + b.squares + halfDelta * (halfDelta * (4 * a.count * weight))};
}

}  // namespace detail

/// The results of two parts of the elements, such as two chunks of a stream, combined to the result of both. For host
/// and device code; a result of no elements changes nothing.
///
///     best = combine(best, argMin(chunk, n).shifted(first), Minimum{});   // the chunk begins at element `first`
template <class T>
__host__ __device__ MinMax<T> combine(const MinMax<T>& a, const MinMax<T>& b) {
  return {Minimum{}(a.minimum, b.minimum), Maximum{}(a.maximum, b.maximum)};
}

/// The same with sums, which are added.
template <class T, class Sum>
__host__ __device__ SumMinMax<T, Sum> combine(const SumMinMax<T, Sum>& a, const SumMinMax<T, Sum>& b) {
  return {Plus{}(a.sum, b.sum), Minimum{}(a.minimum, b.minimum), Maximum{}(a.maximum, b.maximum)};
}

/// The same for extremes with an index. Of equal ones the lower index stays, whichever part it is from.
///
/// \param a,b the parts' results, their indices in one range (ArgResult::shifted)
/// \tparam Select Minimum for argMin, Maximum for argMax
template <class T, class Select>
__host__ __device__ ArgResult<T> combine(const ArgResult<T>& a, const ArgResult<T>& b, Select) {
  static_assert(std::is_same_v<Select, Minimum> || std::is_same_v<Select, Maximum>,
                "gpuopt::combine: results of argMin are combined with Minimum{}, those of argMax with Maximum{}");
  return detail::moreExtreme<Select>(a, b);
}

/// Without Minimum{} or Maximum{} it is unknown which value stays: this one does not compile.
template <class T>
ArgResult<T> combine(const ArgResult<T>& a, const ArgResult<T>&) {
  static_assert(!std::is_same_v<T, T>,
                "gpuopt::combine: results of argMin are combined with Minimum{}, those of argMax with Maximum{}, as a "
                "third argument");
  return a;
}

/// The same for mean and variance, by the formula of Chan, Golub and LeVeque (1979).
template <class T>
__host__ __device__ MeanVariance<T> combine(const MeanVariance<T>& a, const MeanVariance<T>& b) {
  if (b.count == 0) return a;
  if (a.count == 0) return b;
  const auto sums = [](const MeanVariance<T>& part) {
    const T count = static_cast<T>(part.count);
    return detail::MomentSums<T>{count, part.mean, part.variance * count};
  };
  const detail::MomentSums<T> both = detail::combine(sums(a), sums(b));
  const std::size_t count = a.count + b.count;
  return {count, both.mean, both.squares / static_cast<T>(count)};
}

/// How a device-wide reduction is divided among threads and blocks. To change a value, derive a type and pass it as the
/// second template argument. All choices follow from the number of bytes, never from the device.
struct ReducePolicy {
  static constexpr int BLOCK = 512;  ///< most threads of a block
  static constexpr int VECTORS = 8;  ///< 16-byte loads in flight per thread
  /// Whether a load of an array takes 32 bytes: one instruction from sm_100 on, two before. Unmeasured. Without effect
  /// on pairs of arrays, and on policies whose order is the same at every alignment.
  static constexpr bool WIDE_LOADS = false;
  static constexpr bool BY_LENGTH = false;  ///< whether the order is the same at every alignment
  static constexpr bool IN_ORDER = false;   ///< whether operands are combined in the order of the input

  /// Most elements per thread where each block takes one tile. More would unroll into more instructions, and a cold
  /// cache loads those from memory.
  static constexpr int TILE_ELEMENTS = 32;
  /// Elements per thread of a single block, as long as it has no more than 256 threads.
  static constexpr std::size_t oneBlockElements = 32;
  /// Largest input for which each block takes one tile. Above, blocks loop over tiles.
  static constexpr std::size_t tileBytes = 16 << 20;
  /// Largest input whose loads bypass L1 and are evicted from L2 first. Above, each block reads one contiguous range
  /// with plain loads, 3 to 5 % faster.
  static constexpr std::size_t streamedBytes = std::size_t{384} << 20;

  /// Threads of each of several blocks that take one tile, by the bytes of the input.
  static constexpr int tileThreads(std::size_t bytes) {
    return bytes <= (256 << 10) ? 128 : bytes <= (4 << 20) ? 256 : 512;
  }
  /// Number of blocks that loop over tiles. 256 divides inputs of 2^k bytes evenly. Above `streamedBytes` there are
  /// seven for each one that runs at the same time on an H100 or H200, so that slow multiprocessors take fewer of them.
  static constexpr unsigned loopBlocks(std::size_t bytes) { return bytes <= streamedBytes ? 256 : 7 * waveBlocks; }
  /// Two blocks for each multiprocessor of an H100 or H200. Where the results of `loopBlocks` blocks are too large to
  /// be combined, there are a multiple of this number.
  static constexpr unsigned waveBlocks = 264;
};

/// The policy of results that depend on n and the types alone: the order of ReducePolicy also depends on where the
/// input begins relative to a 128-byte boundary. The price: misaligned input is read element by element.
struct ByLength : ReducePolicy {
  static constexpr bool BY_LENGTH = true;  ///< the order is the same at every alignment
};

/// The policy of operations that are associative but not commutative: operands are combined in the order of the input.
struct InOrder : ByLength {
  static constexpr bool IN_ORDER = true;  ///< operands are combined in the order of the input
  /// Number of blocks, each of which takes one range.
  static constexpr unsigned loopBlocks(std::size_t bytes) { return bytes <= streamedBytes ? 256 : waveBlocks; }
  /// Rows of 32 steps that a warp has in flight, 2, 4 or 8. Fewer rows spread small inputs over more warps.
  static constexpr int orderedRows(std::size_t bytes) { return bytes <= (4 << 20) ? 2 : bytes <= (16 << 20) ? 4 : 8; }
};

/// An initial value of type T in device memory, from deviceValue.
template <class T>
struct DeviceValue {
  const T* address;  ///< read by the kernel
};

/// An initial value that is in device memory when the kernel runs: for `init` that an earlier kernel computes, also
/// within a captured graph.
///
///     gpuopt::reduceInto(chunk, n, sum, gpuopt::Plus{}, gpuopt::deviceValue(sum), stream);   // adds to *sum
///
/// \param address a device pointer, which may be the call's `out`
template <class P>
auto deviceValue(P address)
    -> DeviceValue<std::remove_cv_t<std::remove_pointer_t<decltype(detail::toAddress(address))>>> {
  return {detail::toAddress(address)};
}

/// The accumulator, and result type, of a fold by Op over the elements of an iterator `It`, where A is the accumulator
/// that the caller names.
template <class A, class Op, class It>
using Reduced = detail::Accumulator<A, Op, typename std::iterator_traits<It>::value_type>;

/// The accumulator, and result type, of a fold by Op over the results of F, for elements of one or more inputs.
///
/// \tparam A the accumulator that the caller names, or DefaultAccumulator
/// \tparam Op the operation
/// \tparam Its the inputs: pointers or iterators
template <class A, class Op, class F, class... Its>
using ReducedBy = detail::Accumulator<A, Op, detail::ResultOf<F, typename std::iterator_traits<Its>::value_type...>>;

/// The accumulator, and result type, of a dot product of the elements of It1 and It2, where A is the accumulator that
/// the caller names.
template <class A, class It1, class It2>
using DotResult = detail::Accumulator<
    A, Plus,
    std::common_type_t<detail::Accumulator<A, Plus, typename std::iterator_traits<It1>::value_type>,
                       detail::Accumulator<A, Plus, typename std::iterator_traits<It2>::value_type>>>;

namespace detail {
struct ReduceRowsPolicy;
struct ReduceColumnsPolicy;
struct ReduceSegmentsPolicy;
}  // namespace detail

/// How rows are divided; for the library alone.
using ReduceRowsPolicy [[deprecated("gpuopt: the library's own; ReducePolicy is for reduce()")]] =
    detail::ReduceRowsPolicy;
/// How columns are divided; for the library alone.
using ReduceColumnsPolicy [[deprecated("gpuopt: the library's own; ReducePolicy is for reduce()")]] =
    detail::ReduceColumnsPolicy;
/// How segments are divided; for the library alone.
using ReduceSegmentsPolicy [[deprecated("gpuopt: the library's own; ReducePolicy is for reduce()")]] =
    detail::ReduceSegmentsPolicy;

GPUOPT_NAMESPACE_END
