/// \file
/// What the functions of rows check before they launch anything, and the forms of matrices that they take.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/matrix_view.cuh>
#include <gpuopt/core/message.cuh>

#include <cstddef>
#include <type_traits>
#include <utility>

GPUOPT_DETAIL_BEGIN

// For MatrixViews and mdspans.
template <class... Ms>
using EnableMatrices = std::enable_if_t<(isMatrix<Ms> && ...)>;

// The matrix whose rows a function takes, unchecked: those of a batch whose matrices follow one another are rows of one
// matrix.
template <class T>
MatrixView<T> rowsOf(MatrixView<T> view, const char*, const char*) {
  if (view.rows == 1 && view.batch == 1) view.ld = view.cols;
  if (view.batch > 1 && view.batchStride == cappedProduct(view.rows, view.ld)) {
    view.rows = cappedProduct(view.rows, view.batch);
    view.batch = 1;
  }
  return view;
}

template <class M, class = std::enable_if_t<isMdspan<M>>>
auto rowsOf(const M& span, const char* name, const char* function) {
  return rowsOf(viewOf(span, name, function), name, function);
}

template <class M>
using MatrixElement = std::remove_pointer_t<decltype(rowsOf(std::declval<const M&>(), "", "").data)>;

// A matrix for the device: consistent, one matrix, aligned to its elements. Of an empty one only the sizes are checked.
inline void requireRows(const NamedView& view, std::size_t alignment, const char* function) {
  requireSizes(view, function);
  if (view.batch > 1)
    throwInvalid({function, ": ", view.name, " is a batch whose matrices do not follow one another: ", layoutOf(view)});
  if (isEmpty(view)) return;
  requireMemory(view, function);
  if (view.begin() % alignment != 0)
    throwInvalid({function, ": ", view.name, " is misaligned: its address modulo ", alignment, " is ",
                  view.begin() % alignment});
}

template <class T>
void requireRows(const MatrixView<T>& view, const char* name, const char* function) {
  requireRows(named(view, name), alignof(T), function);
}

inline void requireSameCols(const NamedView& in, const NamedView& out, const char* function) {
  if (in.cols != out.cols)
    throwInvalid({function, ": ", in.name, ".cols (", in.cols, ") is not ", out.name, ".cols (", out.cols, ")"});
}

inline void requireSameShape(const NamedView& in, const NamedView& out, const char* function) {
  if (in.rows != out.rows || in.cols != out.cols)
    throwInvalid(
        {function, ": ", in.name, " is ", shapeOf(in), ", so ", out.name, " must be, but it is ", shapeOf(out)});
}

// Two matrices, checked by requireRows, share no element. Ranges of columns of one pitched matrix may interleave.
inline void requireNoOverlap(const NamedView& a, const NamedView& b, const char* function) {
  if (!isEmpty(a) && !isEmpty(b) && viewsOverlap(a, b))
    throwInvalid({function, ": ", a.name, " and ", b.name, " overlap: ", overlapOf(a, b)});
}

// The same of an array and a matrix.
inline void requireNoOverlap(const NamedArray& array, const NamedView& view, const char* function) {
  if (array.n > 0 && !isEmpty(view))
    requireDisjoint(array, {view.data, spanOf(view), view.elementBytes, view.elementBytes, view.name}, function);
}

// The same where an operation may also work in place: then both matrices are the same memory.
inline void requireNoPartialOverlap(const NamedView& in, const NamedView& out, const char* function) {
  const bool isInPlace = in.data == out.data && in.ld == out.ld && in.elementBytes == out.elementBytes;
  if (!isInPlace) requireNoOverlap(in, out, function);
}

GPUOPT_DETAIL_END
