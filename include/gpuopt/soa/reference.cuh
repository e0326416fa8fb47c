/// \file
/// One struct of a structure of arrays.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/soa/aggregate.cuh>
#include <gpuopt/soa/layout.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>
#include <utility>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// Applied to the members of a struct: writes them all to their places, or reads them from there.
template <bool WRITES, class Places>
struct CopyMembers {
  const Places& places;
  std::size_t i;

  template <class... Ms>
  __host__ __device__ void operator()(Ms&... members) const {
    copy(std::index_sequence_for<Ms...>{}, members...);
  }

 private:
  template <std::size_t... PLACES, class... Ms>
  __host__ __device__ void copy(std::index_sequence<PLACES...>, Ms&... members) const {
    if constexpr (WRITES)
      (copyMember(*places.template at<PLACES>(i), members), ...);
    else
      (copyMember(members, *places.template at<PLACES>(i)), ...);
  }
};

template <class T, class Places>
__host__ __device__ T loadStruct(const Places& places, std::size_t i) {
  T value;
  visitMembers(value, CopyMembers<false, Places>{places, i});
  return value;
}

template <class T, class Places>
__host__ __device__ void storeStruct(const Places& places, std::size_t i, const T& value) {
  visitMembers(value, CopyMembers<true, Places>{places, i});
}

}  // namespace detail

/// What view[i] is: a struct, of type T, whose members lie apart, as LAYOUT says. It refers to memory and
/// owns none.
///
///     Particle p = view[i];                                // all members are read
///     view[i] = p;                                         // all are written
///     view[i] = view[j];                                   // the values, as with structs
///     auto [position, velocity, mass, id] = view[i];       // references to the members
///     view[i].get<&Particle::mass>() *= 2;                 // one member is read and written, nothing else
///     swap(view[i], view[j]);                              // the values
///
/// `auto p = view[i]` is a reference, too: name the type, or call view.load(i), for a value. The references
/// may refer to the same memory, as far as the compiler knows: several changes of one struct are cheapest on
/// a value that is loaded first and stored last.
///
/// Of a view of const structs, the members are const.
template <class T, class LAYOUT = SoaColumns>
class SoaReference {
  using Places = detail::Places<T, LAYOUT>;

 public:
  /// The struct.
  using Value = std::remove_const_t<T>;

  /// For the library's own functions: struct `i` of those whose members are at `places`.
  __host__ __device__ SoaReference(const Places& places, std::size_t i) : places_(places), i_(i) {}
  SoaReference(const SoaReference&) = default;

  /// A reference to a const struct.
  template <class Plain, class = std::enable_if_t<std::is_same_v<const Plain, T>>>
  __host__ __device__ SoaReference(const SoaReference<Plain, LAYOUT>& other)
      : places_(other.places_), i_(other.i_) {}

  /// The struct's value.
  __host__ __device__ operator Value() const { return detail::loadStruct<Value>(places_, i_); }

  /// Writes a value.
  __host__ __device__ const SoaReference& operator=(const Value& value) const {
    static_assert(!std::is_const_v<T>, "gpuopt::SoaView: const structs cannot be assigned");
    detail::storeStruct(places_, i_, value);
    return *this;
  }

  /// Copies the value that the other one refers to.
  __host__ __device__ const SoaReference& operator=(const SoaReference& other) const {
    return *this = static_cast<Value>(other);
  }

  /// Copies a value from another kind of view of the same structs.
  template <class U, class OTHER, class = std::enable_if_t<std::is_same_v<std::remove_const_t<U>, Value>>>
  __host__ __device__ const SoaReference& operator=(const SoaReference<U, OTHER>& other) const {
    return *this = static_cast<Value>(other);
  }

  /// A member: `get<&Particle::mass>()` or `get<2>()`.
  template <auto MEMBER>
  __host__ __device__ auto& get() const {
    return *places_.template at<detail::columnNumber<T, MEMBER>>(i_);
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

  Places places_;
  std::size_t i_;
};

GPUOPT_NAMESPACE_END

template <class T, class LAYOUT>
struct std::tuple_size<gpuopt::SoaReference<T, LAYOUT>>
    : std::integral_constant<std::size_t, gpuopt::detail::memberCount<T>> {};

template <std::size_t PLACE, class T, class LAYOUT>
struct std::tuple_element<PLACE, gpuopt::SoaReference<T, LAYOUT>> {
  using type = gpuopt::detail::Member<T, PLACE>&;
};
