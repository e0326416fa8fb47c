/// \file
/// Matrices passed as mdspans: of cuda::std, std, or Kokkos.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/matrix_view.cuh>
#include <gpuopt/core/message.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// Whether M is an mdspan, by its member types: <cuda/std/mdspan> would add two seconds to every user's compile time.
template <class M, class = void>
inline constexpr bool isMdspan = false;

template <class M>
inline constexpr bool
    isMdspan<M, std::void_t<typename M::element_type, typename M::extents_type, typename M::layout_type,
                            typename M::accessor_type, typename M::data_handle_type>> = true;

// The matrix that a span of two extents describes, or the batch for three extents.
template <class M>
MatrixView<typename M::element_type> viewOf(const M& span, const char* name, const char* function) {
  using T = typename M::element_type;
  constexpr std::size_t RANK = M::rank();
  static_assert(RANK == 2 || RANK == 3, "gpuopt: an mdspan must have two extents, or three for a batch");
  static_assert(M::is_always_strided(), "gpuopt: the layout of an mdspan must have strides");
  static_assert(std::is_same_v<typename M::data_handle_type, T*> && std::is_same_v<typename M::reference, T&>,
                "gpuopt: the accessor of an mdspan must give access to the elements themselves");

  const auto extent = [&span](std::size_t i) { return static_cast<std::size_t>(span.extent(i)); };
  const auto stride = [&span](std::size_t i) { return static_cast<std::size_t>(span.stride(i)); };
  MatrixView<T> view{span.data_handle(), extent(RANK - 2), extent(RANK - 1)};
  view.batch = RANK == 3 ? extent(0) : 1;
  if (isEmpty(view)) return view;
  if (view.cols > 1 && stride(RANK - 1) != 1)
    throwInvalid({function, ": ", name, ".stride(", RANK - 1, ") is ", stride(RANK - 1),
                  ", but the elements of a row must be neighbours"});
  if (view.rows > 1) view.ld = stride(RANK - 2);
  view.batchStride = view.batch > 1 ? stride(0) : view.rows * view.ld;
  return view;
}

GPUOPT_DETAIL_END
