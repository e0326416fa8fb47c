/// \file
/// Iterators over a structure of arrays: over its structs, and over one member in tiles.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/soa/layout.cuh>
#include <gpuopt/soa/random_access.cuh>
#include <gpuopt/soa/reference.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// The struct that operator-> loads.
template <class Value>
struct LoadedStruct {
  Value value;

  __host__ __device__ const Value* operator->() const { return &value; }
};

}  // namespace detail

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

namespace detail {

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

}  // namespace detail
GPUOPT_NAMESPACE_END
