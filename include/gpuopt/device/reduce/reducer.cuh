/// \file
/// Reducers: what becomes of the elements. Folds, extremes and their positions, moments.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/box.cuh>
#include <gpuopt/core/callable.cuh>
#include <gpuopt/core/message.cuh>
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
using ReducedBy =
    detail::Accumulator<A, Op, std::decay_t<detail::CallResult<F, typename std::iterator_traits<Its>::value_type...>>>;

/// The accumulator, and result type, of a dot product of the elements of It1 and It2, where A is the accumulator that
/// the caller names.
template <class A, class It1, class It2>
using DotResult = detail::Accumulator<
    A, Plus,
    std::common_type_t<detail::Accumulator<A, Plus, typename std::iterator_traits<It1>::value_type>,
                       detail::Accumulator<A, Plus, typename std::iterator_traits<It2>::value_type>>>;

namespace detail {

// A reducer has
//   Partial, Result     what a thread accumulates, and what comes out
//   neutral()           the partial result of no elements
//   add(partial, values, first)   adds values[0..N) in order; `first` is the index of values[0]
//   combiner()          the operation that combines two partial results
//   finish(partial)     the result
//   CHANGES_RARELY      whether most values leave the partial result as it is, so that a batch of them can be
//                       skipped after one comparison

template <class A>
struct Optional {
  A value;
  bool valid;
};

// Tells an initial value from a stream (nullptr) in overload resolution.
template <class Init, class R>
using EnableInit =
    std::enable_if_t<std::is_convertible_v<Init, R> && !std::is_same_v<std::decay_t<Init>, std::nullptr_t>>;

// Combines values of which either may be missing, for operations without a known neutral element.
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

// op over all elements, each converted to A, and over `init`, from the left.
template <class A, class Op>
struct Fold {
  static constexpr bool CHANGES_RARELY = false;
  static constexpr bool HAS_NEUTRAL = NeutralElement<Op, A>::exists;
  using Partial = std::conditional_t<HAS_NEUTRAL, A, Optional<A>>;
  using Result = A;

  Op op;
  Optional<A> init;

  __host__ __device__ Partial neutral() const {
    if constexpr (HAS_NEUTRAL)
      return NeutralElement<Op, A>::value();
    else
      return {};
  }

  __device__ auto combiner() const {
    if constexpr (HAS_NEUTRAL)
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
    if constexpr (HAS_NEUTRAL)
      partial = static_cast<A>(op(partial, value));
    else
      partial = combiner()(partial, Partial{value, true});
  }

  __device__ A finish(const Partial& partial) const {
    if constexpr (HAS_NEUTRAL)
      return init.valid ? static_cast<A>(op(init.value, partial)) : partial;
    else
      return CombineOptional<Op>{op}(init, partial).value;
  }
};

// The operation on accumulators, in boxes if they need them.
template <class A, class Op>
using BoxedOperation = std::conditional_t<needsBox<A>, OnBoxes<Op, A>, Op>;

template <class A, class Op>
Fold<Boxed<A>, BoxedOperation<A, Op>> foldOf(const Op& op) {
  return {{op}, {}};
}

template <class A, class Op, class Init>
Fold<Boxed<A>, BoxedOperation<A, Op>> foldOf(const Op& op, const Init& init) {
  return {{op}, {static_cast<Boxed<A>>(static_cast<A>(init)), true}};
}

// What dot makes of two elements.
template <class A>
struct MultiplyAs {
  template <class T, class U>
  __host__ __device__ A operator()(const T& a, const U& b) const {
    return static_cast<A>(a) * static_cast<A>(b);
  }
};

// The type of an extreme, and that of a mean.
template <class A, class It>
using Extreme = Reduced<A, Minimum, It>;

template <class T>
struct MomentFor {
  using type = std::conditional_t<isHalf<T> || std::is_same_v<T, float>, float, double>;
};

template <class A, class It>
using Moment = std::conditional_t<std::is_same_v<A, DefaultAccumulator>,
                                  typename MomentFor<typename std::iterator_traits<It>::value_type>::type, A>;

// Both extremes at once.
template <class A>
struct MinMaxOf {
  static constexpr bool CHANGES_RARELY = false;
  using Partial = MinMax<A>;
  using Result = MinMax<A>;

  struct Combine {
    __host__ __device__ Partial operator()(const Partial& a, const Partial& b) const {
      return {Minimum{}(a.minimum, b.minimum), Maximum{}(a.maximum, b.maximum)};
    }
  };

  __host__ __device__ Partial neutral() const {
    return {NeutralElement<Minimum, A>::value(), NeutralElement<Maximum, A>::value()};
  }
  __device__ Combine combiner() const { return {}; }

  template <int COUNT, class V>
  __device__ void add(Partial& partial, const V (&values)[COUNT], std::size_t) const {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      const A value = static_cast<A>(values[i]);
      partial = Combine{}(partial, {value, value});
    }
  }

  __device__ Result finish(const Partial& partial) const { return partial; }
};

template <class A, class Sum>
struct SumMinMaxOf {
  static constexpr bool CHANGES_RARELY = false;
  using Partial = SumMinMax<A, Sum>;
  using Result = Partial;

  struct Combine {
    __host__ __device__ Partial operator()(const Partial& a, const Partial& b) const {
      return {Plus{}(a.sum, b.sum), Minimum{}(a.minimum, b.minimum), Maximum{}(a.maximum, b.maximum)};
    }
  };

  __host__ __device__ Partial neutral() const {
    return {Sum(0), NeutralElement<Minimum, A>::value(), NeutralElement<Maximum, A>::value()};
  }
  __device__ Combine combiner() const { return {}; }

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

// The first occurrence of an extreme; Select is Minimum or Maximum. A NaN is more extreme than every number, so the
// first NaN wins, as it does under Select.
template <class A, class Select>
struct ArgExtreme {
  static constexpr bool CHANGES_RARELY = true;
  using Partial = ArgResult<A>;
  using Result = ArgResult<A>;

  std::size_t n;

  // Whether `a` is strictly more extreme than `b`.
  __host__ __device__ static bool beats(const A& a, const A& b) {
    const bool inOrder = std::is_same_v<Select, Minimum> ? a >= b : a <= b;
    return !inOrder && b == b;
  }

  struct Combine {
    __host__ __device__ Partial operator()(const Partial& a, const Partial& b) const {
      const bool tie = !beats(a.value, b.value) && !beats(b.value, a.value);
      const bool second = tie ? b.index < a.index : beats(b.value, a.value);
      return second ? b : a;
    }
  };

  __host__ __device__ Partial neutral() const { return {NeutralElement<Select, A>::value(), Partial::none}; }
  __device__ Combine combiner() const { return {}; }

  // The most extreme of a value and those of a step.
  template <int COUNT, class V>
  __device__ A moreExtreme(const A& value, const V (&values)[COUNT]) const {
    A converted[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; ++i) converted[i] = static_cast<A>(values[i]);
    return Select{}(value, reduceTree(converted, Select{}));
  }

  // A thread sees rising indices: on a tie the earlier one stays.
  template <int COUNT, class V>
  __device__ void add(Partial& partial, const V (&values)[COUNT], std::size_t first) const {
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
      if (beats(static_cast<A>(values[i]), partial.value)) partial = {static_cast<A>(values[i]), first + i};
  }

  // No index: no element beats the neutral element, as when all are infinite. The first one is the extreme.
  __device__ Result finish(const Partial& partial) const {
    return partial.index == Partial::none && n > 0 ? Result{partial.value, 0} : partial;
  }
};

// Count, mean and sum of squared deviations, combined by the pairwise formula of Chan, Golub and LeVeque (1979), which
// takes no difference of large sums.
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

  struct Combine {
    __host__ __device__ Partial operator()(const Partial& a, const Partial& b) const {
      if (b.count == A(0)) return a;
      if (a.count == A(0)) return b;  // an infinite mean would give 0 * infinity
      const A count = a.count + b.count;
      const A weight = b.count / count;
      const A delta = b.mean - a.mean;
      // This order of factors keeps a large delta in range as long as its weight is small.
      return {count, a.mean + delta * weight, a.squares + b.squares + delta * (delta * (a.count * weight))};
    }
  };

  __host__ __device__ Partial neutral() const { return {A(0), A(0), A(0)}; }
  __device__ Combine combiner() const { return {}; }

  // Two passes over the values of a step, which are in registers: their mean, then the deviations from it.
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
    partial = Combine{}(partial, {A(COUNT), mean, reduceTree(squares, Plus{})});
  }

  __device__ Result finish(const Partial& partial) const {
    return {n, partial.mean, n > 0 ? partial.squares / static_cast<A>(n) : A(0)};
  }
};

// Throws if there are no elements, no init, and no neutral element to return. `name` names n.
template <class A, class Op>
void requireResult(const Fold<A, Op>& fold, std::size_t n, const char* name, const char* function) {
  if (n == 0 && !fold.init.valid && !Fold<A, Op>::HAS_NEUTRAL)
    throwInvalid({function, ": ", name, " is 0 and the operation has no known identity: pass init"});
}

template <class Reducer>
void requireResult(const Reducer&, std::size_t, const char*, const char*) {}

}  // namespace detail

GPUOPT_NAMESPACE_END
