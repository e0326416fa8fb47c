/// \file
/// Tensors in device memory with any strides, and the sizes that describe them.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/matrix_view.cuh>
#include <gpuopt/core/message.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

GPUOPT_TYPES_BEGIN

/// Up to 32 numbers, one for each axis of a tensor, the slowest axis first: extents, strides or the order of axes. Made
/// from numbers of any integer types, in braces, or from a container of them:
///
///     gpuopt::permute(in, out, {n, h, w, c}, {0, 3, 1, 2});
///     gpuopt::permute(in, out, std::vector<std::int64_t>{8, 3, 5}, std::array<int, 3>{2, 0, 1});
struct AxisNumbers {
  static constexpr std::size_t CAPACITY = 32;  ///< the largest number of axes

  std::ptrdiff_t value[CAPACITY] = {};  ///< those of the first `rank` axes
  std::size_t rank = 0;  ///< how many there are; more than 32 is an error of the function that takes them

  /// No numbers.
  AxisNumbers() = default;

  /// The numbers of the arguments, of any integer types.
  template <class... Ns, class = std::enable_if_t<(sizeof...(Ns) > 0) && (std::is_integral_v<Ns> && ...)>>
  AxisNumbers(Ns... numbers) {
    (add(static_cast<std::ptrdiff_t>(numbers)), ...);
  }

  /// The numbers of a container in host memory.
  template <class Container, class = decltype(static_cast<std::ptrdiff_t>(*std::declval<const Container&>().begin()))>
  AxisNumbers(const Container& numbers) {
    for (const auto number : numbers) add(static_cast<std::ptrdiff_t>(number));
  }

  /// The number of an axis, which must be less than `rank`.
  std::ptrdiff_t operator[](std::size_t axis) const { return value[axis]; }

  /// Appends a number.
  void add(std::ptrdiff_t number) {
    if (rank < CAPACITY) value[rank] = number;
    ++rank;
  }
};

/// A tensor with elements of type T in device memory, which the view does not own: element (i0, i1, ...) is
/// data[i0 * strides[0] + i1 * strides[1] + ...]. Strides count elements, not bytes. They may be negative, and 0 for
/// inputs, if all indices of an axis name the same element.
///
///     gpuopt::TensorView<const float> dense(data, {n, h, w, c});                     // row-major
///     gpuopt::TensorView<const float> part(data, {h, w, c}, {pitch, channels, 1});   // with gaps
///     dense.permuted({0, 3, 1, 2})                                                   // the same data as NCHW
///
/// A view is not checked until a function takes it.
template <class T>
struct TensorView {
  T* data = nullptr;    ///< the element whose indices are all 0
  AxisNumbers extents;  ///< elements along each axis
  AxisNumbers strides;  ///< elements from one index of an axis to the next

  /// No tensor: null, without axes.
  TensorView() = default;

  /// A dense row-major tensor: `first` is its first element, `sizes` are its extents.
  TensorView(T* first, const AxisNumbers& sizes) : data(first), extents(sizes), strides(sizes) {
    std::size_t stride = 1;  // unsigned: sizes that overflow are an error of the function that takes the view
    for (std::size_t k = sizes.rank < AxisNumbers::CAPACITY ? sizes.rank : AxisNumbers::CAPACITY; k-- > 0;) {
      strides.value[k] = static_cast<std::ptrdiff_t>(stride);
      stride *= static_cast<std::size_t>(sizes[k]);
    }
  }

  /// A tensor of any strides: `first` is the element whose indices are all 0, `sizes` are its extents, and `steps` its
  /// strides, as many as extents.
  TensorView(T* first, const AxisNumbers& sizes, const AxisNumbers& steps)
      : data(first), extents(sizes), strides(steps) {}

  /// The number of axes.
  std::size_t rank() const { return extents.rank; }

  /// The same elements with the axes in another order, without a copy: axis i of the result is axis order[i] of this
  /// tensor. Throws std::invalid_argument if `order` does not name each axis once.
  TensorView permuted(const AxisNumbers& order) const;
};

template <class T, class... Sizes>
TensorView(T*, Sizes...) -> TensorView<T>;

GPUOPT_TYPES_END

GPUOPT_DETAIL_BEGIN

inline std::string inWords(const AxisNumbers& numbers) {
  std::string text = "(";
  for (std::size_t k = 0; k < numbers.rank && k < AxisNumbers::CAPACITY; ++k)
    text += message({k == 0 ? "" : ", ", numbers[k]});
  return text + ")";
}

inline void requireRank(const AxisNumbers& numbers, const char* name, const char* function) {
  if (numbers.rank > AxisNumbers::CAPACITY)
    throwInvalid({function, ": ", name, " has ", numbers.rank, " axes, but at most 32 are possible"});
}

// `order` names each of the axes once.
inline void requireOrder(const AxisNumbers& order, std::size_t rank, const char* function) {
  if (order.rank != rank)
    throwInvalid({function, ": axes are ", inWords(order), ", but the tensor has ", rank, " axes"});
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    const bool isAxis = order[i] >= 0 && static_cast<std::size_t>(order[i]) < rank;
    if (!isAxis || (seen >> order[i] & 1) != 0)
      throwInvalid({function, ": axes are ", inWords(order), ", which do not name each of 0 to ", rank - 1, " once"});
    seen |= std::uint64_t{1} << order[i];
  }
}

GPUOPT_DETAIL_END

GPUOPT_TYPES_BEGIN

template <class T>
TensorView<T> TensorView<T>::permuted(const AxisNumbers& order) const {
  detail::requireRank(extents, "the tensor", "gpuopt::TensorView::permuted");
  detail::requireOrder(order, rank(), "gpuopt::TensorView::permuted");
  TensorView<T> view = *this;
  for (std::size_t i = 0; i < rank(); ++i) {
    view.extents.value[i] = extents[static_cast<std::size_t>(order[i])];
    view.strides.value[i] = strides[static_cast<std::size_t>(order[i])];
  }
  return view;
}

GPUOPT_TYPES_END
