/// \file
/// Random access iterators that are an index into something.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <iterator>

namespace gpuopt::detail {

// What a random access iterator consists of, for a class Derived that has
//   Reference at(std::ptrdiff_t index) const
// Iterators that are compared point into the same sequence.
template <class Derived, class Value, class Reference, class Pointer>
class IndexIterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Value;
  using difference_type = std::ptrdiff_t;
  using pointer = Pointer;
  using reference = Reference;

  IndexIterator() = default;
  __host__ __device__ explicit IndexIterator(std::ptrdiff_t index) : index_(index) {}

  __host__ __device__ Reference operator*() const { return derived().at(index_); }
  template <class N>
  __host__ __device__ Reference operator[](N i) const {  // any integer, like a pointer
    return derived().at(index_ + static_cast<std::ptrdiff_t>(i));
  }

  __host__ __device__ Derived& operator+=(std::ptrdiff_t steps) {
    index_ += steps;
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
    return a.index_ - b.index_;
  }
  friend __host__ __device__ bool operator==(const Derived& a, const Derived& b) {
    return a.index_ == b.index_;
  }
  friend __host__ __device__ bool operator!=(const Derived& a, const Derived& b) {
    return a.index_ != b.index_;
  }
  friend __host__ __device__ bool operator<(const Derived& a, const Derived& b) {
    return a.index_ < b.index_;
  }
  friend __host__ __device__ bool operator>(const Derived& a, const Derived& b) {
    return a.index_ > b.index_;
  }
  friend __host__ __device__ bool operator<=(const Derived& a, const Derived& b) {
    return a.index_ <= b.index_;
  }
  friend __host__ __device__ bool operator>=(const Derived& a, const Derived& b) {
    return a.index_ >= b.index_;
  }

  __host__ __device__ std::ptrdiff_t index() const { return index_; }

 private:
  __host__ __device__ const Derived& derived() const { return static_cast<const Derived&>(*this); }

  std::ptrdiff_t index_ = 0;
};

}  // namespace gpuopt::detail
