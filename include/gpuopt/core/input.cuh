/// \file
/// Inputs that callers pass as pointers or iterators: what kernels read them by, and checks of them.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/callable.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/core/range.cuh>

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

GPUOPT_DETAIL_BEGIN

// Unwraps Thrust's iterators over contiguous memory to pointers, by a function of Thrust's that argument-dependent
// lookup finds: no header of Thrust needs to be included here.
template <class It, class = void>
struct Unwrap {
  static It pointer(It in) { return in; }
};

template <class It>
struct Unwrap<It, std::enable_if_t<!std::is_pointer_v<It> &&
                                   std::is_pointer_v<decltype(try_unwrap_contiguous_iterator(std::declval<It>()))>>> {
  static auto pointer(It in) { return try_unwrap_contiguous_iterator(in); }
};

// The plain pointer behind `array` if there is one, otherwise the iterator itself.
template <class A>
auto unwrap(const A& array) {
  if constexpr (isAddress<A>)
    return toAddress(array);
  else
    return Unwrap<A>::pointer(array);
}

template <class It>
using Unwrapped = std::decay_t<decltype(Unwrap<It>::pointer(std::declval<It>()))>;

// Whether an iterator is a pointer, or unwraps to one.
template <class It>
inline constexpr bool isMemory = std::is_pointer_v<Unwrapped<It>>;

template <class It>
bool isNull(It in) {
  if constexpr (std::is_pointer_v<It>)
    return in == nullptr;
  else
    return false;
}

// What requireSize takes of an input.
template <class It>
constexpr std::size_t bytesPerElement(It) {
  return std::is_pointer_v<It> ? sizeof(typename std::iterator_traits<It>::value_type) : 1;
}

template <class It>
void requireReadable(It in, std::size_t n, const char* function, const char* name) {
  requireSize(n, {"n"}, function, bytesPerElement(in));
  if (isNull(in) && n > 0) throwInvalid({function, ": ", name, " is null, but n is ", n});
  if constexpr (std::is_pointer_v<It>)
    if (n > 0) requireAccess(in, n * sizeof(*in), name, function);
}

// Whether It is an iterator of a container of the standard library: host code, mostly to the host's memory.
template <class It>
inline constexpr bool isStandardIterator = std::is_class_v<It> && (isNamed<It>("__gnu_cxx::__normal_iterator<") ||
                                                                   isNamed<It>("std::__1::__wrap_iter<"));

// The iterator that kernels read `name` by: a plain pointer where it can be one, and then aligned to its type.
template <class It>
auto deviceIterator(It iterator, std::size_t n, const char* function, const char* name) {
  static_assert(!isStandardIterator<It>,
                "gpuopt: an iterator of the standard library cannot be read on the device: pass a device pointer");
  using Element = typename std::iterator_traits<Unwrapped<It>>::value_type;
  static_assert(!std::is_volatile_v<Element>,
                "gpuopt: the elements are volatile: kernels load them by vectors; pass a pointer without volatile");
  if constexpr (isStandardIterator<It> || std::is_volatile_v<Element>) {
    return static_cast<const std::remove_cv_t<Element>*>(nullptr);
  } else {
    const auto in = Unwrap<It>::pointer(iterator);
    if constexpr (std::is_pointer_v<std::decay_t<decltype(in)>>)
      if (n > 0 && in != nullptr) requireArray(namedArray(in, 1, name), function);
    return in;
  }
}

GPUOPT_DETAIL_END
