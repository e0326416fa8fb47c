/// \file
/// Compile-time reflection of plain structs: the number of members, their types, a visit to all of them, and the number
/// of the member that a member pointer names. Free at run time.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/soa/arity.cuh>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

GPUOPT_DETAIL_BEGIN

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
