/// \file
/// The operators shared by the library's random access iterators.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cstddef>
#include <iterator>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

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

GPUOPT_DETAIL_END
