/// \file
/// A few members of a struct by value.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/soa/aggregate.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>
#include <utility>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

template <std::size_t PLACE, class M>
struct TupleMember {
  M value;
};

template <class Places, class... Ms>
struct TupleMembers;
template <std::size_t... PLACES, class... Ms>
struct TupleMembers<std::index_sequence<PLACES...>, Ms...> : TupleMember<PLACES, Ms>... {};

template <std::size_t PLACE, class M>
__host__ __device__ constexpr M& valueAt(TupleMember<PLACE, M>& member) {
  return member.value;
}
template <std::size_t PLACE, class M>
__host__ __device__ constexpr const M& valueAt(const TupleMember<PLACE, M>& member) {
  return member.value;
}

}  // namespace detail

/// The values of several members, of types Ms: what an element of SoaView::select() is by value. An aggregate
/// as trivial as its members, which may be arrays.
///
///     gpuopt::SoaTuple<float, int> both = view.select<&Particle::mass, &Particle::id>()[i];
///     auto [mass, id] = both;
///     both.get<0>() *= 2;
template <class... Ms>
struct SoaTuple : detail::TupleMembers<std::index_sequence_for<Ms...>, Ms...> {
  /// The value at a place.
  template <std::size_t PLACE>
  __host__ __device__ constexpr auto& get() & {
    return detail::valueAt<PLACE>(*this);
  }
  /// The same to read.
  template <std::size_t PLACE>
  __host__ __device__ constexpr auto& get() const& {
    return detail::valueAt<PLACE>(*this);
  }
  /// The same to move from.
  template <std::size_t PLACE>
  __host__ __device__ constexpr auto&& get() && {
    return std::move(detail::valueAt<PLACE>(*this));
  }
};

namespace detail {

template <class... Ms>
struct Members<SoaTuple<Ms...>> {
  static constexpr std::size_t COUNT = sizeof...(Ms);
  using Types = TypeList<Ms...>;

  template <class Object, class F>
  __host__ __device__ static constexpr decltype(auto) visit(Object& object, const F& f) {
    return visitPlaces(object, f, std::index_sequence_for<Ms...>{});
  }

 private:
  template <class Object, class F, std::size_t... PLACES>
  __host__ __device__ static constexpr decltype(auto) visitPlaces(Object& object, const F& f,
                                                                  std::index_sequence<PLACES...>) {
    return f(object.template get<PLACES>()...);
  }
};

}  // namespace detail
GPUOPT_NAMESPACE_END

template <class... Ms>
struct std::tuple_size<gpuopt::SoaTuple<Ms...>> : std::integral_constant<std::size_t, sizeof...(Ms)> {};

template <std::size_t PLACE, class... Ms>
struct std::tuple_element<PLACE, gpuopt::SoaTuple<Ms...>> {
  using type = gpuopt::detail::Member<gpuopt::SoaTuple<Ms...>, PLACE>;
};
