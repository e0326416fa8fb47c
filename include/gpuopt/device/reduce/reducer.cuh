/// \file
/// What a reduction makes of its elements: folds, positions of extremes, moments.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/thread/operators.cuh>

#include <cstddef>
#include <iterator>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

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

/// What a fold by Op of the elements of an iterator `It` accumulates in, and gives, where the caller asks for
/// A.
template <class A, class Op, class It>
using Reduced = detail::Accumulator<A, Op, typename std::iterator_traits<It>::value_type>;

namespace detail {

// A reducer has
//   Partial, Result     what threads carry, and what comes out
//   empty()             the partial result of no elements
//   add(partial, values, first)   takes values[0..N) in order; `first` is the index of values[0]
//   combiner()          the operation that joins two partial results
//   finish(partial)     the result
//   CHANGES_RARELY      whether most values leave the partial result as it is (ArgExtreme): then whole
//   batches are passed over

template <class A>
struct Optional {
  A value;
  bool valid;
};

// Tells an initial value from a stream in overload resolution.
template <class Init, class R>
using EnableInit =
    std::enable_if_t<std::is_convertible_v<Init, R> && !std::is_same_v<std::decay_t<Init>, std::nullptr_t>>;

template <class R, class Init>
Optional<R> some(const Init& init) {
  return {static_cast<R>(init), true};
}

template <class R>
Optional<R> nothing() {
  Optional<R> none{};
  none.valid = false;
  return none;
}

// Joins partial results that may be missing, for operations without a known identity.
template <class Op>
struct CombineOptional {
  Op op;

  template <class A>
  __host__ __device__ Optional<A> operator()(const Optional<A>& a, const Optional<A>& b) const {
    if (!b.valid) return a;
    if (!a.valid) return b;
    return {static_cast<A>(op(a.value, b.value)), true};
  }
};

// A balanced tree: short dependency chains and, for floating point, small errors.
template <int COUNT, class A, class Op>
__device__ inline A reduceTree(A (&values)[COUNT], Op op) {
#pragma unroll
  for (int distance = 1; distance < COUNT; distance *= 2)
#pragma unroll
    for (int i = 0; i + distance < COUNT; i += 2 * distance)
      values[i] = static_cast<A>(op(values[i], values[i + distance]));
  return values[0];
}

// op over all elements, in A.
template <class A, class Op>
struct Fold {
  static constexpr bool CHANGES_RARELY = false;
  static constexpr bool HAS_IDENTITY = NeutralElement<Op, A>::exists;
  using Partial = std::conditional_t<HAS_IDENTITY, A, Optional<A>>;
  using Result = A;

  Op op;
  Optional<A> init;

  __host__ __device__ Partial empty() const {
    if constexpr (HAS_IDENTITY) {
      return NeutralElement<Op, A>::value();
    } else {
      Partial none{};
      none.valid = false;
      return none;
    }
  }

  __device__ auto combiner() const {
    if constexpr (HAS_IDENTITY)
      return op;
    else
      return CombineOptional<Op>{op};
  }

  template <int COUNT, class V>
  __device__ void add(Partial& partial, const V (&values)[COUNT], std::size_t) const {
    A converted[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; ++i) converted[i] = static_cast<A>(values[i]);
    const A value = reduceTree(converted, op);
    if constexpr (HAS_IDENTITY)
      partial = static_cast<A>(op(partial, value));
    else
      partial = combiner()(partial, Partial{value, true});
  }

  __device__ A finish(const Partial& partial) const {
    if constexpr (HAS_IDENTITY)
      return init.valid ? static_cast<A>(op(init.value, partial)) : partial;
    else
      return CombineOptional<Op>{op}(init, partial).value;
  }
};

// Both extremes at once; an element enters as both.
template <class A>
struct MinMaxOf {
  static constexpr bool CHANGES_RARELY = false;
  using Partial = MinMax<A>;
  using Result = MinMax<A>;

  struct Join {
    __host__ __device__ Partial operator()(const Partial& a, const Partial& b) const {
      return {Minimum{}(a.minimum, b.minimum), Maximum{}(a.maximum, b.maximum)};
    }
  };

  __host__ __device__ Partial empty() const {
    return {NeutralElement<Minimum, A>::value(), NeutralElement<Maximum, A>::value()};
  }
  __device__ Join combiner() const { return {}; }

  template <int COUNT, class V>
  __device__ void add(Partial& partial, const V (&values)[COUNT], std::size_t) const {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      const A value = static_cast<A>(values[i]);
      partial = Join{}(partial, {value, value});
    }
  }

  __device__ Result finish(const Partial& partial) const { return partial; }
};

template <class A, class Sum>
struct SumMinMaxOf {
  static constexpr bool CHANGES_RARELY = false;
  using Partial = SumMinMax<A, Sum>;
  using Result = Partial;

  struct Join {
    __host__ __device__ Partial operator()(const Partial& a, const Partial& b) const {
      return {Plus{}(a.sum, b.sum), Minimum{}(a.minimum, b.minimum), Maximum{}(a.maximum, b.maximum)};
    }
  };

  __host__ __device__ Partial empty() const {
    return {Sum(0), NeutralElement<Minimum, A>::value(), NeutralElement<Maximum, A>::value()};
  }
  __device__ Join combiner() const { return {}; }

  template <int COUNT, class V>
  __device__ void add(Partial& partial, const V (&values)[COUNT], std::size_t) const {
    Sum sums[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      sums[i] = static_cast<Sum>(values[i]);
      partial.minimum = Minimum{}(partial.minimum, static_cast<A>(values[i]));
      partial.maximum = Maximum{}(partial.maximum, static_cast<A>(values[i]));
    }
    partial.sum += reduceTree(sums, Plus{});
  }

  __device__ Result finish(const Partial& partial) const { return partial; }
};

// The first occurrence of an extreme. EXTREME is Minimum or Maximum; a NaN is more extreme than every number,
// so that the first NaN wins, as its value does under EXTREME.
template <class A, class EXTREME>
struct ArgExtreme {
  static constexpr bool CHANGES_RARELY = true;
  using Partial = ArgResult<A>;
  using Result = ArgResult<A>;

  std::size_t n;

  // Whether `a` is strictly more extreme than `b`.
  __host__ __device__ static bool beats(const A& a, const A& b) {
    const bool inOrder = std::is_same_v<EXTREME, Minimum> ? a >= b : a <= b;
    return !inOrder && b == b;
  }

  struct Join {
    __host__ __device__ Partial operator()(const Partial& a, const Partial& b) const {
      const bool tie = !beats(a.value, b.value) && !beats(b.value, a.value);
      const bool second = tie ? b.index < a.index : beats(b.value, a.value);
      return second ? b : a;
    }
  };

  __host__ __device__ Partial empty() const { return {NeutralElement<EXTREME, A>::value(), Partial::none}; }
  __device__ Join combiner() const { return {}; }

  // Of a value and those of a step.
  template <int COUNT, class V>
  __device__ A moreExtreme(const A& value, const V (&values)[COUNT]) const {
    A converted[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; ++i) converted[i] = static_cast<A>(values[i]);
    return EXTREME{}(value, reduceTree(converted, EXTREME{}));
  }

  // Within a thread the indices rise, so that a tie never replaces what is there.
  template <int COUNT, class V>
  __device__ void add(Partial& partial, const V (&values)[COUNT], std::size_t first) const {
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
      if (beats(static_cast<A>(values[i]), partial.value)) partial = {static_cast<A>(values[i]), first + i};
  }

  // Nothing beats the identity, for instance where every element is infinite: then the first element is the
  // first extreme.
  __device__ Result finish(const Partial& partial) const {
    return partial.index == Partial::none && n > 0 ? Result{partial.value, 0} : partial;
  }
};

// Count, mean and sum of squared deviations, joined by the pairwise formula of Chan, Golub and LeVeque
// (1979): no difference of large sums is ever taken.
template <class A>
struct Moments {
  static constexpr bool CHANGES_RARELY = false;

  struct Partial {
    A count;
    A mean;
    A squares;
  };
  using Result = MeanVariance<A>;

  std::size_t n;

  struct Join {
    __host__ __device__ Partial operator()(const Partial& a, const Partial& b) const {
      if (b.count == A(0)) return a;
      if (a.count == A(0)) return b;  // and not 0 * infinity for an infinite mean
      const A count = a.count + b.count;
      const A weight = b.count / count;
      const A delta = b.mean - a.mean;
      // In this order: of a large delta, only the product with a small weight need be in range.
      return {count, a.mean + delta * weight, a.squares + b.squares + delta * (delta * (a.count * weight))};
    }
  };

  __host__ __device__ Partial empty() const { return {A(0), A(0), A(0)}; }
  __device__ Join combiner() const { return {}; }

  // The values of a step are in registers: their own mean first, then the deviations from it.
  template <int COUNT, class V>
  __device__ void add(Partial& partial, const V (&values)[COUNT], std::size_t) const {
    A sums[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; ++i) sums[i] = static_cast<A>(values[i]);
    const A mean = reduceTree(sums, Plus{}) * (A(1) / A(COUNT));
    A squares[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      const A deviation = static_cast<A>(values[i]) - mean;
      squares[i] = deviation * deviation;
    }
    partial = Join{}(partial, {A(COUNT), mean, reduceTree(squares, Plus{})});
  }

  __device__ Result finish(const Partial& partial) const {
    return {n, partial.mean, n > 0 ? partial.squares / static_cast<A>(n) : A(0)};
  }
};

}  // namespace detail

GPUOPT_NAMESPACE_END
