/// \file
/// Random access iterators: over one member of an array of structures, over a structure of arrays, and over one member
/// of it in tiles.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/range.cuh>
#include <gpuopt/soa/layout.cuh>
#include <gpuopt/soa/reference.cuh>

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// Base of a random access iterator. Derived has
//   Reference at(Position position) const
// and its own operator-> if Reference is no language reference. Position is a pointer or an index.
template <class Derived, class Position, class Reference,
          class Value = std::remove_cv_t<std::remove_reference_t<Reference>>,
          class Pointer = std::remove_reference_t<Reference>*>
class RandomAccess {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Value;
  using difference_type = std::ptrdiff_t;
  using pointer = Pointer;
  using reference = Reference;

  RandomAccess() = default;
  __host__ __device__ explicit RandomAccess(Position position) : position_(position) {}

  __host__ __device__ Reference operator*() const { return derived().at(position_); }
  __host__ __device__ Pointer operator->() const { return &**this; }
  template <class N>
  __host__ __device__ Reference operator[](N i) const {  // any integer, like a pointer
    return derived().at(position_ + static_cast<std::ptrdiff_t>(i));
  }

  __host__ __device__ Derived& operator+=(std::ptrdiff_t steps) {
    position_ += steps;
    return static_cast<Derived&>(*this);
  }
  __host__ __device__ Derived& operator-=(std::ptrdiff_t steps) { return *this += -steps; }
  __host__ __device__ Derived& operator++() { return *this += 1; }
  __host__ __device__ Derived& operator--() { return *this += -1; }
  __host__ __device__ Derived operator++(int) {
    const Derived before = derived();
    *this += 1;
    return before;
  }
  __host__ __device__ Derived operator--(int) {
    const Derived before = derived();
    *this += -1;
    return before;
  }

  friend __host__ __device__ Derived operator+(Derived it, std::ptrdiff_t steps) { return it += steps; }
  friend __host__ __device__ Derived operator+(std::ptrdiff_t steps, Derived it) { return it += steps; }
  friend __host__ __device__ Derived operator-(Derived it, std::ptrdiff_t steps) { return it -= steps; }
  friend __host__ __device__ std::ptrdiff_t operator-(const Derived& a, const Derived& b) {
    return a.position_ - b.position_;
  }
  friend __host__ __device__ bool operator==(const Derived& a, const Derived& b) { return a.position_ == b.position_; }
  friend __host__ __device__ bool operator!=(const Derived& a, const Derived& b) { return !(a == b); }
  friend __host__ __device__ bool operator<(const Derived& a, const Derived& b) { return a.position_ < b.position_; }
  friend __host__ __device__ bool operator>(const Derived& a, const Derived& b) { return b < a; }
  friend __host__ __device__ bool operator<=(const Derived& a, const Derived& b) { return !(b < a); }
  friend __host__ __device__ bool operator>=(const Derived& a, const Derived& b) { return !(a < b); }

 protected:
  __host__ __device__ Position position() const { return position_; }

 private:
  __host__ __device__ const Derived& derived() const { return static_cast<const Derived&>(*this); }

  Position position_{};
};

// An iterator over one member of structs in tiles.
template <class Addresses, std::size_t INDEX>
class SoaTilesColumn : public RandomAccess<SoaTilesColumn<Addresses, INDEX>, std::ptrdiff_t,
                                           decltype(*std::declval<Addresses>().template at<INDEX>(0))> {
  using Base = typename SoaTilesColumn::RandomAccess;

 public:
  SoaTilesColumn() = default;
  __host__ __device__ explicit SoaTilesColumn(const Addresses& addresses) : addresses_(addresses) {}

 private:
  friend Base;

  __host__ __device__ auto& at(std::ptrdiff_t index) const {
    return *addresses_.template at<INDEX>(static_cast<std::size_t>(index));
  }

  Addresses addresses_;
};

// A reference to a member of T: const if T is, unless the member is mutable.
template <class T, auto MEMBER, bool IS_MEMBER = std::is_member_object_pointer_v<decltype(MEMBER)>>
struct MemberOf {
  using Reference = decltype((std::declval<T&>().*MEMBER));
};
template <class T, auto MEMBER>
struct MemberOf<T, MEMBER, false> {
  static_assert(sizeof(T) == 0, "gpuopt::member: MEMBER is no pointer to a data member, such as &Particle::mass");
  using Reference = T&;
};
template <class T, auto MEMBER>
using MemberReference = typename MemberOf<T, MEMBER>::Reference;

// The struct that operator-> loads.
template <class Value>
struct LoadedStruct {
  Value value;

  __host__ __device__ const Value* operator->() const { return &value; }
};

}  // namespace detail

/// A random access iterator over one member of an array of structures of type T: element i is `aos[i].*MEMBER`. Made by
/// member().
///
/// It refers to the array, owns nothing and is trivially copyable. The array may be in any memory that the caller can
/// access: device memory in device code, host memory in host code. Converts to an iterator over const structures.
template <class T, auto MEMBER>
class MemberIterator : public detail::RandomAccess<MemberIterator<T, MEMBER>, T*, detail::MemberReference<T, MEMBER>> {
  using Base = typename MemberIterator::RandomAccess;

 public:
  static_assert(!std::is_array_v<typename Base::value_type>,
                "gpuopt::member: the member is an array, which no algorithm can take by value");

  /// A singular iterator, like a null pointer.
  MemberIterator() = default;
  /// An iterator at the structure `*aos`.
  __host__ __device__ explicit MemberIterator(T* aos) : Base(aos) {}
  /// An iterator over const structures.
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T>>>
  __host__ __device__ MemberIterator(const MemberIterator<U, MEMBER>& other) : Base(other.base()) {}

  /// The address of the current structure.
  __host__ __device__ T* base() const { return this->position(); }

 private:
  friend Base;

  __host__ __device__ static detail::MemberReference<T, MEMBER> at(T* aos) { return aos->*MEMBER; }
};

/// An iterator over one member of the array of structures `aos`, for gpuopt's reductions, Thrust and CUB:
///
///     float mass = gpuopt::reduce(gpuopt::member<&Particle::mass>(particles), n);
///
/// MEMBER points to a data member of T or of a base class of T, which may be a structure but not an array. Writing
/// through the iterator changes this member only. Thrust needs an execution policy: `thrust::device`.
///
/// Cost: memory is read in sectors of 32 bytes, so all of the array is read if structures have up to 32 bytes. For
/// members that are needed often, SoaVector keeps each in its own column.
template <auto MEMBER, class T>
[[nodiscard]] __host__ __device__ MemberIterator<T, MEMBER> member(T* aos) {
  return MemberIterator<T, MEMBER>(aos);
}
/// The same of the structures of a container or span, the host's included.
template <auto MEMBER, class R, class = detail::EnableRange<R>>
[[nodiscard]] MemberIterator<std::remove_pointer_t<detail::RangeData<R>>, MEMBER> member(R&& aos) {
  return MemberIterator<std::remove_pointer_t<detail::RangeData<R>>, MEMBER>(detail::toAddress(aos.data()));
}

/// A random access iterator over the structs of a SoaView of type T and layout LAYOUT. `*it` is a SoaReference, the
/// value type is the struct. Made by begin() and end().
///
/// Works with std algorithms on host memory and with Thrust on device memory (pass `thrust::device`): copy, transform,
/// reduce, sort. `it->mass` reads a member; it cannot write.
template <class T, class LAYOUT = SoaColumns>
class SoaIterator : public detail::RandomAccess<SoaIterator<T, LAYOUT>, std::ptrdiff_t, SoaReference<T, LAYOUT>,
                                                std::remove_const_t<T>, detail::LoadedStruct<std::remove_const_t<T>>> {
  using Addresses = detail::SoaAddresses<T, LAYOUT>;
  using Base = typename SoaIterator::RandomAccess;

 public:
  /// A singular iterator, like a null pointer.
  SoaIterator() = default;
  /// For internal use: an iterator at struct `index` of the structs whose members are at `addresses`.
  __host__ __device__ SoaIterator(const Addresses& addresses, std::ptrdiff_t index)
      : Base(index), addresses_(addresses) {}

  /// An iterator over const structs.
  template <class Plain, class = std::enable_if_t<std::is_same_v<const Plain, T>>>
  __host__ __device__ SoaIterator(const SoaIterator<Plain, LAYOUT>& other)
      : Base(other.position()), addresses_(other.addresses_) {}

  /// For internal use: the addresses of the members from the current struct on.
  __host__ __device__ Addresses addresses() const {
    return addresses_.from(static_cast<std::size_t>(this->position()));
  }

  /// Loads the struct.
  __host__ __device__ detail::LoadedStruct<std::remove_const_t<T>> operator->() const { return {**this}; }

 private:
  template <class, class>
  friend class SoaIterator;
  friend Base;

  __host__ __device__ SoaReference<T, LAYOUT> at(std::ptrdiff_t index) const {
    return {addresses_, static_cast<std::size_t>(index)};
  }

  Addresses addresses_;
};

GPUOPT_NAMESPACE_END
