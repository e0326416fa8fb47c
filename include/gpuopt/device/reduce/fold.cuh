/// \file
/// What the callers of reductions pass as operation, initial value and function: checked, and made into a Fold.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/callable.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/device/reduce/reducer.cuh>
#include <gpuopt/host/stream.cuh>
#include <gpuopt/reduce_types.cuh>

#include <cstddef>
#include <iterator>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

namespace detail {

// Tells an operation, an initial value or a function from a stream in overload resolution.
template <class... Args>
using EnableOperation = std::enable_if_t<(!isStream<Args> && ...)>;

template <class T>
inline constexpr bool isDeviceValue = false;
template <class T>
inline constexpr bool isDeviceValue<DeviceValue<T>> = true;

// A fold whose initial value is in device memory.
template <class A, class Op, class T>
struct FoldOnto : Fold<A, Op> {
  const T* start;

  __device__ A finish(const typename Fold<A, Op>::Partial& partial) const {
    return Fold<A, Op>{{}, this->op, {static_cast<A>(*start), true}}.finish(partial);
  }
};

template <class A, class Op, class T>
void requireResult(const FoldOnto<A, Op, T>& fold, std::size_t, const char*, const char* function) {
  requireArray(namedArray(fold.start, 1, "init"), function);
}

// Takes the place of an operation that a static_assert has refused: the compiler then finds no further errors.
struct Refused {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T&) const {
    return a;
  }
};

template <class Op>
inline constexpr bool isOwnOperator =
    isOneOf<Op, Plus, Multiplies, Minimum, Maximum, BitAnd, BitOr, BitXor, LogicalAnd, LogicalOr>;

// Whether op(a, b) can be called in kernels. If not, the first reason that holds is an error.
template <class A, class Op>
constexpr bool acceptsOperation() {
  constexpr bool isCopyable = std::is_trivially_copyable_v<A>;
  static_assert(isCopyable, "gpuopt: the accumulator of a reduction must be trivially copyable");
  constexpr bool takesTwo = hidesCall<Op> || isCallable<const Op&, const A&, const A&>;
  constexpr bool isInit = !std::is_class_v<Op> || std::is_same_v<Op, A> || isHalf<Op> || isDeviceValue<Op>;
  constexpr bool isValue = !takesTwo && isInit;
  static_assert(!isCopyable || !isValue,
                "gpuopt: a value is where the operation belongs: init comes after the operation, as in "
                "reduce(in, n, gpuopt::Plus{}, init); the default stream is nullptr; functions with a result in device "
                "memory are called reduceInto and the like");
  constexpr bool isHostCode = isStandardFunction<Op> || !requireNoHostLambda<Op>();
  static_assert(
      !isStandardFunction<Op>,
      "gpuopt: function objects of the standard library are host code: use gpuopt::Plus, Multiplies, Minimum, "
      "Maximum, BitAnd, BitOr, BitXor, LogicalAnd or LogicalOr, or a lambda for the device");
  constexpr bool isReported = !isCopyable || isValue || isHostCode;
  constexpr bool isMutable = !takesTwo && isCallable<Op&, const A&, const A&>;
  static_assert(isReported || !isMutable, "gpuopt: the call operator of the operation must be const");
  static_assert(isReported || isMutable || takesTwo || !isOwnOperator<Op>,
                "gpuopt: the accumulator's type lacks the operator that the operation applies, which is + for "
                "gpuopt::Plus; define it as __host__ __device__, or pass an operation of your own");
  static_assert(isReported || isMutable || takesTwo || isOwnOperator<Op>,
                "gpuopt: the operation must take two accumulators, by value or by reference to const");
  constexpr bool returnsOne = hidesCall<Op> || constructs<A, const Op&, const A&, const A&>();
  static_assert(isReported || !takesTwo || returnsOne,
                "gpuopt: the operation must return what converts to the accumulator");
  return !isReported && takesTwo && returnsOne;
}

// Whether 0 changes no result of the operation, so that it does not matter whether it is meant as init or as a stream.
template <class Op>
inline constexpr bool isNeutralToZero = isOneOf<Op, Plus, BitOr, BitXor, LogicalOr>;

// Whether static_cast<A>(init) is an initial value. An integer of another type than A might be the 0 or NULL of a
// default stream.
template <class A, class Op, class Init>
constexpr bool acceptsInit() {
  constexpr bool isNumber = std::is_integral_v<Init> && !std::is_same_v<Init, bool>;
  constexpr bool takesNumbers = std::is_integral_v<A> && !std::is_same_v<A, bool>;
  constexpr bool isClear = !isNumber || takesNumbers || isNeutralToZero<Op>;
  static_assert(isClear,
                "gpuopt: init is an integer, but the accumulator is not: write it in the accumulator's type, "
                "such as 0.0f or false; if 0 or NULL is meant to be the default stream, write nullptr");
  constexpr bool converts = std::is_convertible_v<const Init&, A> && (!std::is_pointer_v<Init> || std::is_pointer_v<A>);
  static_assert(converts,
                "gpuopt: init must convert to the accumulator; an init in device memory is passed as "
                "gpuopt::deviceValue(pointer)");
  return converts && isClear;
}

// The fold of an operation without init.
template <class A, class Op>
auto foldOf(const Op& op) {
  if constexpr (acceptsOperation<A, Op>())
    return Fold<Boxed<A>, BoxedOperation<A, Op>>{{}, {op}, {}};
  else
    return Fold<A, Refused>{};
}

// The fold of an operation with init.
template <class A, class Op, class Init>
auto foldOf(const Op& op, const Init& init) {
  auto fold = foldOf<A>(op);
  if constexpr (std::is_same_v<decltype(fold), Fold<Boxed<A>, BoxedOperation<A, Op>>>)
    if constexpr (acceptsInit<A, Op, Init>()) fold.init = {static_cast<Boxed<A>>(static_cast<A>(init)), true};
  return fold;
}

template <class A, class Op, class T>
auto foldOf(const Op& op, const DeviceValue<T>& init) {
  static_assert(std::is_convertible_v<const T&, A>, "gpuopt: init must convert to the accumulator");
  const auto fold = foldOf<A>(op);
  return FoldOnto<Boxed<A>, std::decay_t<decltype(fold.op)>, T>{fold, init.address};
}

// Takes the place of a function that a static_assert has refused.
template <class Result>
struct RefusedFunction {
  template <class... Ts>
  __host__ __device__ Result operator()(const Ts&...) const;
};

// A function of the elements of one or more inputs, if kernels can call it. A is the accumulator that the caller names.
template <class A, class... Its, class F>
auto deviceFunction(const F& f) {
  constexpr bool isValue = !std::is_class_v<F> && !std::is_pointer_v<F>;
  static_assert(!isValue, "gpuopt: a value is where the function of the elements belongs");
  constexpr bool isHostCode = !requireDeviceCode<F>();
  constexpr bool isHidden = hidesResult<F> && std::is_same_v<A, DefaultAccumulator>;
  static_assert(!isHidden,
                "gpuopt: host code cannot see what the __device__ lambda returns: write its return type, as in "
                "[] __device__ (float x) -> float {...}, or name the accumulator, as in "
                "transformReduce<float>(...)");
  constexpr bool isReported = isValue || isHostCode || isHidden;
  constexpr bool takes = hidesCall<F> || isCallable<const F&, typename std::iterator_traits<Its>::value_type...>;
  constexpr bool isMutable = !takes && isCallable<F&, typename std::iterator_traits<Its>::value_type...>;
  static_assert(isReported || !isMutable, "gpuopt: the call operator of the function must be const");
  static_assert(isReported || isMutable || takes,
                "gpuopt: the function must take an element, or one of each of two inputs; it gets no index");
  if constexpr (!isReported && takes)
    return f;
  else
    return RefusedFunction<ResultOf<F, typename std::iterator_traits<Its>::value_type...>>{};
}

}  // namespace detail

GPUOPT_NAMESPACE_END
