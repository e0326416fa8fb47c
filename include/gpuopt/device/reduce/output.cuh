/// \file
/// Outputs: where reductions leave results, and which other types results convert to.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/device/reduce/combine.cuh>
#include <gpuopt/device/reduce/source.cuh>
#include <gpuopt/host/result.cuh>

#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

GPUOPT_DETAIL_BEGIN

// Whether a result may be stored as another type: rounded to a floating-point type that is no wider, or a bool. A wider
// type would suggest that the sum is computed in it.
template <class Result, class T>
constexpr bool convertsOnStore() {
  constexpr bool isRounded = std::is_floating_point_v<Result> && (std::is_floating_point_v<T> || isHalf<T>);
  if constexpr (std::is_same_v<Result, bool>)
    return std::is_arithmetic_v<T>;
  else if constexpr (isRounded)
    return sizeof(T) <= sizeof(Result);
  else
    return !std::is_arithmetic_v<Result> && std::is_convertible_v<const Result&, T>;
}

// Fails to compile unless a pointer to T takes a Result.
template <class Result, class T>
constexpr bool isStorable() {
  static_assert(!std::is_const_v<T>, "gpuopt: the elements of out are const");
  constexpr bool converts = std::is_same_v<Result, std::remove_const_t<T>> || convertsOnStore<Result, T>();
  static_assert(converts,
                "gpuopt: out has another type than the result: name the type that the elements are accumulated in, as "
                "in reduceInto<double>(in, n, out), or give out the type of the result");
  return converts && !std::is_const_v<T>;
}

template <class Result, class It, class = void>
inline constexpr bool writes = false;
template <class Result, class It>
inline constexpr bool writes<Result, It, std::void_t<decltype(*std::declval<It&>() = std::declval<const Result&>())>> =
    true;

// An iterator, or a pointer to a type that the result converts to.
template <class Out>
struct ConvertingDestination {
  Out out;
};

template <class Out, class T>
__device__ inline void storeResult(const ConvertingDestination<Out>& destination, const T& value) {
  if constexpr (std::is_pointer_v<Out>)
    *destination.out = static_cast<std::remove_pointer_t<Out>>(value);
  else
    *destination.out = value;
}

template <class Range>
void requireRoom(const Range& out, std::size_t needed, const char* function) {
  if (sizeOf(out) < needed)
    throwInvalid({function, ": out has ", sizeOf(out), " elements, but ", needed, " are needed"});
}

// The pointer to `results` elements of a pointer, of an object that has one, or of a container; or an iterator.
template <class Out>
auto outputOf(Out& out, std::size_t results, const char* function) {
  if constexpr (isRange<Out>) {
    requireRoom(out, results, function);
    return dataOf(out);
  } else if constexpr (isAddress<Out>) {
    return toAddress(out);
  } else {
    return Unwrap<std::decay_t<Out>>::pointer(out);
  }
}

// Where the kernel leaves its one result.
template <class Result, class Out>
auto destinationOf(Out& out, const char* function) {
  if constexpr (std::is_same_v<std::decay_t<Out>, std::nullptr_t>) {
    return destinationOf<Result>(static_cast<Result*>(nullptr), function);
  } else {
    const auto address = outputOf(out, 1, function);
    using Address = std::decay_t<decltype(address)>;
    if constexpr (!std::is_pointer_v<Address>) {
      static_assert(writes<Result, Address>,
                    "gpuopt: out must be a pointer, a container or an iterator that takes the result");
      return ConvertingDestination<Address>{address};
    } else {
      using T = std::remove_pointer_t<Address>;
      if (address == nullptr) throwInvalid({function, ": out is null"});
      requireArray(namedArray(address, 1, "out"), function);
      if constexpr (std::is_same_v<T, Result>)
        return Destination<Result>{address, nullptr, 0};
      else if constexpr (isStorable<Result, T>())
        return ConvertingDestination<T*>{address};
      else
        return Destination<Result>{};
    }
  }
}

GPUOPT_DETAIL_END
