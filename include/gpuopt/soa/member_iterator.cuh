/// \file
/// One member of the structures of an array, as an iterator.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/soa/random_access.cuh>

#include <cuda_runtime.h>

#include <type_traits>
#include <utility>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// The member of a T that a pointer to member names: as const as T is, unless it is mutable.
template <class T, auto MEMBER>
using MemberReference = decltype((std::declval<T&>().*MEMBER));

}  // namespace detail

/// Random access to one member of the structures, of type T, of an array: element i is `aos[i].*MEMBER`. Made
/// by member().
///
/// It refers to the array and owns nothing; as trivially copyable as a pointer. Any array that the caller may
/// access: device memory in device code, host memory in host code. An iterator over const structures comes
/// from one over plain ones by conversion.
template <class T, auto MEMBER>
class MemberIterator
    : public detail::RandomAccess<MemberIterator<T, MEMBER>, T*, detail::MemberReference<T, MEMBER>> {
  using Base = typename MemberIterator::RandomAccess;

 public:
  static_assert(!std::is_array_v<typename Base::value_type>,
                "gpuopt::member: the member is an array, which no algorithm can take by value");

  /// An iterator that is at nothing.
  MemberIterator() = default;
  /// An iterator that is at the structure `*aos`.
  __host__ __device__ explicit MemberIterator(T* aos) : Base(aos) {}
  /// An iterator over const structures.
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T>>>
  __host__ __device__ MemberIterator(const MemberIterator<U, MEMBER>& other) : Base(other.base()) {}

  /// The structure that the iterator is at.
  __host__ __device__ T* base() const { return this->position(); }

 private:
  friend Base;

  __host__ __device__ static detail::MemberReference<T, MEMBER> at(T* aos) { return aos->*MEMBER; }
};

/// One member of the structures of the array `aos`, for gpuopt's reductions, Thrust and CUB:
///
///     float mass = gpuopt::reduce(gpuopt::member<&Particle::mass>(particles), n);
///
/// MEMBER points to a data member of T or of a base class of T; it may be a structure, but no array. Writing
/// through the iterator changes the member alone. To Thrust name the place of the data: `thrust::device`.
///
/// Cost: whole sectors of 32 bytes are read, so an array of structures of S bytes is read completely where S
/// is at most 32; for members that are needed often, SoaVector keeps each in a column of its own.
template <auto MEMBER, class T>
__host__ __device__ MemberIterator<T, MEMBER> member(T* aos) {
  static_assert(std::is_member_object_pointer_v<decltype(MEMBER)>,
                "gpuopt::member: MEMBER is no pointer to a data member, such as &Particle::mass");
  return MemberIterator<T, MEMBER>(aos);
}

GPUOPT_NAMESPACE_END
