/// \file
/// Reducers: what becomes of the elements. Folds, extremes and their positions, moments.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/box.cuh>
#include <gpuopt/core/callable.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/reduce_types.cuh>
#include <gpuopt/thread/operators.cuh>
#include <gpuopt/warp/reduce.cuh>

#include <cstddef>
#include <iterator>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

namespace detail {

// A reducer has
//   Partial, Result     what a thread accumulates, and what comes out
//   neutral()           the partial result of no elements
//   add(partial, values, first, stride = 1)   adds values[0..N) in order; first + i * stride is the index of values[i]
//   combiner()          the operation that combines two partial results
//   finish(partial)     the result
//   CHANGES_RARELY      whether most values leave the partial result as it is, so that a batch of them can be
//                       skipped after one comparison
//   COMBINES_SLOWLY     whether combining partial results takes much longer than adding a value
//   INDEXED             whether partial results have indices, which reindex(partial, offset, scale) maps to
//                       offset + scale * index
//   Share               optional: what a thread accumulates of up to some dozen values, where that is faster. {} has
//                       none, add(share, values, first, stride) adds more, close(share) is the partial result

struct PlainReducer {
  static constexpr bool CHANGES_RARELY = false;
  static constexpr bool COMBINES_SLOWLY = false;
  static constexpr bool INDEXED = false;
};

// Rows and columns of fewer elements have indices of 32 bits.
inline constexpr std::size_t maxShortElements = 0xffffffffu;
template <class Reducer>
auto withShortIndices(const Reducer& reducer) {
  if constexpr (Reducer::INDEXED)
    return reducer.withShortIndex();
  else
    return reducer;
}

// Shares of reducers, with partial results in their place where a reducer has none.
template <class Reducer, class = void>
struct ShareOf {
  static constexpr bool exists = false;
  using Share = typename Reducer::Partial;
  __device__ static Share start(const Reducer& reducer) { return reducer.neutral(); }
  __device__ static Share close(const Reducer&, const Share& share) { return share; }
};

template <class Reducer>
struct ShareOf<Reducer, std::void_t<typename Reducer::Share>> {
  static constexpr bool exists = true;
  using Share = typename Reducer::Share;
  __device__ static Share start(const Reducer&) { return {}; }
  __device__ static typename Reducer::Partial close(const Reducer& reducer, const Share& share) {
    return reducer.close(share);
  }
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

// The operation on accumulators, in boxes if they need them.
template <class A, class Op>
using BoxedOperation = std::conditional_t<needsBox<A>, OnBoxes<Op, A>, Op>;

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

// A, which must have the extremes that Minimum and Maximum define.
template <class A>
struct OrderedType {
  static_assert(NeutralElement<Minimum, A>::exists && NeutralElement<Maximum, A>::exists,
                "gpuopt: extremes are those of numbers; of structures, argMin and argMax take a function, as in "
                "argMax(in, n, Speed{})");
  using type = A;
};
template <class A>
using Ordered = typename OrderedType<A>::type;

// Both extremes at once.
template <class A>
struct MinMaxOf : PlainReducer {
  using Partial = MinMax<Ordered<A>>;
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
  using Partial = SumMinMax<Ordered<A>, Sum>;
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

// A value and its index, as long as the results of parts are combined.
template <class A, class Index>
struct IndexedValue {
  static constexpr Index none = static_cast<Index>(-1);
  A value;
  Index index;
};

template <class Select>
struct CombineExtremes {
  template <class A, class Index>
  __device__ IndexedValue<A, Index> operator()(const IndexedValue<A, Index>& a, const IndexedValue<A, Index>& b) const {
    return moreExtreme<Select>(a, b);
  }
};

// The least index of a warp, in all lanes: 32 bits at a time, for which sm_80 has an instruction.
template <class Index>
__device__ inline Index minIndex(Index index) {
  if constexpr (sizeof(Index) == 4) {
    return warpAllReduce(index, Minimum{});
  } else {
    const auto upper = static_cast<unsigned>(index >> 32);
    const unsigned minUpper = minIndex(upper);
    const unsigned lower = upper == minUpper ? static_cast<unsigned>(index) : ~0u;
    return Index{minUpper} << 32 | minIndex(lower);
  }
}

// The extreme of the values first, then the least index of those that are as extreme: fewer steps than a tree of both.
template <class A, class Index, class Select>
__device__ inline IndexedValue<A, Index> reduceLanes(const IndexedValue<A, Index>& partial, CombineExtremes<Select>) {
  const bool isExtreme = !beats<Select>(warpAllReduce(partial.value, Select{}), partial.value);
  const Index index = minIndex(isExtreme ? partial.index : IndexedValue<A, Index>::none);
  const unsigned holders = __ballot_sync(fullMask, isExtreme && partial.index == index);
  return {shuffleFrom(partial.value, __ffs(static_cast<int>(holders)) - 1), index};
}

// The first occurrence of an extreme; Select is Minimum or Maximum. The first NaN wins, as it does under Select.
template <class A, class Select, class Index = std::size_t>
struct ArgExtreme {
  static constexpr bool CHANGES_RARELY = true;
  static constexpr bool COMBINES_SLOWLY = true;
  static constexpr bool INDEXED = true;
  using Partial = IndexedValue<A, Index>;
  using Result = ArgResult<Ordered<A>>;

  std::size_t n;
  // A member, not a constant: comparing with a constant, the compiler emits an instruction that changes a NaN's bits.
  A start = NeutralElement<Select, A>::value();

  ArgExtreme<A, Select, unsigned> withShortIndex() const { return {n, start}; }

  __host__ __device__ Partial neutral() const { return {start, Partial::none}; }
  __device__ CombineExtremes<Select> combiner() const { return {}; }

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
      if (beats(static_cast<A>(values[i]), partial.value))
        partial = {static_cast<A>(values[i]), static_cast<Index>(first + i * stride)};
  }

  __device__ void reindex(Partial& partial, std::size_t offset, std::size_t scale) const {
    if (partial.index != Partial::none) partial.index = static_cast<Index>(offset + scale * partial.index);
  }

  // No index: no element beats the neutral element, as when all are infinite. The first one is the extreme.
  __device__ Result finish(const Partial& partial) const {
    if (partial.index == Partial::none) return {partial.value, n > 0 ? 0 : Result::none};
    return {partial.value, partial.index};
  }
};

// The mean of a warp first, then the deviations from it: fewer steps than a tree of both. In all lanes.
template <class A>
__device__ inline MomentSums<A> reduceLanes(const MomentSums<A>& partial, CombineParts) {
  const A count = warpAllReduce(partial.count, Plus{});
  const A weight = count == A(0) ? A(0) : quotient(partial.count, count);
  const A first = shuffleFrom(partial.mean, 0);  // equal means remain what they are
  using std::fma;
  const A mean = fma(A(2), warpAllReduce((partial.mean * A(0.5) - first * A(0.5)) * weight, Plus{}), first);
  const A deviation = partial.mean - mean;
  return {count, mean, warpAllReduce(partial.squares + partial.count * deviation * deviation, Plus{})};
}

// Number, mean and sum of squared deviations.
template <class A>
struct Moments {
  static constexpr bool CHANGES_RARELY = false;
  static constexpr bool COMBINES_SLOWLY = true;
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
    static_assert(std::is_constructible_v<A, const V&>, "gpuopt: mean and variance are those of numbers");
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

  // Up to 256 values of one thread, some dozen as a rule: the sums of their distances from the first one, and of the
  // squares. Since the first one is among them, what cancels is at most as many times the result as there are values.
  // Distances are halved and their sum divided by 256, to stay in range.
  struct Share {
    A half;  // of the first value
    A sum;
    A squares;
    A count;
  };

  template <int COUNT, class V>
  __device__ void add(Share& share, const V (&values)[COUNT], std::size_t, std::size_t = 1) const {
    if (share.count == A(0)) share.half = static_cast<A>(values[0]) * A(0.5);
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      const A distance = static_cast<A>(values[i]) * A(0.5) - share.half;
      share.sum += distance * A(0.00390625);
      share.squares += distance * distance;
    }
    share.count += A(COUNT);
  }

  __device__ Partial close(const Share& share) const {
    const A mean = share.count == A(0) ? A(0) : 256 * quotient(share.sum, share.count);
    // Squares that overflow are infinite, unless a value is: then the mean is, too, or NaN, and they are NaN.
    const bool isInRange = share.squares < greatest<A>;
    const A squares = isInRange ? share.squares - 256 * share.sum * mean : share.squares + A(0) * mean;
    return {share.count, 2 * (share.half + mean), 4 * squares};
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
