/// \file
/// Compile-time reflection of plain structs: the number of members, their types, a visit to all of them, and the number
/// of the member that a member pointer names. Free at run time.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/word.cuh>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

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

template <class List, std::size_t INDEX>
struct TypeAt;
template <class... Ts, std::size_t INDEX>
struct TypeAt<TypeList<Ts...>, INDEX> {
  static_assert(INDEX < sizeof...(Ts), "gpuopt: the struct has no member of this number");
  using Type = std::tuple_element_t<INDEX, std::tuple<Ts...>>;
};

// Counts down from above the maximum: some compilers warn about missing initialisers.
template <class T, std::size_t COUNT = 33>
constexpr std::size_t countMembers() {
  if constexpr (COUNT == 0)
    return COUNT;
  else if constexpr (decltype(Arity<COUNT>::template accepts<T>(0))::value)
    return COUNT;
  else
    return countMembers<T, COUNT - 1>();
}

// Converts to base classes of T only.
template <class T>
struct AnyBaseOf {
  template <class Base, class = std::enable_if_t<std::is_base_of_v<Base, T> && !std::is_same_v<Base, T>>>
  operator Base() const;
};

// Converts to nothing, and so initialises only what accepts any type.
struct Anything {};

template <class T, class Value, class = void>
inline constexpr bool beginsWith = false;
template <class T, class Value>
inline constexpr bool beginsWith<T, Value, std::void_t<decltype(T{std::declval<Value>()})>> = true;

template <class T>
inline constexpr bool hasBases = beginsWith<T, AnyBaseOf<T>> && !beginsWith<T, Anything>;

// The least bytes of a struct with members of these types. Bit-fields and packed members take fewer.
template <class... Ms>
constexpr std::size_t bytesOf(TypeList<Ms...>) {
  std::size_t end = 0;
  ((end = roundUp(end, alignof(Ms)) + sizeof(Ms)), ...);
  return end;
}

// False, but only when instantiated.
template <class T>
inline constexpr bool isNever = sizeof(T) == 0;

// Whether a struct can be taken apart. Says only the first of its flaws: further ones may follow from that.
template <class T>
constexpr bool canTakeApart() {
  if constexpr (!std::is_aggregate_v<T> || !std::is_class_v<T>)
    static_assert(isNever<T>,
                  "gpuopt: only an aggregate can be taken apart: a struct without constructors, private members and "
                  "virtual functions");
  else if constexpr (!std::is_trivially_copyable_v<T>)
    static_assert(isNever<T>, "gpuopt: only a trivially copyable struct can be taken apart");
  else if constexpr (hasBases<T>)
    static_assert(isNever<T>, "gpuopt: a struct with base classes cannot be taken apart: make them members");
  else if constexpr (!std::is_copy_assignable_v<T>)
    static_assert(isNever<T>, "gpuopt: a struct with const members or references cannot be taken apart");
  else if constexpr (!std::is_default_constructible_v<T>)
    static_assert(isNever<T>, "gpuopt: only a struct that can be default-constructed can be taken apart");
  else if constexpr (countMembers<T>() == 0)
    static_assert(isNever<T>, "gpuopt: a struct without members cannot be taken apart");
  else if constexpr (countMembers<T>() > 32)
    static_assert(isNever<T>, "gpuopt: a struct of more than 32 members cannot be taken apart: nest some of them");
  else
    return true;
  return false;
}

template <class T, bool CAN_TAKE_APART>
struct StructMembers {
  static constexpr std::size_t COUNT = countMembers<T>();
  using Types = decltype(Arity<COUNT>::types(std::declval<T&>()));
  static_assert(bytesOf(Types{}) <= sizeof(T), "gpuopt: bit-fields and packed members cannot be taken apart");

  template <class Object, class F>
  __host__ __device__ static constexpr decltype(auto) visit(Object& object, const F& f) {
    return Arity<COUNT>::visit(object, f);
  }
};

// After an error, the struct counts as one member, so that no further errors follow.
template <class T>
struct StructMembers<T, false> {
  static constexpr std::size_t COUNT = 1;
  using Types = TypeList<T>;

  template <class Object, class F>
  __host__ __device__ static constexpr decltype(auto) visit(Object& object, const F& f) {
    return f(object);
  }
};

// The members of a struct:
//   COUNT              their number
//   Types              their types, including arrays, as a TypeList
//   visit(object, f)   calls f(member...); object may be const
template <class T>
struct Members : StructMembers<T, canTakeApart<T>()> {};

template <class T>
inline constexpr std::size_t memberCount = Members<std::remove_const_t<T>>::COUNT;

template <class T>
using MemberTypes = typename Members<std::remove_const_t<T>>::Types;

// The type of a member, const if T is.
template <class T, std::size_t INDEX>
using Member = ConstLike<T, typename TypeAt<MemberTypes<T>, INDEX>::Type>;

// Calls f(member...) for a struct, which may be const.
template <class T, class F>
__host__ __device__ constexpr decltype(auto) visitMembers(T& object, const F& f) {
  return Members<std::remove_const_t<T>>::visit(object, f);
}

// Returns its argument number INDEX.
template <std::size_t INDEX>
struct PickMember {
  template <class First, class... Rest>
  __host__ __device__ constexpr auto& operator()(First& first, Rest&... rest) const {
    if constexpr (INDEX == 0)
      return first;
    else
      return PickMember<INDEX - 1>{}(rest...);
  }
};

template <std::size_t INDEX, class T>
__host__ __device__ constexpr auto& getMember(T& object) {
  return visitMembers(object, PickMember<INDEX>{});
}

// Returns the number of the argument at an address.
struct FindMember {
  const void* wanted;

  template <class... Ms>
  __host__ __device__ constexpr std::size_t operator()(const Ms&... members) const {
    std::size_t index = 0;
    bool found = false;
    ((found = found || __builtin_addressof(members) == wanted, index += found ? 0 : 1), ...);
    return index;
  }
};

// Uninitialised storage, used only for the addresses of members.
template <class T>
union Uninitialised {
  char none;
  T object;
  constexpr Uninitialised() : none() {}
};
template <class T>
inline Uninitialised<T> uninitialised;

template <class T, class M>
constexpr std::size_t indexOf(M T::*member) {
  return visitMembers(uninitialised<T>.object, FindMember{__builtin_addressof(uninitialised<T>.object.*member)});
}

template <class T, class M>
T memberOwner(M T::*);

// The number of the member that a member pointer names.
template <auto MEMBER>
inline constexpr std::size_t memberIndex = indexOf(MEMBER);

// Assigns a member. Arrays are assigned element by element.
template <class M>
__host__ __device__ constexpr void copyMember(M& to, const M& from) {
  if constexpr (std::is_array_v<M>) {
    for (std::size_t e = 0; e < std::extent_v<M>; ++e) copyMember(to[e], from[e]);
  } else {
    to = from;
  }
}

GPUOPT_DETAIL_END
