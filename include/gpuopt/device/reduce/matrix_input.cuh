/// \file
/// The forms in which reductions take matrices, segments and outputs: pointers, iterators, containers, views, mdspans.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/matrix_view.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/device/reduce/output.cuh>
#include <gpuopt/device/reduce/view.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

template <class M>
inline constexpr bool isMatrixView = false;
template <class T>
inline constexpr bool isMatrixView<MatrixView<T>> = true;

template <class M>
inline constexpr bool isMatrix = isMatrixView<std::decay_t<M>> || isMdspan<std::decay_t<M>>;

template <class Number>
inline constexpr bool isSize = std::is_integral_v<std::decay_t<Number>>;

// Whether arguments are anything but (iterator, rows, cols, ld, out, ...), where `out` is a pointer or an iterator.
template <class In, class... Args>
inline constexpr bool isMatrixForm = isMatrix<In> || isRange<In>;
template <class In, class Rows, class Cols, class Third, class... Rest>
inline constexpr bool isMatrixForm<In, Rows, Cols, Third, Rest...> = isMatrix<In> || isRange<In> || !isSize<Third>;
template <class In, class Rows, class Cols, class Ld, class Out, class... Rest>
inline constexpr bool isMatrixForm<In, Rows, Cols, Ld, Out, Rest...> =
    isMatrix<In> || isRange<In> || !isSize<Ld> || isRange<Out>;

template <class In, class... Args>
using EnableMatrixForm = std::enable_if_t<isMatrixForm<In, Args...>>;

// Whether the input and the output are pointers or iterators.
template <class In, class Out>
using EnableIterators = std::enable_if_t<!isRange<In> && !isRange<Out>>;

// Where the results of matrix b of a batch begin.
template <class Out>
Out advanced(const Out& out, std::size_t results) {
  if constexpr (std::is_pointer_v<Out>)
    return out == nullptr ? out : out + results;
  else
    return out + static_cast<typename std::iterator_traits<Out>::difference_type>(results);
}

// Calls call(data, rows, cols, ld, out, rest...) for each matrix of a view. ROWS is 1 if each row has a result and rows
// of several matrices may count as one matrix, 0 if each column has one.
template <bool ROWS, class Call, class T, class Out, class... Rest>
void withBatch(const char* function, const Call& call, MatrixView<T> view, Out& out, const Rest&... rest) {
  requireSizes(named(view, "in"), function);
  if (view.batch > 1 && !isEmpty(view)) requireMemory(named(view, "in"), function);
  if (ROWS && view.batchStride == view.rows * view.ld) {
    view.rows *= view.batch;
    view.batch = 1;
  }
  const std::size_t results = ROWS ? view.rows : view.cols;
  const auto first = outputOf(out, results * view.batch, function);
  if constexpr (std::is_pointer_v<std::decay_t<decltype(first)>>)
    if (view.batch > 1 && !isEmpty(view) && first != nullptr)
      requireDisjoint(namedArray(view.data, spanOf(named(view, "in")), "in"),
                      namedArray(first, results * view.batch, "out"), function);
  for (std::size_t b = 0; b < view.batch; ++b)
    call(view.data + b * view.batchStride, view.rows, view.cols, view.ld, advanced(first, b * results), rest...);
}

template <class In>
auto inputOf(const In& in) {
  if constexpr (isRange<In>)
    return dataOf(in);
  else
    return in;
}

template <bool ROWS, class Call, class In, class Out, class... Rest>
void withShape(const char* function, const Call& call, const In& in, const MatrixShape& matrix, Out& out,
               const Rest&... rest) {
  const auto [rows, cols, ld] = matrix;
  if constexpr (isRange<In>)
    if (rows > 0 && cols > 0) requireSize(in, cappedSum(cappedProduct(rows - 1, ld), cols), "in", function);
  call(inputOf(in), rows, cols, ld, outputOf(out, ROWS ? rows : cols, function), rest...);
}

template <bool ROWS, class Call, class In, class Rows, class Cols, class Third, class... Rest>
void withSizes(const char* function, const Call& call, const In& in, Rows rows, Cols cols, Third& third,
               Rest&... rest) {
  const auto shape = [=](auto ld) {
    return MatrixShape{static_cast<std::size_t>(rows), static_cast<std::size_t>(cols), static_cast<std::size_t>(ld)};
  };
  if constexpr (isSize<Third>)
    withShape<ROWS>(function, call, in, shape(third), rest...);
  else
    withShape<ROWS>(function, call, in, shape(cols), third, rest...);
}

// Brings the forms of a matrix to call(in, rows, cols, ld, out, rest...).
template <bool ROWS, class Call, class In, class... Args>
void withMatrix(const char* function, const Call& call, In& in, Args&... args) {
  if constexpr (isMatrixView<std::decay_t<In>>)
    withBatch<ROWS>(function, call, in, args...);
  else if constexpr (isMdspan<std::decay_t<In>>)
    withBatch<ROWS>(function, call, viewOf(in, "in", function), args...);
  else
    withSizes<ROWS>(function, call, in, args...);
}

// Whether arguments are anything but (iterator, pointer, segments, out, ...), where `out` is a pointer or an iterator.
template <class In, class Offsets, class... Args>
inline constexpr bool isSegmentForm = isRange<In> || isRange<Offsets>;
template <class In, class Offsets, class Segments, class Out, class... Rest>
inline constexpr bool isSegmentForm<In, Offsets, Segments, Out, Rest...> =
    isRange<In> || isRange<Offsets> || isRange<Out>;

template <class In, class Offsets, class... Args>
using EnableSegmentForm = std::enable_if_t<isSegmentForm<In, Offsets, Args...>>;

template <class Call, class In, class Offset, class Out, class... Rest>
void withBounds(const char* function, const Call& call, const In& in, const Offset* offsets, std::size_t segments,
                Out& out, const Rest&... rest) {
  call(inputOf(in), offsets, segments, outputOf(out, segments, function), rest...);
}

// Brings the forms of segments to call(in, offsets, segments, out, rest...). A container of offsets has the number
// of segments.
template <class Call, class In, class Offsets, class... Args>
void withSegments(const char* function, const Call& call, const In& in, Offsets& offsets, Args&... args) {
  if constexpr (isRange<Offsets>)
    withBounds(function, call, in, dataOf(offsets), largerOf(sizeOf(offsets), std::size_t{1}) - 1, args...);
  else
    withBounds(function, call, in, offsets, args...);
}

GPUOPT_DETAIL_END
