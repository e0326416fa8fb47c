/// \file
/// Containers and spans as arguments: anything with data() and size().
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/core/message.cuh>

#include <array>
#include <cstddef>
#include <iterator>
#include <string>  // std::allocator, at less than <memory> costs
#include <type_traits>
#include <utility>

GPUOPT_DETAIL_BEGIN

// The plain pointer of a pointer, or of an object that has it as get(), such as Thrust's device_ptr.
template <class T>
T* toAddress(T* pointer) {
  return pointer;
}
template <class P>
auto toAddress(const P& pointer) -> decltype(pointer.get()) {
  return pointer.get();
}

// Whether P is a pointer, or an object that has one as get().
template <class P, class = void>
inline constexpr bool isAddress = false;
template <class P>
inline constexpr bool isAddress<P, std::void_t<decltype(toAddress(std::declval<const P&>()))>> =
    std::is_pointer_v<decltype(toAddress(std::declval<const P&>()))>;

template <class R>
using RangeData = decltype(toAddress(std::declval<R&>().data()));

// Whether R has data(), a pointer, and size(): vectors and spans of any library, Thrust's device_vector.
template <class R, class = void>
inline constexpr bool isRange = false;
template <class R>
inline constexpr bool isRange<R, std::void_t<RangeData<R>, decltype(std::size_t(std::declval<R&>().size()))>> =
    std::is_pointer_v<RangeData<R>>;

template <class R>
using EnableRange = std::enable_if_t<isRange<R>>;
template <class R>
using EnableNoRange = std::enable_if_t<!isRange<R>>;

template <class It, class = void>
inline constexpr bool isIterator = false;
template <class It>
inline constexpr bool isIterator<It, std::void_t<typename std::iterator_traits<It>::value_type>> = !isRange<It>;

// Tells the end of a range from a number of elements.
template <class First, class Last>
using EnableLast = std::enable_if_t<isIterator<First> && isIterator<Last>>;

// Whether a container's elements are in the host's memory, as its type says.
template <class R, class = void>
inline constexpr bool isHostRange = false;
template <class T, std::size_t N>
inline constexpr bool isHostRange<std::array<T, N>> = true;
template <class R>
inline constexpr bool isHostRange<
    R, std::enable_if_t<std::is_same_v<typename R::allocator_type, std::allocator<typename R::value_type>>>> = true;

// The pointer to the first element of a range that a kernel will access.
template <class R>
RangeData<R> dataOf(R& range) {
  static_assert(!isHostRange<std::remove_const_t<R>>,
                "gpuopt: the elements of a std::vector, std::array or std::string are in the host's memory: copy them "
                "to the device, to a thrust::device_vector for example. If the device can read the host's memory, pass "
                "data() and size()");
  return toAddress(range.data());
}

// The number of its elements.
template <class R>
std::size_t sizeOf(const R& range) {
  return static_cast<std::size_t>(range.size());
}

template <class R>
void requireSize(const R& range, std::size_t needed, const char* name, const char* function) {
  if (sizeOf(range) < needed)
    throwInvalid({function, ": ", name, " has ", sizeOf(range), " elements, but ", needed, " are needed"});
}

GPUOPT_DETAIL_END
