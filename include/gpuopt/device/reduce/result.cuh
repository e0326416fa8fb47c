/// \file
/// What extremes and moments return, and how the results of two parts become the result of both.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/thread/operators.cuh>

#include <cmath>
#include <cstddef>
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

GPUOPT_NAMESPACE_END
