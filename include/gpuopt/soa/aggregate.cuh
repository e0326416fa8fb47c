/// \file
/// Structs taken apart at compile time: how many members a struct has, their types, all of them at once, and
/// the number of the one that a member pointer names. For the code of a kernel this costs nothing.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/soa/arity.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>
#include <utility>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// The type at one place of a list, found through the only base class that has this number.
template <std::size_t PLACE, class T>
struct TypeAtPlace {
  using Type = T;
};

template <class Places, class... Ts>
struct NumberedTypes;
template <std::size_t... PLACES, class... Ts>
struct NumberedTypes<std::index_sequence<PLACES...>, Ts...> : TypeAtPlace<PLACES, Ts>... {};

template <std::size_t PLACE, class T>
TypeAtPlace<PLACE, T> typeAtPlace(const TypeAtPlace<PLACE, T>*);

template <std::size_t PLACE, class List>
struct TypeAt;
template <std::size_t PLACE, class... Ts>
struct TypeAt<PLACE, TypeList<Ts...>> {
  static_assert(PLACE < sizeof...(Ts), "gpuopt: the struct has no member of this number");
  using Numbered = NumberedTypes<std::index_sequence_for<Ts...>, Ts...>;
  using Type = typename decltype(typeAtPlace<PLACE>(static_cast<const Numbered*>(nullptr)))::Type;
};

// From above: a struct with members left out is a warning to some compilers.
template <class T, std::size_t COUNT = 33>
constexpr std::size_t countMembers() {
  if constexpr (COUNT == 0)
    return COUNT;
  else if constexpr (decltype(Arity<COUNT>::template accepts<T>(0))::value)
    return COUNT;
  else
    return countMembers<T, COUNT - 1>();
}

// Initialises base classes of T and nothing else.
template <class T>
struct AnyBaseOf {
  template <class Base, class = std::enable_if_t<std::is_base_of_v<Base, T> && !std::is_same_v<Base, T>>>
  operator Base() const;
};

// Initialises what takes just anything.
struct Anything {};

template <class T, class Value, class = void>
inline constexpr bool beginsWith = false;
template <class T, class Value>
inline constexpr bool beginsWith<T, Value, std::void_t<decltype(T{std::declval<Value>()})>> = true;

template <class T>
inline constexpr bool hasBases = beginsWith<T, AnyBaseOf<T>> && !beginsWith<T, Anything>;

// The bytes that members of these types take at least if each has an address of its own.
template <class... Ms>
constexpr std::size_t bytesOf(TypeList<Ms...>) {
  std::size_t end = 0;
  ((end = roundUp(end, alignof(Ms)) + sizeof(Ms)), ...);
  return end;
}

// How a struct is taken apart:
//   COUNT              the number of its members
//   Types              their types, arrays among them, as a TypeList
//   visit(object, f)   f(member...); object may be const
template <class T>
struct Members {
  static_assert(
      std::is_aggregate_v<T> && std::is_class_v<T>,
      "gpuopt: only an aggregate can be taken apart: a struct without constructors, private members and "
      "virtual functions");
  static_assert(std::is_trivially_copyable_v<T>,
                "gpuopt: only a trivially copyable struct can be taken apart");
  static_assert(!hasBases<T>, "gpuopt: a struct with base classes cannot be taken apart: make them members");
  static_assert(std::is_copy_assignable_v<T>,
                "gpuopt: a struct with const members or references cannot be taken apart");
  static_assert(std::is_default_constructible_v<T>,
                "gpuopt: only a struct that can be default-constructed can be taken apart");

  static constexpr std::size_t COUNT = countMembers<T>();
  static_assert(COUNT > 0, "gpuopt: a struct without members cannot be taken apart");
  static_assert(COUNT <= 32,
                "gpuopt: a struct of more than 32 members cannot be taken apart: nest some of them");

  using Types = decltype(Arity<COUNT>::types(std::declval<T&>()));
  static_assert(bytesOf(Types{}) <= sizeof(T), "gpuopt: bit-fields and packed members cannot be taken apart");

  template <class Object, class F>
  __host__ __device__ static constexpr decltype(auto) visit(Object& object, const F& f) {
    return Arity<COUNT>::visit(object, f);
  }
};

template <class T>
inline constexpr std::size_t memberCount = Members<std::remove_const_t<T>>::COUNT;

template <class T>
using MemberTypes = typename Members<std::remove_const_t<T>>::Types;

// The type of a member; const if T is.
template <class T, std::size_t PLACE>
using Member = std::conditional_t<std::is_const_v<T>, const typename TypeAt<PLACE, MemberTypes<T>>::Type,
                                  typename TypeAt<PLACE, MemberTypes<T>>::Type>;

// f(member...) for all members of a struct, which may be const.
template <class T, class F>
__host__ __device__ constexpr decltype(auto) visitMembers(T& object, const F& f) {
  return Members<std::remove_const_t<T>>::visit(object, f);
}

// Returns one of its arguments.
template <std::size_t PLACE>
struct PickMember {
  template <class First, class... Rest>
  __host__ __device__ constexpr auto& operator()(First& first, Rest&... rest) const {
    if constexpr (PLACE == 0)
      return first;
    else
      return PickMember<PLACE - 1>{}(rest...);
  }
};

template <std::size_t PLACE, class T>
__host__ __device__ constexpr auto& getMember(T& object) {
  return visitMembers(object, PickMember<PLACE>{});
}

// The place of the argument that lies at an address.
struct FindMember {
  const void* wanted;

  template <class... Ms>
  __host__ __device__ constexpr std::size_t operator()(const Ms&... members) const {
    std::size_t place = 0;
    bool found = false;
    ((found = found || __builtin_addressof(members) == wanted, place += found ? 0 : 1), ...);
    return place;
  }
};

// A T that has addresses, and no value: whether or not one can be made at compile time, none is.
template <class T>
union Addresses {
  char none;
  T object;
  constexpr Addresses() : none() {}
};
template <class T>
inline Addresses<T> addresses;

template <class T, class M>
constexpr std::size_t placeOf(M T::*member) {
  return visitMembers(addresses<T>.object, FindMember{__builtin_addressof(addresses<T>.object.*member)});
}

template <class T, class M>
T memberOwner(M T::*);

// The place among the members that a member pointer names.
template <auto MEMBER>
inline constexpr std::size_t memberIndex = placeOf(MEMBER);

// One member's value to another place. Arrays cannot be assigned.
template <class M>
__host__ __device__ constexpr void copyMember(M& to, const M& from) {
  if constexpr (std::is_array_v<M>) {
    for (std::size_t e = 0; e < std::extent_v<M>; ++e) copyMember(to[e], from[e]);
  } else {
    to = from;
  }
}

}  // namespace detail
GPUOPT_NAMESPACE_END
