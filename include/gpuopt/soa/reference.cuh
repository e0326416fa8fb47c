/// \file
/// What an element of a view is: SoaReference, a reference to one struct of a structure of arrays, and SoaTuple, the
/// values of selected members.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/soa/aggregate.cuh>
#include <gpuopt/soa/layout.cuh>

#include <cstddef>
#include <type_traits>
#include <utility>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// Reads all members of `value` from struct i of `addresses`.
template <class Addresses, class T, std::size_t... INDICES>
__host__ __device__ void loadMembers(const Addresses& addresses, std::size_t i, T& value,
                                     std::index_sequence<INDICES...>) {
  visitMembers(value, [&](auto&... members) { (copyMember(members, *addresses.template at<INDICES>(i)), ...); });
}

// Writes them to that struct.
template <class Addresses, class T, std::size_t... INDICES>
__host__ __device__ void storeMembers(const Addresses& addresses, std::size_t i, const T& value,
                                      std::index_sequence<INDICES...>) {
  visitMembers(value, [&](const auto&... members) { (copyMember(*addresses.template at<INDICES>(i), members), ...); });
}

template <class M, std::size_t INDEX>
struct TupleMember {
  M value;
};

template <class Indices, class... Ms>
struct TupleMembers;
template <std::size_t... INDICES, class... Ms>
struct TupleMembers<std::index_sequence<INDICES...>, Ms...> : TupleMember<Ms, INDICES>... {};

template <std::size_t INDEX, class M>
__host__ __device__ constexpr M& valueAt(TupleMember<M, INDEX>& member) {
  return member.value;
}
template <std::size_t INDEX, class M>
__host__ __device__ constexpr const M& valueAt(const TupleMember<M, INDEX>& member) {
  return member.value;
}

}  // namespace detail

/// The type of view[i]: a reference to a struct of type T, whose members are stored separately in LAYOUT.
///
///     Particle p = view[i];                                // reads all members
///     view[i] = p;                                         // writes all members
///     view[i] = view[j];                                   // copies the values, as with structs
///     auto [position, velocity, mass, id] = view[i];       // references to the members
///     view[i].get<&Particle::mass>() *= 2;                 // reads and writes one member only
///     swap(view[i], view[j]);                              // exchanges the values
///
/// The members have no names here: view[i].mass does not compile. `auto p = view[i]` is a reference too: for a value,
/// name the type or call view.load(i). The compiler has to assume that references to members alias, so several changes
/// of one struct are cheapest on a value that is loaded first and stored last.
///
/// If T is const, so are the members.
template <class T, class LAYOUT = SoaColumns>
class SoaReference {
  using Addresses = detail::SoaAddresses<T, LAYOUT>;
  using Indices = std::make_index_sequence<detail::memberCount<T>>;

 public:
  /// The struct, without const.
  using Value = std::remove_const_t<T>;

  /// For internal use: struct `i` of the structs whose members are at `addresses`.
  __host__ __device__ SoaReference(const Addresses& addresses, std::size_t i) : addresses_(addresses), i_(i) {}
  SoaReference(const SoaReference&) = default;

  /// A reference to a const struct.
  template <class Plain, class = std::enable_if_t<std::is_same_v<const Plain, T>>>
  __host__ __device__ SoaReference(const SoaReference<Plain, LAYOUT>& other)
      : addresses_(other.addresses_), i_(other.i_) {}

  /// Loads the struct.
  __host__ __device__ operator Value() const {
    Value value;
    detail::loadMembers(addresses_, i_, value, Indices{});
    return value;
  }

  /// Stores `value`.
  __host__ __device__ const SoaReference& operator=(const Value& value) const {
    static_assert(!std::is_const_v<T>, "gpuopt::SoaView: const structs cannot be assigned");
    detail::storeMembers(addresses_, i_, value, Indices{});
    return *this;
  }

  /// Copies the struct that `other` refers to.
  __host__ __device__ const SoaReference& operator=(const SoaReference& other) const {
    return *this = static_cast<Value>(other);
  }

  /// Copies from a view of the same struct type with another layout.
  template <class U, class OTHER, class = std::enable_if_t<std::is_same_v<std::remove_const_t<U>, Value>>>
  __host__ __device__ const SoaReference& operator=(const SoaReference<U, OTHER>& other) const {
    return *this = static_cast<Value>(other);
  }

  /// A reference to a member: `get<&Particle::mass>()` or `get<2>()`.
  template <auto MEMBER>
  [[nodiscard]] __host__ __device__ auto& get() const {
    return *addresses_.template at<detail::columnNumber<T, MEMBER>>(i_);
  }

  /// Exchanges the values that `a` and `b` refer to.
  friend __host__ __device__ void swap(SoaReference a, SoaReference b) {
    const Value value = a;
    a = b;
    b = value;
  }

 private:
  template <class, class>
  friend class SoaReference;

  Addresses addresses_;
  std::size_t i_;
};

/// The values of several members, of types Ms: the value type of SoaView::select(). An aggregate, as trivial as its
/// members, which may be arrays.
///
///     gpuopt::SoaTuple<float, int> both = view.select<&Particle::mass, &Particle::id>()[i];
///     auto [mass, id] = both;
///     both.get<0>() *= 2;
template <class... Ms>
struct SoaTuple : detail::TupleMembers<std::index_sequence_for<Ms...>, Ms...> {
  /// Value number INDEX.
  template <std::size_t INDEX>
  __host__ __device__ constexpr auto& get() & {
    return detail::valueAt<INDEX>(*this);
  }
  /// The same for a const tuple.
  template <std::size_t INDEX>
  __host__ __device__ constexpr auto& get() const& {
    return detail::valueAt<INDEX>(*this);
  }
  /// The same for an rvalue.
  template <std::size_t INDEX>
  __host__ __device__ constexpr auto&& get() && {
    return std::move(detail::valueAt<INDEX>(*this));
  }
};

namespace detail {

template <class... Ms>
struct Members<SoaTuple<Ms...>> {
  static constexpr std::size_t COUNT = sizeof...(Ms);
  using Types = TypeList<Ms...>;

  template <class Object, class F>
  __host__ __device__ static constexpr decltype(auto) visit(Object& object, const F& f) {
    return visitIndices(object, f, std::index_sequence_for<Ms...>{});
  }

 private:
  template <class Object, class F, std::size_t... INDICES>
  __host__ __device__ static constexpr decltype(auto) visitIndices(Object& object, const F& f,
                                                                   std::index_sequence<INDICES...>) {
    return f(object.template get<INDICES>()...);
  }
};

}  // namespace detail
GPUOPT_NAMESPACE_END

template <class T, class LAYOUT>
struct std::tuple_size<gpuopt::SoaReference<T, LAYOUT>>
    : std::integral_constant<std::size_t, gpuopt::detail::memberCount<T>> {};

template <std::size_t INDEX, class T, class LAYOUT>
struct std::tuple_element<INDEX, gpuopt::SoaReference<T, LAYOUT>> {
  using type = gpuopt::detail::Member<T, INDEX>&;
};

template <class... Ms>
struct std::tuple_size<gpuopt::SoaTuple<Ms...>> : std::integral_constant<std::size_t, sizeof...(Ms)> {};

template <std::size_t INDEX, class... Ms>
struct std::tuple_element<INDEX, gpuopt::SoaTuple<Ms...>> {
  using type = gpuopt::detail::Member<gpuopt::SoaTuple<Ms...>, INDEX>;
};
