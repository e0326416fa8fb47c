/// \file
/// Reducers: what becomes of the elements. Folds, extremes and their positions, moments.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/callable.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/reduce/result.cuh>
#include <gpuopt/thread/operators.cuh>

#include <cstddef>
#include <iterator>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

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

// A reducer has
//   Partial, Result     what a thread accumulates, and what comes out
//   neutral()           the partial result of no elements
//   add(partial, values, first, stride = 1)   adds values[0..N) in order; first + i * stride is the index of values[i]
//   combiner()          the operation that combines two partial results
//   finish(partial)     the result
//   CHANGES_RARELY      whether most values leave the partial result as it is, so that a batch of them can be
//                       skipped after one comparison
//   ADDS_BATCHES        whether adding values together is faster than one by one, so that columns are added several
//                       rows at a time
//   INDEXED             whether partial results have indices, which reindex(partial, offset, scale) maps to
//                       offset + scale * index

struct PlainReducer {
  static constexpr bool CHANGES_RARELY = false;
  static constexpr bool ADDS_BATCHES = false;
  static constexpr bool INDEXED = false;
};

template <class A>
struct Optional {
  A value;
  bool valid;
};

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
struct Fold : PlainReducer {
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
  __device__ void add(Partial& partial, const V (&values)[COUNT], std::size_t, std::size_t = 1) const {
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

// How partial results that are results, or sums of moments, combine.
struct CombineParts {
  template <class Part>
  __host__ __device__ Part operator()(const Part& a, const Part& b) const {
    return combine(a, b);
  }
};

// Both extremes at once.
template <class A>
struct MinMaxOf : PlainReducer {
  using Partial = MinMax<A>;
  using Result = Partial;

  __host__ __device__ Partial neutral() const {
    return {NeutralElement<Minimum, A>::value(), NeutralElement<Maximum, A>::value()};
  }
  __device__ CombineParts combiner() const { return {}; }

  template <int COUNT, class V>
  __device__ void add(Partial& partial, const V (&values)[COUNT], std::size_t, std::size_t = 1) const {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      const A value = static_cast<A>(values[i]);
      partial = combine(partial, Partial{value, value});
    }
  }

  __device__ Result finish(const Partial& partial) const { return partial; }
};

template <class A, class Sum>
struct SumMinMaxOf : PlainReducer {
  using Partial = SumMinMax<A, Sum>;
  using Result = Partial;

  __host__ __device__ Partial neutral() const {
    return {Sum(0), NeutralElement<Minimum, A>::value(), NeutralElement<Maximum, A>::value()};
  }
  __device__ CombineParts combiner() const { return {}; }

  template <int COUNT, class V>
  __device__ void add(Partial& partial, const V (&values)[COUNT], std::size_t, std::size_t = 1) const {
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

// The first occurrence of an extreme; Select is Minimum or Maximum. The first NaN wins, as it does under Select.
template <class A, class Select>
struct ArgExtreme {
  static constexpr bool CHANGES_RARELY = true;
  static constexpr bool ADDS_BATCHES = false;
  static constexpr bool INDEXED = true;
  using Partial = ArgResult<A>;
  using Result = Partial;

  std::size_t n;

  struct Combine {
    __host__ __device__ Partial operator()(const Partial& a, const Partial& b) const { return combine(a, b, Select{}); }
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

  __device__ bool beats(const A& a, const A& b) const { return detail::beats<Select>(a, b); }

  // A thread sees rising indices: on a tie the earlier one stays.
  template <int COUNT, class V>
  __device__ void add(Partial& partial, const V (&values)[COUNT], std::size_t first, std::size_t stride = 1) const {
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
      if (beats(static_cast<A>(values[i]), partial.value)) partial = {static_cast<A>(values[i]), first + i * stride};
  }

  __device__ void reindex(Partial& partial, std::size_t offset, std::size_t scale) const {
    if (partial.index != Partial::none) partial.index = offset + scale * partial.index;
  }

  // No index: no element beats the neutral element, as when all are infinite. The first one is the extreme.
  __device__ Result finish(const Partial& partial) const {
    return partial.index == Partial::none && n > 0 ? Result{partial.value, 0} : partial;
  }
};

// Number, mean and sum of squared deviations.
template <class A>
struct Moments {
  static constexpr bool CHANGES_RARELY = false;
  static constexpr bool ADDS_BATCHES = true;
  static constexpr bool INDEXED = false;
  using Partial = MomentSums<A>;
  using Result = MeanVariance<A>;

  std::size_t n;

  __host__ __device__ Partial neutral() const { return {A(0), A(0), A(0)}; }
  __device__ CombineParts combiner() const { return {}; }

  // Two passes over the values of a step, which are in registers: their mean, then the deviations from it. Scaled
  // before they are added, large values stay in range.
  template <int COUNT, class V>
  __device__ void add(Partial& partial, const V (&values)[COUNT], std::size_t, std::size_t = 1) const {
    A scaled[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; ++i) scaled[i] = static_cast<A>(values[i]) * (A(1) / A(COUNT));
    const A mean = reduceTree(scaled, Plus{});
    A squares[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      const A deviation = static_cast<A>(values[i]) - mean;
      squares[i] = deviation * deviation;
    }
    partial = combine(partial, Partial{A(COUNT), mean, reduceTree(squares, Plus{})});
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
