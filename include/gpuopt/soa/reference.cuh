/// \file
/// A reference to one struct of a structure of arrays.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/soa/aggregate.cuh>
#include <gpuopt/soa/layout.cuh>

#include <cstddef>
#include <type_traits>
#include <utility>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// Visits the members of a struct: writes them all to struct i of `addresses`, or reads them from it.
template <class Addresses, bool WRITES>
struct CopyMembers {
  const Addresses& addresses;
  std::size_t i;

  template <class... Ms>
  __host__ __device__ void operator()(Ms&... members) const {
    copy(std::index_sequence_for<Ms...>{}, members...);
  }

 private:
  template <std::size_t... INDICES, class... Ms>
  __host__ __device__ void copy(std::index_sequence<INDICES...>, Ms&... members) const {
    if constexpr (WRITES)
      (copyMember(*addresses.template at<INDICES>(i), members), ...);
    else
      (copyMember(members, *addresses.template at<INDICES>(i)), ...);
  }
};

template <class T, class Addresses>
__host__ __device__ T loadStruct(const Addresses& addresses, std::size_t i) {
  T value;
  visitMembers(value, CopyMembers<Addresses, false>{addresses, i});
  return value;
}

template <class T, class Addresses>
__host__ __device__ void storeStruct(const Addresses& addresses, std::size_t i, const T& value) {
  visitMembers(value, CopyMembers<Addresses, true>{addresses, i});
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
/// `auto p = view[i]` is a reference too: for a value, name the type or call view.load(i). The compiler has to assume
/// that references to members alias, so several changes of one struct are cheapest on a value that is loaded first and
/// stored last.
///
/// If T is const, so are the members.
template <class T, class LAYOUT = SoaColumns>
class SoaReference {
  using Addresses = detail::SoaAddresses<T, LAYOUT>;

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
  __host__ __device__ operator Value() const { return detail::loadStruct<Value>(addresses_, i_); }

  /// Stores `value`.
  __host__ __device__ const SoaReference& operator=(const Value& value) const {
    static_assert(!std::is_const_v<T>, "gpuopt::SoaView: const structs cannot be assigned");
    detail::storeStruct(addresses_, i_, value);
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
  __host__ __device__ auto& get() const {
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

GPUOPT_NAMESPACE_END

template <class T, class LAYOUT>
struct std::tuple_size<gpuopt::SoaReference<T, LAYOUT>>
    : std::integral_constant<std::size_t, gpuopt::detail::memberCount<T>> {};

template <std::size_t INDEX, class T, class LAYOUT>
struct std::tuple_element<INDEX, gpuopt::SoaReference<T, LAYOUT>> {
  using type = gpuopt::detail::Member<T, INDEX>&;
};
