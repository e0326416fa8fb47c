/// \file
/// Iterators over a structure of arrays: over its structs, and over one member of tiles.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/soa/layout.cuh>
#include <gpuopt/soa/random_access.cuh>
#include <gpuopt/soa/reference.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// A struct that was loaded for operator->.
template <class Value>
class LoadedStruct {
 public:
  __host__ __device__ explicit LoadedStruct(const Value& value) : value_(value) {}
  __host__ __device__ const Value* operator->() const { return &value_; }

 private:
  Value value_;
};

}  // namespace detail

/// Random access to the structs, of type T, of a SoaView in a LAYOUT: `*it` is a SoaReference, the value type
/// is the struct. Made by begin() and end().
///
/// For algorithms of std on memory of the host, and for those of Thrust, which are told the place of the data
/// (`thrust::device`): copy, transform, reduce, sort. `it->mass` reads the struct; it cannot write.
template <class T, class LAYOUT = SoaColumns>
class SoaIterator
    : public detail::RandomAccess<SoaIterator<T, LAYOUT>, std::ptrdiff_t, SoaReference<T, LAYOUT>,
                                  std::remove_const_t<T>, detail::LoadedStruct<std::remove_const_t<T>>> {
  using Places = detail::Places<T, LAYOUT>;
  using Base = typename SoaIterator::RandomAccess;

 public:
  /// An iterator that is at nothing.
  SoaIterator() = default;
  /// For the library's own functions: at struct `index` of those whose members are at `places`.
  __host__ __device__ SoaIterator(const Places& places, std::ptrdiff_t index)
      : Base(index), places_(places) {}

  /// An iterator over const structs.
  template <class Plain, class = std::enable_if_t<std::is_same_v<const Plain, T>>>
  __host__ __device__ SoaIterator(const SoaIterator<Plain, LAYOUT>& other)
      : Base(other.position()), places_(other.places_) {}

  /// The struct by value.
  __host__ __device__ detail::LoadedStruct<std::remove_const_t<T>> operator->() const {
    return detail::LoadedStruct<std::remove_const_t<T>>(**this);
  }

 private:
  template <class, class>
  friend class SoaIterator;
  friend Base;

  __host__ __device__ SoaReference<T, LAYOUT> at(std::ptrdiff_t index) const {
    return {places_, static_cast<std::size_t>(index)};
  }

  Places places_;
};

namespace detail {

// One member of structs whose columns are no arrays.
template <class Places, std::size_t PLACE>
class TiledColumn : public RandomAccess<TiledColumn<Places, PLACE>, std::ptrdiff_t,
                                        decltype(*std::declval<Places>().template at<PLACE>(0))> {
  using Base = typename TiledColumn::RandomAccess;

 public:
  TiledColumn() = default;
  __host__ __device__ explicit TiledColumn(const Places& places) : places_(places) {}

 private:
  friend Base;

  __host__ __device__ auto& at(std::ptrdiff_t index) const {
    return *places_.template at<PLACE>(static_cast<std::size_t>(index));
  }

  Places places_;
};

}  // namespace detail
GPUOPT_NAMESPACE_END
