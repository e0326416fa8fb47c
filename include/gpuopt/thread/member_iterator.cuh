/// \file
/// One member of the structures of an array, as an iterator.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

namespace gpuopt {
namespace detail {

// The member of a T that a pointer to member names: as const as T is, unless it is mutable.
template <class T, auto MEMBER>
using MemberReference = decltype((std::declval<T&>().*MEMBER));

}  // namespace detail

/// Random access to one member of the structures of an array: element i is `aos[i].*MEMBER`. Made by
/// member().
///
/// It refers to the array and owns nothing; as trivially copyable as a pointer. Any array that the caller may
/// access: device memory in device code, host memory in host code. An iterator over const structures comes
/// from one over plain ones by conversion.
template <class T, auto MEMBER>
class MemberIterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::remove_cv_t<std::remove_reference_t<detail::MemberReference<T, MEMBER>>>;
  using difference_type = std::ptrdiff_t;
  using reference = detail::MemberReference<T, MEMBER>;
  using pointer = std::remove_reference_t<reference>*;

  static_assert(!std::is_array_v<value_type>,
                "gpuopt::member: the member is an array, which no algorithm can take by value");

  MemberIterator() = default;
  __host__ __device__ explicit MemberIterator(T* aos) : at_(aos) {}
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T>>>
  __host__ __device__ MemberIterator(const MemberIterator<U, MEMBER>& other) : at_(other.base()) {}

  /// The structure that the iterator is at.
  __host__ __device__ T* base() const { return at_; }

  __host__ __device__ reference operator*() const { return at_->*MEMBER; }
  __host__ __device__ pointer operator->() const { return &(at_->*MEMBER); }
  __host__ __device__ reference operator[](difference_type i) const { return at_[i].*MEMBER; }

  __host__ __device__ MemberIterator& operator+=(difference_type i) {
    at_ += i;
    return *this;
  }
  __host__ __device__ MemberIterator& operator-=(difference_type i) { return *this += -i; }
  __host__ __device__ MemberIterator& operator++() { return *this += 1; }
  __host__ __device__ MemberIterator& operator--() { return *this += -1; }
  __host__ __device__ MemberIterator operator++(int) { return MemberIterator(at_++); }
  __host__ __device__ MemberIterator operator--(int) { return MemberIterator(at_--); }

  __host__ __device__ friend MemberIterator operator+(MemberIterator a, difference_type i) { return a += i; }
  __host__ __device__ friend MemberIterator operator+(difference_type i, MemberIterator a) { return a += i; }
  __host__ __device__ friend MemberIterator operator-(MemberIterator a, difference_type i) { return a -= i; }
  __host__ __device__ friend difference_type operator-(MemberIterator a, MemberIterator b) {
    return a.at_ - b.at_;
  }
  __host__ __device__ friend bool operator==(MemberIterator a, MemberIterator b) { return a.at_ == b.at_; }
  __host__ __device__ friend bool operator!=(MemberIterator a, MemberIterator b) { return a.at_ != b.at_; }
  __host__ __device__ friend bool operator<(MemberIterator a, MemberIterator b) { return a.at_ < b.at_; }
  __host__ __device__ friend bool operator>(MemberIterator a, MemberIterator b) { return b.at_ < a.at_; }
  __host__ __device__ friend bool operator<=(MemberIterator a, MemberIterator b) { return !(b.at_ < a.at_); }
  __host__ __device__ friend bool operator>=(MemberIterator a, MemberIterator b) { return !(a.at_ < b.at_); }

 private:
  T* at_ = nullptr;
};

/// One member of the structures of an array, for gpuopt's reductions, Thrust and CUB:
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

}  // namespace gpuopt
