/// \file
/// An iterator over one member of an array of structures.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/soa/random_access.cuh>

#include <type_traits>
#include <utility>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// A reference to a member of T: const if T is, unless the member is mutable.
template <class T, auto MEMBER>
using MemberReference = decltype((std::declval<T&>().*MEMBER));

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
__host__ __device__ MemberIterator<T, MEMBER> member(T* aos) {
  static_assert(std::is_member_object_pointer_v<decltype(MEMBER)>,
                "gpuopt::member: MEMBER is no pointer to a data member, such as &Particle::mass");
  return MemberIterator<T, MEMBER>(aos);
}

GPUOPT_NAMESPACE_END
