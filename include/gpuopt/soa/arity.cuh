/// \file
/// Structs of a known number of members: the table by which they are taken apart.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

template <class... Ts>
struct TypeList {};

// Structs of COUNT members, for which the language has no loop.
//   accepts<T>(0)      std::true_type if T takes COUNT initialisers: empty braces, each for a whole member
//                      (a value could be taken for the first element of an array)
//   types(object)      the declared types of the members
//   visit(object, f)   f(member...)
template <std::size_t COUNT>
struct Arity;

#define GPUOPT_EACH_1(m) m(0)
#define GPUOPT_EACH_2(m) GPUOPT_EACH_1(m), m(1)
#define GPUOPT_EACH_3(m) GPUOPT_EACH_2(m), m(2)
#define GPUOPT_EACH_4(m) GPUOPT_EACH_3(m), m(3)
#define GPUOPT_EACH_5(m) GPUOPT_EACH_4(m), m(4)
#define GPUOPT_EACH_6(m) GPUOPT_EACH_5(m), m(5)
#define GPUOPT_EACH_7(m) GPUOPT_EACH_6(m), m(6)
#define GPUOPT_EACH_8(m) GPUOPT_EACH_7(m), m(7)
#define GPUOPT_EACH_9(m) GPUOPT_EACH_8(m), m(8)
#define GPUOPT_EACH_10(m) GPUOPT_EACH_9(m), m(9)
#define GPUOPT_EACH_11(m) GPUOPT_EACH_10(m), m(10)
#define GPUOPT_EACH_12(m) GPUOPT_EACH_11(m), m(11)
#define GPUOPT_EACH_13(m) GPUOPT_EACH_12(m), m(12)
#define GPUOPT_EACH_14(m) GPUOPT_EACH_13(m), m(13)
#define GPUOPT_EACH_15(m) GPUOPT_EACH_14(m), m(14)
#define GPUOPT_EACH_16(m) GPUOPT_EACH_15(m), m(15)
#define GPUOPT_EACH_17(m) GPUOPT_EACH_16(m), m(16)
#define GPUOPT_EACH_18(m) GPUOPT_EACH_17(m), m(17)
#define GPUOPT_EACH_19(m) GPUOPT_EACH_18(m), m(18)
#define GPUOPT_EACH_20(m) GPUOPT_EACH_19(m), m(19)
#define GPUOPT_EACH_21(m) GPUOPT_EACH_20(m), m(20)
#define GPUOPT_EACH_22(m) GPUOPT_EACH_21(m), m(21)
#define GPUOPT_EACH_23(m) GPUOPT_EACH_22(m), m(22)
#define GPUOPT_EACH_24(m) GPUOPT_EACH_23(m), m(23)
#define GPUOPT_EACH_25(m) GPUOPT_EACH_24(m), m(24)
#define GPUOPT_EACH_26(m) GPUOPT_EACH_25(m), m(25)
#define GPUOPT_EACH_27(m) GPUOPT_EACH_26(m), m(26)
#define GPUOPT_EACH_28(m) GPUOPT_EACH_27(m), m(27)
#define GPUOPT_EACH_29(m) GPUOPT_EACH_28(m), m(28)
#define GPUOPT_EACH_30(m) GPUOPT_EACH_29(m), m(29)
#define GPUOPT_EACH_31(m) GPUOPT_EACH_30(m), m(30)
#define GPUOPT_EACH_32(m) GPUOPT_EACH_31(m), m(31)
#define GPUOPT_NAME(number) member##number
#define GPUOPT_TYPE(number) decltype(member##number)
#define GPUOPT_BRACES(number) \
  {}

#define GPUOPT_ARITY(COUNT)                                                            \
  template <>                                                                          \
  struct Arity<COUNT> {                                                                \
    template <class T, class = decltype(T{GPUOPT_EACH_##COUNT(GPUOPT_BRACES)})>        \
    static std::true_type accepts(int);                                                \
    template <class T>                                                                 \
    static std::false_type accepts(...);                                               \
                                                                                       \
    template <class T>                                                                 \
    static auto types(T& object) {                                                     \
      [[maybe_unused]] auto& [GPUOPT_EACH_##COUNT(GPUOPT_NAME)] = object;              \
      return TypeList<GPUOPT_EACH_##COUNT(GPUOPT_TYPE)>{};                             \
    }                                                                                  \
                                                                                       \
    template <class T, class F>                                                        \
    __host__ __device__ static constexpr decltype(auto) visit(T& object, const F& f) { \
      auto& [GPUOPT_EACH_##COUNT(GPUOPT_NAME)] = object;                               \
      return f(GPUOPT_EACH_##COUNT(GPUOPT_NAME));                                      \
    }                                                                                  \
  };

GPUOPT_ARITY(1)
GPUOPT_ARITY(2)
GPUOPT_ARITY(3)
GPUOPT_ARITY(4)
GPUOPT_ARITY(5)
GPUOPT_ARITY(6)
GPUOPT_ARITY(7)
GPUOPT_ARITY(8)
GPUOPT_ARITY(9)
GPUOPT_ARITY(10)
GPUOPT_ARITY(11)
GPUOPT_ARITY(12)
GPUOPT_ARITY(13)
GPUOPT_ARITY(14)
GPUOPT_ARITY(15)
GPUOPT_ARITY(16)
GPUOPT_ARITY(17)
GPUOPT_ARITY(18)
GPUOPT_ARITY(19)
GPUOPT_ARITY(20)
GPUOPT_ARITY(21)
GPUOPT_ARITY(22)
GPUOPT_ARITY(23)
GPUOPT_ARITY(24)
GPUOPT_ARITY(25)
GPUOPT_ARITY(26)
GPUOPT_ARITY(27)
GPUOPT_ARITY(28)
GPUOPT_ARITY(29)
GPUOPT_ARITY(30)
GPUOPT_ARITY(31)
GPUOPT_ARITY(32)

// What has no members, or more than the table knows: Members refuses it.
template <>
struct Arity<0> {
  template <class T>
  static TypeList<> types(T&);
};

template <>
struct Arity<33> : Arity<0> {
  template <class T, class = decltype(T{GPUOPT_EACH_32(GPUOPT_BRACES), {}})>
  static std::true_type accepts(int);
  template <class T>
  static std::false_type accepts(...);
};

#undef GPUOPT_ARITY
#undef GPUOPT_NAME
#undef GPUOPT_TYPE
#undef GPUOPT_BRACES
#undef GPUOPT_EACH_1
#undef GPUOPT_EACH_2
#undef GPUOPT_EACH_3
#undef GPUOPT_EACH_4
#undef GPUOPT_EACH_5
#undef GPUOPT_EACH_6
#undef GPUOPT_EACH_7
#undef GPUOPT_EACH_8
#undef GPUOPT_EACH_9
#undef GPUOPT_EACH_10
#undef GPUOPT_EACH_11
#undef GPUOPT_EACH_12
#undef GPUOPT_EACH_13
#undef GPUOPT_EACH_14
#undef GPUOPT_EACH_15
#undef GPUOPT_EACH_16
#undef GPUOPT_EACH_17
#undef GPUOPT_EACH_18
#undef GPUOPT_EACH_19
#undef GPUOPT_EACH_20
#undef GPUOPT_EACH_21
#undef GPUOPT_EACH_22
#undef GPUOPT_EACH_23
#undef GPUOPT_EACH_24
#undef GPUOPT_EACH_25
#undef GPUOPT_EACH_26
#undef GPUOPT_EACH_27
#undef GPUOPT_EACH_28
#undef GPUOPT_EACH_29
#undef GPUOPT_EACH_30
#undef GPUOPT_EACH_31
#undef GPUOPT_EACH_32

}  // namespace detail
GPUOPT_NAMESPACE_END
