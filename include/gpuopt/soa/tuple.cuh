/// \file
/// The values of selected members of a struct.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/soa/aggregate.cuh>

#include <cstddef>
#include <type_traits>
#include <utility>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

template <class M, std::size_t INDEX>
struct TupleMember {
  M value;
};

template <class Indices, class... Ms>
struct TupleMembers;
template <std::size_t... INDICES, class... Ms>
struct TupleMembers<std::index_sequence<INDICES...>, Ms...> : TupleMember<Ms, INDICES>... {};

template <std::size_t INDEX, class M>
__host__ __device__ constexpr M& valueAt(TupleMember<M, INDEX>& member) {
  return member.value;
}
template <std::size_t INDEX, class M>
__host__ __device__ constexpr const M& valueAt(const TupleMember<M, INDEX>& member) {
  return member.value;
}

}  // namespace detail

/// The values of several members, of types Ms: the value type of SoaView::select(). An aggregate, as trivial as its
/// members, which may be arrays.
///
///     gpuopt::SoaTuple<float, int> both = view.select<&Particle::mass, &Particle::id>()[i];
///     auto [mass, id] = both;
///     both.get<0>() *= 2;
template <class... Ms>
struct SoaTuple : detail::TupleMembers<std::index_sequence_for<Ms...>, Ms...> {
  /// Value number INDEX.
  template <std::size_t INDEX>
  __host__ __device__ constexpr auto& get() & {
    return detail::valueAt<INDEX>(*this);
  }
  /// The same for a const tuple.
  template <std::size_t INDEX>
  __host__ __device__ constexpr auto& get() const& {
    return detail::valueAt<INDEX>(*this);
  }
  /// The same for an rvalue.
  template <std::size_t INDEX>
  __host__ __device__ constexpr auto&& get() && {
    return std::move(detail::valueAt<INDEX>(*this));
  }
};

namespace detail {

template <class... Ms>
struct Members<SoaTuple<Ms...>> {
  static constexpr std::size_t COUNT = sizeof...(Ms);
  using Types = TypeList<Ms...>;

  template <class Object, class F>
  __host__ __device__ static constexpr decltype(auto) visit(Object& object, const F& f) {
    return visitIndices(object, f, std::index_sequence_for<Ms...>{});
  }

 private:
  template <class Object, class F, std::size_t... INDICES>
  __host__ __device__ static constexpr decltype(auto) visitIndices(Object& object, const F& f,
                                                                   std::index_sequence<INDICES...>) {
    return f(object.template get<INDICES>()...);
  }
};

}  // namespace detail
GPUOPT_NAMESPACE_END

template <class... Ms>
struct std::tuple_size<gpuopt::SoaTuple<Ms...>> : std::integral_constant<std::size_t, sizeof...(Ms)> {};

template <std::size_t INDEX, class... Ms>
struct std::tuple_element<INDEX, gpuopt::SoaTuple<Ms...>> {
  using type = gpuopt::detail::Member<gpuopt::SoaTuple<Ms...>, INDEX>;
};
