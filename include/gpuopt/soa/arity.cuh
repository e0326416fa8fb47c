/// \file
/// Structured bindings of structs with 1 to 32 members, for aggregate.cuh.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

template <class... Ts>
struct TypeList {};

// Structs of COUNT members. C++17 has no pack of structured bindings, so macros write out each count.
//   accepts<T>(0)      std::true_type if T takes COUNT initialisers. They are empty braces: brace elision
//                      would take a value for the first element of an array member
//   types(object)      the declared types of the members
//   visit(object, f)   calls f(member...)
template <std::size_t COUNT>
struct Arity;

// GPUOPT_EACH(m, q, r): m(number) for 8 * q + r members, separated by commas. Member numbers are octal.
#define GPUOPT_EACH_1(m, q) m(q##0)
#define GPUOPT_EACH_2(m, q) GPUOPT_EACH_1(m, q), m(q##1)
#define GPUOPT_EACH_3(m, q) GPUOPT_EACH_2(m, q), m(q##2)
#define GPUOPT_EACH_4(m, q) GPUOPT_EACH_3(m, q), m(q##3)
#define GPUOPT_EACH_5(m, q) GPUOPT_EACH_4(m, q), m(q##4)
#define GPUOPT_EACH_6(m, q) GPUOPT_EACH_5(m, q), m(q##5)
#define GPUOPT_EACH_7(m, q) GPUOPT_EACH_6(m, q), m(q##6)
#define GPUOPT_EACH_8(m, q) GPUOPT_EACH_7(m, q), m(q##7)
#define GPUOPT_OCTETS_0(m)
#define GPUOPT_OCTETS_1(m) GPUOPT_EACH_8(m, 0),
#define GPUOPT_OCTETS_2(m) GPUOPT_OCTETS_1(m) GPUOPT_EACH_8(m, 1),
#define GPUOPT_OCTETS_3(m) GPUOPT_OCTETS_2(m) GPUOPT_EACH_8(m, 2),
#define GPUOPT_OCTETS_4(m) GPUOPT_OCTETS_3(m) GPUOPT_EACH_8(m, 3),
#define GPUOPT_EACH(m, q, r) GPUOPT_OCTETS_##q(m) GPUOPT_EACH_##r(m, q)
#define GPUOPT_NAME(number) member##number
#define GPUOPT_TYPE(number) decltype(member##number)
#define GPUOPT_BRACES(number) \
  {}

// Structs of 8 * q + r members.
#define GPUOPT_ARITY(q, r)                                                             \
  template <>                                                                          \
  struct Arity<8 * q + r> {                                                            \
    template <class T, class = decltype(T{GPUOPT_EACH(GPUOPT_BRACES, q, r)})>          \
    static std::true_type accepts(int);                                                \
    template <class T>                                                                 \
    static std::false_type accepts(...);                                               \
                                                                                       \
    template <class T>                                                                 \
    static auto types(T& object) {                                                     \
      [[maybe_unused]] auto& [GPUOPT_EACH(GPUOPT_NAME, q, r)] = object;                \
      return TypeList<GPUOPT_EACH(GPUOPT_TYPE, q, r)>{};                               \
    }                                                                                  \
                                                                                       \
    template <class T, class F>                                                        \
    __host__ __device__ static constexpr decltype(auto) visit(T& object, const F& f) { \
      auto& [GPUOPT_EACH(GPUOPT_NAME, q, r)] = object;                                 \
      return f(GPUOPT_EACH(GPUOPT_NAME, q, r));                                        \
    }                                                                                  \
  };
#define GPUOPT_ARITIES(q) \
  GPUOPT_ARITY(q, 1)      \
  GPUOPT_ARITY(q, 2)      \
  GPUOPT_ARITY(q, 3)      \
  GPUOPT_ARITY(q, 4)      \
  GPUOPT_ARITY(q, 5)      \
  GPUOPT_ARITY(q, 6)      \
  GPUOPT_ARITY(q, 7)      \
  GPUOPT_ARITY(q, 8)

GPUOPT_ARITIES(0)
GPUOPT_ARITIES(1)
GPUOPT_ARITIES(2)
GPUOPT_ARITIES(3)

// 33 and 0 members, which Members rejects.
GPUOPT_ARITY(4, 1)
template <>
struct Arity<0> {
  template <class T>
  static TypeList<> types(T&);
};

#undef GPUOPT_EACH_1
#undef GPUOPT_EACH_2
#undef GPUOPT_EACH_3
#undef GPUOPT_EACH_4
#undef GPUOPT_EACH_5
#undef GPUOPT_EACH_6
#undef GPUOPT_EACH_7
#undef GPUOPT_EACH_8
#undef GPUOPT_OCTETS_0
#undef GPUOPT_OCTETS_1
#undef GPUOPT_OCTETS_2
#undef GPUOPT_OCTETS_3
#undef GPUOPT_OCTETS_4
#undef GPUOPT_EACH
#undef GPUOPT_NAME
#undef GPUOPT_TYPE
#undef GPUOPT_BRACES
#undef GPUOPT_ARITY
#undef GPUOPT_ARITIES

GPUOPT_DETAIL_END
