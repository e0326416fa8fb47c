/// \file
/// The forms in which reductions take matrices, segments and outputs: pointers, iterators, containers, views, mdspans.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/matrix_view.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/device/reduce/output.cuh>
#include <gpuopt/device/reduce/plan.cuh>
#include <gpuopt/device/reduce/view.cuh>
#include <gpuopt/thread/operators.cuh>

#include <cstddef>
#include <iterator>
#include <string>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

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

template <class In>
auto inputOf(const In& in) {
  if constexpr (isRange<In>)
    return dataOf(in);
  else
    return in;
}

// A matrix at a pointer or an iterator, or in a container.
template <class In>
struct SizedMatrix {
  const In& in;
  MatrixShape shape;
};

template <class First = void, class...>
inline constexpr bool startsWithSize = isSize<First>;

template <class Use, class In, class Rows, class Cols, class... Rest>
void withSizes(const Use& use, const In& in, Rows rows, Cols cols, Rest&... rest) {
  const auto sized = [&](auto ld) {
    return SizedMatrix<In>{
        in, {static_cast<std::size_t>(rows), static_cast<std::size_t>(cols), static_cast<std::size_t>(ld)}};
  };
  if constexpr (startsWithSize<Rest...>)
    [&](auto ld, auto&... others) { use(sized(ld), others...); }(rest...);
  else
    use(sized(cols), rest...);
}

// Brings the forms of a matrix to use(a MatrixView or a SizedMatrix, rest...).
template <class Use, class In, class... Args>
void withForm(const char* function, const Use& use, In& in, Args&... args) {
  if constexpr (isMatrixView<std::decay_t<In>>)
    use(in, args...);
  else if constexpr (isMdspan<std::decay_t<In>>)
    use(viewOf(in, "in", function), args...);
  else
    withSizes(use, in, args...);
}

// Calls call(data, rows, cols, ld, out, rest...) for each matrix of a view. ROWS is 1 if each row has a result and rows
// of several matrices may count as one matrix, 0 if each column has one.
template <bool ROWS, class Call, class T, class Out, class... Rest>
void withResults(const char* function, const Call& call, MatrixView<T> view, Out& out, const Rest&... rest) {
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

template <bool ROWS, class Call, class In, class Out, class... Rest>
void withResults(const char* function, const Call& call, const SizedMatrix<In>& matrix, Out& out, const Rest&... rest) {
  const auto [rows, cols, ld] = matrix.shape;
  if constexpr (isRange<In>)
    if (rows > 0 && cols > 0) requireSize(matrix.in, cappedSum(cappedProduct(rows - 1, ld), cols), "in", function);
  call(inputOf(matrix.in), rows, cols, ld, outputOf(out, ROWS ? rows : cols, function), rest...);
}

// Brings the forms of a matrix to call(in, rows, cols, ld, out, rest...).
template <bool ROWS, class Call, class In, class... Args>
void withMatrix(const char* function, const Call& call, In& in, Args&... args) {
  const auto use = [&](const auto& matrix, auto& out, const auto&... rest) {
    withResults<ROWS>(function, call, matrix, out, rest...);
  };
  withForm(function, use, in, args...);
}

// What explain(in, shape, op) says of the first launch for the arguments (matrix[, op]), and how many there are.
template <bool ROWS, class Explain, class In, class... Args>
std::string explainMatrix(const char* function, const Explain& explain, In& in, Args&... args) {
  std::string text = "nothing to launch: no matrices";
  std::size_t launches = 0;
  const auto use = [&](const auto& matrix, const auto&... op) {
    const auto call = [&](const auto& data, std::size_t rows, std::size_t cols, std::size_t ld, const void*) {
      if (launches++ > 0) return;
      if constexpr (sizeof...(op) == 0)
        text = explain(data, MatrixShape{rows, cols, ld}, Plus{});
      else
        text = explain(data, MatrixShape{rows, cols, ld}, op...);
    };
    unsigned char* const nowhere = nullptr;
    withResults<ROWS>(function, call, matrix, nowhere);
  };
  withForm(function, use, in, args...);
  return launches > 1 ? message({launches, " launches, the first: ", text}) : text;
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
