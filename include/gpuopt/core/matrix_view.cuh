/// \file
/// Row-major matrices, also as mdspans, and the checks of those that callers pass.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/input.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/core/range.cuh>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

GPUOPT_TYPES_BEGIN

/// A batch of row-major matrices of one shape, with elements of type T in device memory that the view does not own.
///
/// Element (r, c) of matrix b is data[b * batchStride + r * ld + c]. The defaults are one matrix with contiguous rows,
/// and contiguous matrices:
///
///     gpuopt::MatrixView<const float> dense{data, rows, cols};
///     gpuopt::MatrixView<float> pitched{data, rows, cols, ld};
///     gpuopt::MatrixView batch{data, rows, cols, cols, 1000};  // deduces the element type
///
/// A view is not checked until a function takes it.
template <class T>
struct MatrixView {
  T* data = nullptr;                    ///< the first element of the first matrix
  std::size_t rows = 0;                 ///< of each matrix
  std::size_t cols = 0;                 ///< of each matrix
  std::size_t ld = cols;                ///< the leading dimension: elements from one row to the next
  std::size_t batch = 1;                ///< the number of matrices
  std::size_t batchStride = rows * ld;  ///< elements from one matrix to the next
};

template <class T, class... Sizes>
MatrixView(T*, Sizes...) -> MatrixView<T>;

GPUOPT_TYPES_END

GPUOPT_DETAIL_BEGIN

// A view without its element type, and its name in messages: the functions below are compiled once for all types.
struct NamedView : MatrixView<const void> {
  const char* name;
  std::size_t elementBytes;

  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(data); }
};

template <class T>
NamedView named(const MatrixView<T>& view, const char* name) {
  return {{view.data, view.rows, view.cols, view.ld, view.batch, view.batchStride}, name, sizeof(T)};
}

template <class T>
bool isEmpty(const MatrixView<T>& view) {
  return view.rows == 0 || view.cols == 0 || view.batch == 0;
}

// Elements from the first to the last, gaps included. The view is not empty.
inline std::size_t spanOf(const MatrixView<const void>& view) {
  return cappedSum(cappedSum(cappedProduct(view.batch - 1, view.batchStride), cappedProduct(view.rows - 1, view.ld)),
                   view.cols);
}

// The smallest x with step * x mod modulus in [low, high], by Euclid's algorithm; SIZE_LIMIT if there is none, or if
// step * x overflows. step and high are less than the modulus.
inline std::size_t firstMultipleIn(std::size_t low, std::size_t high, std::size_t step, std::size_t modulus) {
  if (low == 0) return 0;
  if (step == 0) return SIZE_LIMIT;
  const std::size_t direct = (low - 1) / step + 1;
  if (direct <= high / step) return direct;
  // No multiple of step is in [low, high], but one is in the range shifted by `wraps` times the modulus.
  const std::size_t wraps = firstMultipleIn(step - high % step, step - low % step, modulus % step, step);
  const std::size_t reached = cappedSum(cappedProduct(wraps, modulus), low);
  return reached == SIZE_LIMIT ? SIZE_LIMIT : (reached - 1) / step + 1;
}

// Whether two matrices of the batch share an element. Exact: matrices may follow each other, be columns of a larger
// matrix, or fill each other's gaps. The view is not empty, its rows do not overlap, and its span fits into memory.
inline bool matricesOverlap(const MatrixView<const void>& view) {
  if (view.batch == 1) return false;
  if (view.batchStride == 0) return true;
  // Matrices b and b + x overlap if x strides are a multiple of ld to within cols - 1 elements, that is if (x *
  // batchStride + cols - 1) mod ld is at most 2 * cols - 2.
  const std::size_t reach = ((view.rows - 1) * view.ld + view.cols - 1) / view.batchStride;
  const std::size_t last = smallerOf(view.batch - 1, reach);
  const std::size_t step = view.batchStride % view.ld;
  const std::size_t first = (view.ld - (step + view.cols - 1) % view.ld) % view.ld;
  const bool overlapsNext = first + 2 * view.cols - 2 >= view.ld;  // the range contains 0
  const std::size_t skipped = overlapsNext ? 0 : firstMultipleIn(first, first + 2 * view.cols - 2, step, view.ld);
  return skipped < last;
}

// Whether two views are disjoint ranges of columns of one pitched matrix, so that their spans interleave.
inline bool areSideBySide(const NamedView& a, const NamedView& b) {
  const std::size_t pitch = a.ld * a.elementBytes;
  const auto isPitched = [](const NamedView& view) { return view.batch == 1 || view.batchStride % view.ld == 0; };
  if (b.ld * b.elementBytes != pitch || !isPitched(a) || !isPitched(b)) return false;
  const std::uintptr_t from = a.begin(), to = b.begin();
  const std::size_t distance = to > from ? (to - from) % pitch : (pitch - (from - to) % pitch) % pitch;
  return distance >= a.cols * a.elementBytes && distance + b.cols * b.elementBytes <= pitch;
}

inline bool viewsOverlap(const NamedView& a, const NamedView& b) {
  const bool apart =
      a.begin() + spanOf(a) * a.elementBytes <= b.begin() || b.begin() + spanOf(b) * b.elementBytes <= a.begin();
  return !apart && !areSideBySide(a, b);
}

// Says where the later view begins within the earlier one.
inline std::string overlapOf(const NamedView& a, const NamedView& b) {
  if (a.begin() > b.begin()) return overlapOf(b, a);
  return message({b.name, " begins at byte ", b.begin() - a.begin(), " of the ", spanOf(a) * a.elementBytes, " that ",
                  a.name, " spans"});
}

inline std::string shapeOf(const NamedView& view, bool isTransposed = false) {
  const std::string shape =
      isTransposed ? message({view.cols, " x ", view.rows}) : message({view.rows, " x ", view.cols});
  return view.batch == 1 ? shape : message({view.batch, " matrices of ", shape});
}

inline std::string layoutOf(const NamedView& view) {
  const std::string layout = message({shapeOf(view), ", ld ", view.ld});
  return view.batch == 1 ? layout : message({layout, ", batchStride ", view.batchStride});
}

// Of a matrix whose sizes are parameters of the function.
inline void requireShape(std::size_t rows, std::size_t cols, const char* function) {
  requireSize(rows, {"rows"}, function);
  requireSize(cols, {"cols"}, function);
}

// The stride of a single matrix means nothing.
inline void requireSizes(const NamedView& view, const char* function) {
  requireSize(view.rows, {view.name, ".rows"}, function);
  requireSize(view.cols, {view.name, ".cols"}, function);
  requireSize(view.ld, {view.name, ".ld"}, function);
  requireSize(view.batch, {view.name, ".batch"}, function);
  if (view.batch > 1) requireSize(view.batchStride, {view.name, ".batchStride"}, function);
}

// A view that is not empty is small enough for memory.
inline void requireSpan(const NamedView& view, const char* function) {
  if (cappedProduct(largerOf(spanOf(view), view.ld), view.elementBytes) > PTRDIFF_MAX)
    throwInvalid(
        {function, ": ", view.name, " is too large: ", layoutOf(view), ", ", view.elementBytes, " bytes an element"});
}

// A view that is not empty: not null, consistent, and small enough for memory. It may be in host memory.
inline void requireLayout(const NamedView& view, const char* function) {
  if (view.ld < view.cols)
    throwInvalid(
        {function, ": ", view.name, ".ld (", view.ld, ") is less than ", view.name, ".cols (", view.cols, ")"});
  if (view.data == nullptr) throwInvalid({function, ": ", view.name, " is null, but its shape is ", shapeOf(view)});
  requireSpan(view, function);
}

// A view for the device.
inline void requireOnDevice(const NamedView& view, const char* function) {
  if (!isEmpty(view)) requireAccess(view.data, spanOf(view) * view.elementBytes, view.name, function);
}

// Both, of a view that is not empty.
inline void requireMemory(const NamedView& view, const char* function) {
  requireLayout(view, function);
  requireOnDevice(view, function);
}

inline void requireApart(const NamedView& view, const char* function) {
  if (matricesOverlap(view)) throwInvalid({function, ": matrices of ", view.name, " overlap: ", layoutOf(view)});
}

// `out` can hold the transpose of `in`, wherever they are. Of empty matrices only the shapes are checked.
inline void requireTransposable(const NamedView& in, const NamedView& out, const char* function) {
  requireSizes(in, function);
  requireSizes(out, function);
  if (out.rows != in.cols || out.cols != in.rows || out.batch != in.batch)
    throwInvalid(
        {function, ": in is ", shapeOf(in), ", so out must be ", shapeOf(in, true), ", but it is ", shapeOf(out)});
  if (isEmpty(in)) return;
  requireLayout(in, function);
  requireLayout(out, function);
  if (in.data == out.data) throwInvalid({function, ": in and out are the same; use ", function, "InPlace"});
  if (viewsOverlap(in, out)) throwInvalid({function, ": in and out overlap: ", overlapOf(in, out)});
  requireApart(out, function);
}

// The same for a transposition in place.
inline void requireTransposableInPlace(const NamedView& data, const char* function) {
  requireSizes(data, function);
  if (isEmpty(data)) return;
  requireMemory(data, function);
  requireApart(data, function);
  if (data.rows != data.cols && data.rows > 1 && data.ld != data.cols)
    throwInvalid({function, ": data is ", shapeOf(data), " with ld ", data.ld,
                  ": only square matrices may have gaps between their rows"});
}

// Whether M is an mdspan, by its member types: <cuda/std/mdspan> would add two seconds to every user's compile time.
template <class M, class = void>
inline constexpr bool isMdspan = false;

template <class M>
inline constexpr bool
    isMdspan<M, std::void_t<typename M::element_type, typename M::extents_type, typename M::layout_type,
                            typename M::accessor_type, typename M::data_handle_type>> = true;

// Whether the layout has an offset, as CCCL's layout_stride_relaxed does.
template <class M, class = void>
inline constexpr bool hasOffset = false;
template <class M>
inline constexpr bool hasOffset<M, std::void_t<decltype(std::declval<const M&>().mapping().offset())>> = true;

template <class M>
constexpr bool requireStrided() {
  constexpr bool HAS_STRIDES = M::is_always_strided() || hasOffset<M>;
  constexpr bool IS_PLAIN = std::is_same_v<typename M::data_handle_type, typename M::element_type*> &&
                            std::is_same_v<typename M::reference, typename M::element_type&>;
  static_assert(HAS_STRIDES, "gpuopt: the layout of an mdspan must have strides");
  static_assert(IS_PLAIN, "gpuopt: the accessor of an mdspan must give access to the elements themselves");
  return HAS_STRIDES && IS_PLAIN;
}

template <class M>
constexpr bool requireMatrix() {
  constexpr bool IS_MATRIX = M::rank() == 2 || M::rank() == 3;
  static_assert(IS_MATRIX, "gpuopt: an mdspan must have two extents, or three for a batch");
  if constexpr (IS_MATRIX)
    return requireStrided<M>();
  else
    return false;
}

// The stride of an extent of more than one element, of an mdspan of the caller's name.
template <class M>
std::size_t strideOf(const M& span, std::size_t i, const char* name, const char* function) {
  const auto stride = [&] {
    if constexpr (hasOffset<M>)
      return static_cast<std::ptrdiff_t>(span.mapping().stride(i));
    else
      return static_cast<std::ptrdiff_t>(span.stride(i));
  }();
  requireSize(static_cast<std::size_t>(stride), {name, ".stride(", i, ")"}, function);
  return static_cast<std::size_t>(stride);
}

// The element with all indices 0.
template <class M>
auto firstElement(const M& span) {
  if constexpr (hasOffset<M>)
    return span.data_handle() + static_cast<std::ptrdiff_t>(span.mapping().offset());
  else
    return span.data_handle();
}

// The matrix that a span of two extents describes, or the batch for three extents. A stride counts only where there is
// more than one element.
template <class M>
MatrixView<typename M::element_type> viewOf(const M& span, const char* name, const char* function) {
  MatrixView<typename M::element_type> view;
  if constexpr (requireMatrix<M>()) {
    constexpr std::size_t RANK = M::rank();
    const auto extent = [&](std::size_t i) {
      const auto size = static_cast<std::size_t>(span.extent(i));
      requireSize(size, {name, ".extent(", i, ")"}, function);
      return size;
    };
    const auto stride = [&](std::size_t i) { return strideOf(span, i, name, function); };
    view = {span.data_handle(), extent(RANK - 2), extent(RANK - 1)};
    view.batch = RANK == 3 ? extent(0) : 1;
    if (isEmpty(view)) return view;
    view.data = firstElement(span);
    if (view.cols > 1 && stride(RANK - 1) != 1)
      throwInvalid({function, ": ", name, ".stride(", RANK - 1, ") is ", stride(RANK - 1),
                    ", but the elements of a row must be neighbours"});
    if (view.rows > 1) view.ld = stride(RANK - 2);
    view.batchStride = view.batch > 1 ? stride(0) : view.rows * view.ld;
  }
  return view;
}

template <class M>
inline constexpr bool isMatrixView = false;
template <class T>
inline constexpr bool isMatrixView<MatrixView<T>> = true;

template <class M>
inline constexpr bool isMatrix = isMatrixView<std::decay_t<M>> || isMdspan<std::decay_t<M>>;

template <class... Ms>
using EnableMdspans = std::enable_if_t<(isMdspan<Ms> && ...)>;

// For pointers, objects that hold one, iterators over memory, containers and spans.
template <class... As>
using EnableDense = std::enable_if_t<((isRange<As> || isAddress<std::decay_t<As>> || isMemory<std::decay_t<As>>)&&...)>;

// The dense matrix at a pointer or in a container. Sizes that overflow are reported by whatever takes the view.
template <class A>
auto denseView(A& array, std::size_t rows, std::size_t cols, const char* name, const char* function) {
  if constexpr (isRange<A>) {
    const std::size_t needed = cappedProduct(rows, cols);
    if (needed != SIZE_LIMIT) requireSize(array, needed, name, function);
    return MatrixView{dataOf(array), rows, cols};
  } else {
    return MatrixView{unwrap(array), rows, cols};
  }
}

GPUOPT_DETAIL_END
