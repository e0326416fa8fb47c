/// \file
/// The words that move bytes: of 1, 2, 4, 8 and 16 bytes.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cuda_runtime.h>

#include <cstddef>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// The largest power of two, up to 16, that divides SIZE: no access to an element can be wider.
template <std::size_t SIZE>
inline constexpr std::size_t widestWord = SIZE % 16 == 0  ? 16
                                          : SIZE % 8 == 0 ? 8
                                          : SIZE % 4 == 0 ? 4
                                          : SIZE % 2 == 0 ? 2
                                                          : 1;

template <std::size_t SIZE>
struct WordOf;
template <>
struct WordOf<1> {
  using type = unsigned char;
};
template <>
struct WordOf<2> {
  using type = unsigned short;
};
template <>
struct WordOf<4> {
  using type = unsigned;
};
template <>
struct WordOf<8> {
  using type = uint2;
};
template <>
struct WordOf<16> {
  using type = uint4;
};

// What moves SIZE bytes in one access.
template <std::size_t SIZE>
using Word = typename WordOf<SIZE>::type;

// Whether a T is one word: as large as its alignment, no wider than a vector.
template <class T>
inline constexpr bool isWord = sizeof(T) <= 16 && alignof(T) == sizeof(T);

// The alignment that elements of type T have at least, for accesses by words.
template <class T>
inline constexpr std::size_t leastAlignment = alignof(T) < widestWord<sizeof(T)> ? alignof(T)
                                                                                 : widestWord<sizeof(T)>;

}  // namespace detail
GPUOPT_NAMESPACE_END
