/// \file
/// The types that move 1, 2, 4, 8 and 16 bytes in one access.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>
#include <utility>

GPUOPT_DETAIL_BEGIN

// Bytes of the widest access to an element of SIZE bytes: the largest power of two, up to 16, that divides SIZE.
template <std::size_t SIZE>
inline constexpr std::size_t widestWord = powerOfTwoIn(SIZE | 16);

// Only declared: the type that moves as many bytes as the array has.
unsigned char wordOf(char (&)[1]);
unsigned short wordOf(char (&)[2]);
unsigned wordOf(char (&)[4]);
uint2 wordOf(char (&)[8]);
uint4 wordOf(char (&)[16]);

template <std::size_t SIZE>
struct WordOf {
  using type = decltype(wordOf(std::declval<char (&)[SIZE]>()));
};

// The type that moves SIZE bytes in one access.
template <std::size_t SIZE>
using Word = typename WordOf<SIZE>::type;

// Whether one access moves a T: its size is its alignment, and at most that of a 16-byte vector.
template <class T>
inline constexpr bool isWord = sizeof(T) <= 16 && alignof(T) == sizeof(T);

// The alignment of every element of an array of T, capped at 16 bytes.
template <class T>
inline constexpr std::size_t minAlignment = smallerOf(alignof(T), widestWord<sizeof(T)>);

// Calls use(a std::integral_constant of `bytes`), which are those of a word of MIN_BYTES to BYTES.
template <std::size_t MIN_BYTES, std::size_t BYTES = 16, class Use>
void withWordBytes(std::size_t bytes, const Use& use) {
  if (bytes == BYTES)
    use(std::integral_constant<std::size_t, BYTES>{});
  else if constexpr (BYTES > MIN_BYTES)
    withWordBytes<MIN_BYTES, BYTES / 2>(bytes, use);
}

// T, const if Model is.
template <class Model, class T>
using ConstLike = std::conditional_t<std::is_const_v<Model>, const T, T>;

GPUOPT_DETAIL_END
