/// \file
/// What the calls for structures and plain arrays check before they launch anything.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/callable.cuh>
#include <gpuopt/core/input.cuh>
#include <gpuopt/core/message.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

template <class T>
constexpr bool requireStruct() {
  static_assert(std::is_trivially_copyable_v<T>,
                "gpuopt: structures move as bytes, so their type must be trivially copyable");
  return std::is_trivially_copyable_v<T>;
}

// Whether f(elements...) or f(elements..., index) returns a Result, as far as the host compiler can tell.
template <class Result, class F, class... Elements>
constexpr bool takesStruct() {
  if constexpr (isDeviceLambda<F>)
    return true;
  else
    return returns<Result, const F&, Elements&...>() || returns<Result, const F&, Elements&..., std::size_t>();
}

// Calls f with number i of each input if it takes those alone, otherwise with the index, too.
template <class F, class... Elements>
__device__ inline decltype(auto) callForStruct(const F& f, std::size_t i, Elements&... elements) {
  if constexpr (isCallable<const F&, Elements&...>) {
    return f(elements...);
  } else {
    static_assert(isCallable<const F&, Elements&..., std::size_t>,
                  "gpuopt: the function must take a structure of each input, alone or with its index");
    return f(elements..., i);
  }
}

// Whether F could be called if it were not const.
template <class Result, class F, class... Elements>
constexpr bool isMutable() {
  if constexpr (takesStruct<Result, F, Elements...>())
    return false;
  else
    return returns<Result, F&, Elements&...>() || returns<Result, F&, Elements&..., std::size_t>();
}

// Whether a call operator takes an element alone, and cannot change it.
template <class Operator>
inline constexpr bool onlyReads = false;
template <class R, class F, class Element>
inline constexpr bool onlyReads<R (F::*)(Element) const> =
    !std::is_lvalue_reference_v<Element> || std::is_const_v<std::remove_reference_t<Element>>;
template <class R, class F, class Element>
inline constexpr bool onlyReads<R (F::*)(Element) const noexcept> = onlyReads<R (F::*)(Element) const>;

// Whether calling F for an element cannot change it. False for templates and overloaded call operators, whose parameter
// has no one type.
template <class F, class = void>
inline constexpr bool changesNothing = false;
template <class F>
inline constexpr bool changesNothing<F, std::void_t<decltype(&F::operator())>> = onlyReads<decltype(&F::operator())>;

// The type that is written through it; const if that is not possible.
template <class It>
using WrittenTo = std::remove_pointer_t<Unwrapped<It>>;

template <class In, class Out>
void requireTransform(const In* in, std::size_t n, Out* out, const char* function, const char* name = "in") {
  const NamedArray read = namedArray(in, n, name);
  const NamedArray written = namedArray(out, n, "out");
  requireArray(read, function);
  requireArray(written, function);
  const bool isInPlace = std::is_same_v<In, Out> && read.data == written.data;
  if (n > 0 && !isInPlace) requireDisjoint(read, written, function);
}

template <class It, class Out>
void requireTransform(const It&, std::size_t n, Out* out, const char* function) {
  requireArray(namedArray(out, n, "out"), function);
}

GPUOPT_DETAIL_END
