/// \file
/// Boxes: they hold values of types of which no array can be declared, or to which nothing can be assigned.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/word.cuh>

#include <type_traits>

GPUOPT_DETAIL_BEGIN

// A trivially copyable type without a default constructor, or with const members. Its values are moved in boxes.
template <class T>
inline constexpr bool needsBox =
    std::is_trivially_copyable_v<T> && !(std::is_default_constructible_v<T> && std::is_copy_assignable_v<T>);

template <class T>
struct Box;

// T, in a box if it needs one.
template <class T>
using Boxed = std::conditional_t<needsBox<T>, Box<T>, T>;

// The value in a box; any other value itself.
template <class T>
__host__ __device__ inline const T& unbox(const T& value) {
  return value;
}
template <class T>
__host__ __device__ inline T unbox(const Box<T>& box) {
  return box.value();
}

// A T as words, at the size and alignment of T: an array of T is one of boxes. Assigning replaces the T. Words, because
// the compiler would keep each byte of an array of bytes in a register.
template <class T>
struct Box {
  alignas(T) Word<minAlignment<T>> words[sizeof(T) / minAlignment<T>];

  Box() = default;
  template <class U>
  __host__ __device__ explicit Box(const U& other) {
    const T value = static_cast<T>(unbox(other));
    __builtin_memcpy(words, &value, sizeof(T));
  }

  // The object comes into being by the cast: no other way makes one without a constructor of its own.
  __host__ __device__ T value() const { return __builtin_bit_cast(T, *this); }

  template <class U>
  __host__ __device__ explicit operator U() const {
    return static_cast<U>(value());
  }
};

// A function that returns a Result, as one of boxes.
template <class F, class Result>
struct OnBoxes {
  F f;

  template <class... Ts>
  __device__ Boxed<Result> operator()(const Ts&... values) const {
    return static_cast<Boxed<Result>>(f(unbox(values)...));
  }
};

// A pointer to values as one to boxes.
template <class T>
__host__ __device__ inline auto boxes(T* values) {
  return reinterpret_cast<std::conditional_t<std::is_const_v<T>, const Boxed<std::remove_const_t<T>>, Boxed<T>>*>(
      values);
}

GPUOPT_DETAIL_END
