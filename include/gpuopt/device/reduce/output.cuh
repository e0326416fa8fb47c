/// \file
/// Where reductions leave results: pointers, containers and iterators, also of another type than the result.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/box.cuh>
#include <gpuopt/core/input.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/device/reduce/combine.cuh>
#include <gpuopt/host/result.cuh>
#include <gpuopt/reduce_types.cuh>
#include <gpuopt/thread/operators.cuh>
#include <gpuopt/thread/vector.cuh>

#include <cstddef>
#include <type_traits>
#include <utility>

GPUOPT_DETAIL_BEGIN

template <class Out>
using OutputReference = decltype(std::declval<const Out&>()[std::ptrdiff_t{}]);

template <class Out>
struct OutputOf {
  using Element = std::decay_t<OutputReference<Out>>;
};

// Whether a result may be stored as a T: of its own type, rounded to a floating-point type that is no wider, or, if it
// is a bool, as a number. A wider T would suggest that the sum is computed in it, and an integer would cut digits off.
template <class Result, class T>
constexpr bool convertsOnStore() {
  if constexpr (std::is_same_v<Result, T> || (std::is_same_v<Result, bool> && std::is_arithmetic_v<T>))
    return true;
  else if constexpr (std::is_floating_point_v<Result> && (std::is_floating_point_v<T> || isHalf<T>))
    return sizeof(T) <= sizeof(Result);
  else
    return !std::is_arithmetic_v<Result> && std::is_convertible_v<const Result&, T>;
}

// The same of what an iterator refers to, which may be a proxy.
template <class Result, class Reference>
constexpr bool canStore() {
  using T = std::decay_t<Reference>;
  if constexpr (std::is_const_v<std::remove_reference_t<Reference>>)
    return false;
  else if constexpr (std::is_arithmetic_v<T> || isHalf<T>)
    return convertsOnStore<Result, T>();
  else
    return std::is_assignable_v<Reference, const Result&>;
}

// Whether Out is a pointer or an iterator that takes the results.
template <class Result, class Out, class = void>
inline constexpr bool isOutput = false;
template <class Result, class Out>
inline constexpr bool isOutput<Result, Out, std::void_t<OutputReference<Out>>> =
    canStore<Result, OutputReference<Out>>();

// Fails to compile unless Out takes the results.
template <class Result, class Out>
constexpr bool requireOutput() {
  constexpr bool isConst = std::is_const_v<std::remove_pointer_t<Out>>;
  static_assert(!isConst, "gpuopt: the elements of out are const");
  constexpr bool isStruct = std::is_class_v<Result> && !isHalf<Result>;
  static_assert(isConst || isOutput<Result, Out> || !isStruct,
                "gpuopt: the results are structures, so out must be a pointer to their type, such as "
                "MeanVariance<float>*, ArgResult<float>* or MinMax<float>*, or an iterator that takes it");
  static_assert(
      isConst || isOutput<Result, Out> || isStruct,
      "gpuopt: out must take the result without loss: give it the type of the result, or name the type that "
      "the elements are accumulated in, as in reduceInto<double>(in, n, out) for a double* out; floating-point "
      "results are rounded to a narrower type");
  return isOutput<Result, Out>;
}

// Stores result i, rounded to the type of the output.
template <class Out, class Result>
__device__ inline void storeOutput(const Out& out, std::size_t i, const Result& result) {
  using T = typename OutputOf<Out>::Element;
  if constexpr (std::is_arithmetic_v<Result> && (std::is_arithmetic_v<T> || isHalf<T>))
    out[static_cast<std::ptrdiff_t>(i)] = static_cast<T>(result);
  else
    out[static_cast<std::ptrdiff_t>(i)] = result;
}

// Stores an extreme and its index with the padding between them. Without it no sector would be written as a whole, and
// memory reads such sectors first: argMinRows of 8 floats took 1.3 times as long (H100, 2026-11-28).
template <class T>
__device__ inline void storeOutput(ArgResult<T>* out, std::size_t i, const ArgResult<T>& result) {
  if constexpr (sizeof(T) < 8 && sizeof(result) == 16) {
    Word<8> words[2] = {};
    __builtin_memcpy(words, &result.value, sizeof(T));
    __builtin_memcpy(words + 1, &result.index, sizeof(result.index));
    unsigned char* address = reinterpret_cast<unsigned char*>(out + i);
    storeWord<8>(address, words[0]);
    storeWord<8>(address + 8, words[1]);
  } else {
    out[i] = result;
  }
}

// A single result's iterator, or pointer to another type.
template <class Out>
struct OutputDestination {
  Out out;
};

template <class Out, class T>
__device__ inline void storeResult(const OutputDestination<Out>& destination, const T& value) {
  storeOutput(destination.out, 0, value);
}

// A pointer to results in boxes if they need them.
template <class Out>
auto boxedOutput(const Out& out) {
  if constexpr (std::is_pointer_v<Out>)
    return boxes(out);
  else
    return out;
}

// The pointer or iterator to `results` results of a container, pointer or iterator.
template <class Out>
auto outputOf(Out& out, std::size_t results, const char* function) {
  if constexpr (isRange<Out>) {
    requireSize(out, results, "out", function);
    return dataOf(out);
  } else {
    return unwrap(out);
  }
}

// Where the kernel leaves the one result of an array.
template <class Result, class Out>
auto destinationOf(Out& out, const char* function) {
  const auto address = boxedOutput(outputOf(out, 1, function));
  using Address = std::decay_t<decltype(address)>;
  if constexpr (std::is_pointer_v<Address>) {
    if (address == nullptr) throwInvalid({function, ": out is null"});
    requireArray(namedArray(address, 1, "out"), function);
  }
  if constexpr (std::is_same_v<Address, Result*>)
    return Destination<Result>{address, nullptr, 0};
  else if constexpr (requireOutput<Result, Address>())
    return OutputDestination<Address>{address};
  else
    return Destination<Result>{};
}

GPUOPT_DETAIL_END
