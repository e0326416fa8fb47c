/// \file
/// A function of every element of an array, of several arrays, or of a matrix, at the speed of a copy, whatever the
/// elements' size.
///
///     gpuopt::forEach(data, n, [] __device__(float& x) { x = sqrtf(x); }, stream);
///     gpuopt::transform(in, n, out, [] __device__(float x) { return 2 * x; }, stream);     // out[i] = f(in[i])
///     gpuopt::transform(a, b, n, out, [] __device__(float x, float y) { return x * y; });  // out[i] = f(a[i], b[i])
///     gpuopt::transform(a, b, c, n, out, f);                                               // of three arrays
///     gpuopt::transform(in, out, f);                       // containers or spans; or first, last, out, f, as in C++
///     gpuopt::forEach(gpuopt::MatrixView{data, rows, cols}, [] __device__(float& x, size_t row, size_t col) {...});
///
/// Lambdas for device code need nvcc's option --extended-lambda.
///
/// **Common to all functions.** Elements have any trivially copyable type, and are aligned to their type; arrays are in
/// device memory. Each call launches one kernel, asynchronous on `stream`, with no synchronisation and no allocation;
/// it can be captured into a graph. With n = 0 nothing is launched. Structures of any size are elements, too; kernels
/// of your own move them by the parts of <gpuopt/struct_io.cuh>.
///
/// **Errors.** Bad arguments throw std::invalid_argument before anything is written: null pointers with n > 0,
/// misaligned addresses, overlapping arrays. The message names the function, the parameter and the values. Errors of
/// the runtime throw CudaError.
///
/// More: docs/map.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/identity.cuh>
#include <gpuopt/core/matrix_view.cuh>
#include <gpuopt/core/other_calls.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/device/structs/arguments.cuh>
#include <gpuopt/device/structs/for_each.cuh>
#include <gpuopt/device/structs/matrix.cuh>
#include <gpuopt/device/structs/transform.cuh>
#include <gpuopt/device/structs/transform_pair.cuh>
#include <gpuopt/device/structs/transform_three.cuh>
#include <gpuopt/host/stream.cuh>

#include <cstddef>
#include <string>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

/// Calls f for each of the n elements of `data`, which f may change.
///
/// Cost: one read and one write of every element, at copy speed. Of const elements, every one is only read.
///
/// \param data n elements; const ones if f only reads them
/// \param f called once for each element, in no particular order: f(data[i]), or f(data[i], i) with a std::size_t if
/// it does not accept the element alone. It gets a reference to a copy in registers, which is written back. Any
/// functor or extended lambda for device code with a const call operator; its result is ignored. A function that takes
/// elements that are not const alone must take a reference: otherwise, it would change nothing.
template <class It, class F>
void forEach(It data, std::size_t n, F f, StreamRef stream = {}) {
  using T = detail::WrittenTo<It>;
  constexpr bool CALLABLE = detail::requireDeviceCode<F>();
  constexpr bool MUTABLE = CALLABLE && detail::isMutable<void, F, T>();
  constexpr bool TAKES = detail::takesStruct<void, F, T>();
  constexpr bool USELESS = CALLABLE && !std::is_const_v<T> && detail::changesNothing<F>;
  static_assert(detail::isMemory<It>,
                "gpuopt::forEach: data must be a pointer, or Thrust's iterator of memory; of a SoaView, pass one "
                "column<...>(), or write a kernel that changes view[i]");
  static_assert(!MUTABLE, "gpuopt::forEach: the call operator of the function must be const");
  static_assert(TAKES || MUTABLE || !CALLABLE || !detail::isMemory<It>,
                "gpuopt::forEach: the function must take an element of data, alone or with its index");
  static_assert(!USELESS,
                "gpuopt::forEach: the function takes an element by value or as const, so it changes nothing: take a "
                "reference, or pass const elements to only read them");
  if constexpr (detail::isMemory<It> && CALLABLE && TAKES && !USELESS)
    detail::forEachChecked(data, n, f, "gpuopt::forEach", stream);
}

/// The same for a container or a span, such as thrust::device_vector: f is called for each of its elements. Those of a
/// const container, or of a span of const elements, are only read.
template <class R, class F, class = detail::EnableRange<R>>
void forEach(R&& data, F f, StreamRef stream = {}) {
  gpuopt::forEach(detail::dataOf(data), detail::sizeOf(data), f, stream);
}

/// The same for the elements from `first` to before `last`.
template <class First, class Last, class F, class = detail::EnableLast<First, Last>>
void forEach(First first, Last last, F f, StreamRef stream = {}) {
  gpuopt::forEach(first, static_cast<std::size_t>(last - first), f, stream);
}

/// The same for the elements of a matrix, whose function may take the row and the column.
///
/// Cost: that of an array if there are no gaps between the rows. Otherwise, each thread accesses one element at a time.
///
/// \param data the matrix, not a batch of them; of const elements, every one is only read
/// \param f f(element), or f(element, row, column) with two std::size_t if it does not accept the element alone
template <class T, class F>
void forEach(MatrixView<T> data, F f, StreamRef stream = {}) {
  constexpr bool CALLABLE = detail::requireDeviceCode<F>();
  constexpr bool TAKES = detail::takesElement<void, F, T>();
  constexpr bool USELESS = CALLABLE && !std::is_const_v<T> && detail::changesNothing<F>;
  static_assert(TAKES || !CALLABLE,
                "gpuopt::forEach: the function must take an element of the matrix, alone or with its row and column, "
                "by a const call operator");
  static_assert(!USELESS,
                "gpuopt::forEach: the function takes an element of the matrix by value or as const, so it changes "
                "nothing: take a reference, or pass const elements to only read them");
  if constexpr (CALLABLE && TAKES && !USELESS) detail::forEachElement(data, f, "gpuopt::forEach", stream);
}

/// Computes out[i] = f(in[i]) for every i < n.
///
/// Cost: one read and one write of every element, at copy speed.
///
/// \param in n elements; or an iterator that can be indexed on the device, such as thrust::counting_iterator, whose
/// elements are read one by one
/// \param out n elements of any type. May be `in` if the types are the same; must not overlap it otherwise.
/// \param f called once for each element, in no particular order: f(in[i]), or f(in[i], i) with a std::size_t if it
/// does not accept the element alone. Any functor or extended lambda for device code with a const call operator; its
/// result converts to the type of `out`.
template <class It, class OutIt, class F>
void transform(It in, std::size_t n, OutIt out, F f, StreamRef stream = {}) {
  using In = detail::ElementOf<It>;
  using Out = detail::WrittenTo<OutIt>;
  constexpr bool WRITES = detail::isMemory<OutIt> && !std::is_const_v<Out>;
  constexpr bool CALLABLE = detail::requireDeviceCode<F>();
  constexpr bool MUTABLE = CALLABLE && detail::isMutable<Out, F, const In>();
  constexpr bool TAKES = detail::takesStruct<Out, F, const In>();
  static_assert(detail::isMemory<OutIt>, "gpuopt::transform: out must be a pointer, or Thrust's iterator of memory");
  static_assert(!std::is_const_v<Out>, "gpuopt::transform: the elements of out are const");
  static_assert(!MUTABLE, "gpuopt::transform: the call operator of the function must be const");
  static_assert(
      TAKES || MUTABLE || !CALLABLE || !WRITES,
      "gpuopt::transform: the function must take an element of in, alone or with its index, and return one of out");
  if constexpr (WRITES && CALLABLE && TAKES) detail::transformChecked(in, n, out, f, "gpuopt::transform", stream);
}

/// The same for containers or spans, such as thrust::device_vector: out[i] = f(in[i]) for every element of `in`. `out`
/// has as many elements or more.
template <class In, class Out, class F, class = detail::EnableRange<In>, class = detail::EnableRange<Out>>
void transform(In&& in, Out&& out, F f, StreamRef stream = {}) {
  detail::requireSize(out, detail::sizeOf(in), "out", "gpuopt::transform");
  gpuopt::transform(detail::dataOf(in), detail::sizeOf(in), detail::dataOf(out), f, stream);
}

/// The same for the elements from `first` to before `last`: STL's order of arguments.
template <class First, class Last, class OutIt, class F, class = detail::EnableLast<First, Last>,
          class = detail::EnableLast<OutIt, OutIt>>
void transform(First first, Last last, OutIt out, F f, StreamRef stream = {}) {
  gpuopt::transform(first, static_cast<std::size_t>(last - first), out, f, stream);
}

/// The same for the elements of a matrix, whose function may take the row and the column.
///
/// Cost: that of arrays if there are no gaps between the rows of both. Otherwise, each thread accesses one element at a
/// time.
///
/// \param in the matrix, not a batch of them
/// \param out a matrix of that shape, of any type. May be `in` if the types are the same; must not overlap it otherwise
/// \param f f(element), or f(element, row, column) with two std::size_t if it does not accept the element alone
template <class In, class Out, class F>
void transform(MatrixView<In> in, MatrixView<Out> out, F f, StreamRef stream = {}) {
  constexpr bool CALLABLE = detail::requireDeviceCode<F>();
  constexpr bool TAKES = detail::takesElement<Out, F, const In>();
  static_assert(!std::is_const_v<Out>, "gpuopt::transform: the elements of out are const");
  static_assert(TAKES || !CALLABLE || std::is_const_v<Out>,
                "gpuopt::transform: the function must take an element of the matrix, alone or with its row and column, "
                "and return one of out, by a const call operator");
  if constexpr (CALLABLE && TAKES && !std::is_const_v<Out>)
    detail::transformElements(in, out, f, "gpuopt::transform", stream);
}

/// Computes out[i] = f(in1[i], in2[i]) for every i < n.
///
/// Cost: one read of both inputs and one write of `out`.
///
/// \param in1,in2 n elements each, of any two types
/// \param out n elements of any type. May be `in1` or `in2` if the types are the same; must not overlap them otherwise.
/// \param f called once for each i, in no particular order: f(in1[i], in2[i]), or f(in1[i], in2[i], i) with a
/// std::size_t if it does not accept the elements alone. Any functor or extended lambda for device code with a const
/// call operator; its result converts to the type of `out`.
template <class It1, class It2, class OutIt, class F>
void transform(It1 in1, It2 in2, std::size_t n, OutIt out, F f, StreamRef stream = {}) {
  using In1 = const detail::ElementOf<It1>;
  using In2 = const detail::ElementOf<It2>;
  using Out = detail::WrittenTo<OutIt>;
  constexpr bool MEMORY = detail::isMemory<It1> && detail::isMemory<It2> && detail::isMemory<OutIt>;
  constexpr bool WRITES = MEMORY && !std::is_const_v<Out>;
  constexpr bool CALLABLE = detail::requireDeviceCode<F>();
  constexpr bool MUTABLE = CALLABLE && detail::isMutable<Out, F, In1, In2>();
  constexpr bool TAKES = detail::takesStruct<Out, F, In1, In2>();
  static_assert(MEMORY, "gpuopt::transform: in1, in2 and out must be pointers, or Thrust's iterators of memory");
  static_assert(!std::is_const_v<Out>, "gpuopt::transform: the elements of out are const");
  static_assert(!MUTABLE, "gpuopt::transform: the call operator of the function must be const");
  static_assert(TAKES || MUTABLE || !CALLABLE || !WRITES,
                "gpuopt::transform: the function must take an element of in1 and one of in2, alone or with their "
                "index, and return one of out");
  if constexpr (WRITES && CALLABLE && TAKES)
    detail::transformPairChecked(in1, in2, n, out, f, "gpuopt::transform", stream);
}

/// The same for containers or spans, such as thrust::device_vector: out[i] = f(in1[i], in2[i]) for every element of
/// `in1`. `in2` and `out` have as many elements or more.
template <class In1, class In2, class Out, class F, class = detail::EnableRange<In1>, class = detail::EnableRange<In2>,
          class = detail::EnableRange<Out>>
void transform(In1&& in1, In2&& in2, Out&& out, F f, StreamRef stream = {}) {
  const std::size_t n = detail::sizeOf(in1);
  detail::requireSize(in2, n, "in2", "gpuopt::transform");
  detail::requireSize(out, n, "out", "gpuopt::transform");
  gpuopt::transform(detail::dataOf(in1), detail::dataOf(in2), n, detail::dataOf(out), f, stream);
}

/// The same for the elements from `first1` to before `last1`, and from `first2` on: STL's order of arguments.
template <class First1, class Last1, class First2, class OutIt, class F, class = detail::EnableLast<First1, Last1>,
          class = detail::EnableLast<First2, OutIt>>
void transform(First1 first1, Last1 last1, First2 first2, OutIt out, F f, StreamRef stream = {}) {
  gpuopt::transform(first1, first2, static_cast<std::size_t>(last1 - first1), out, f, stream);
}

/// Computes out[i] = f(in1[i], in2[i], in3[i]) for every i < n.
///
/// Cost: one read of the inputs and one write of `out`, at copy speed if all four types have 1, 2, 4, 8 or 16 bytes.
/// Otherwise, inputs are read element by element.
///
/// \param in1,in2,in3 n elements each, of any types
/// \param out n elements of any type. May be one of the inputs if the types are the same; must not overlap them
/// otherwise
/// \param f as with two inputs: f(in1[i], in2[i], in3[i]), or the same with i
template <class It1, class It2, class It3, class OutIt, class F>
void transform(It1 in1, It2 in2, It3 in3, std::size_t n, OutIt out, F f, StreamRef stream = {}) {
  using Out = detail::WrittenTo<OutIt>;
  constexpr bool MEMORY =
      detail::isMemory<It1> && detail::isMemory<It2> && detail::isMemory<It3> && detail::isMemory<OutIt>;
  constexpr bool WRITES = MEMORY && !std::is_const_v<Out>;
  constexpr bool CALLABLE = detail::requireDeviceCode<F>();
  constexpr bool TAKES = detail::takesStruct<Out, F, const detail::ElementOf<It1>, const detail::ElementOf<It2>,
                                             const detail::ElementOf<It3>>();
  static_assert(MEMORY, "gpuopt::transform: in1, in2, in3 and out must be pointers, or Thrust's iterators of memory");
  static_assert(!std::is_const_v<Out>, "gpuopt::transform: the elements of out are const");
  static_assert(TAKES || !CALLABLE || !WRITES,
                "gpuopt::transform: the function must take an element of each of the three inputs, alone or with their "
                "index, and return one of out, by a const call operator");
  if constexpr (WRITES && CALLABLE && TAKES)
    detail::transformThreeChecked(in1, in2, in3, n, out, f, "gpuopt::transform", stream);
}

/// The same for containers or spans: out[i] = f(in1[i], in2[i], in3[i]) for every element of `in1`. `in2`, `in3` and
/// `out` have as many elements or more.
template <class In1, class In2, class In3, class Out, class F, class = detail::EnableRange<In1>,
          class = detail::EnableRange<In2>, class = detail::EnableRange<In3>, class = detail::EnableRange<Out>>
void transform(In1&& in1, In2&& in2, In3&& in3, Out&& out, F f, StreamRef stream = {}) {
  const std::size_t n = detail::sizeOf(in1);
  detail::requireSize(in2, n, "in2", "gpuopt::transform");
  detail::requireSize(in3, n, "in3", "gpuopt::transform");
  detail::requireSize(out, n, "out", "gpuopt::transform");
  gpuopt::transform(detail::dataOf(in1), detail::dataOf(in2), detail::dataOf(in3), n, detail::dataOf(out), f, stream);
}

/// \name How elements move
/// One line about the launch of a call: the kernel, the grid, why it is this one, and the bytes to read and write.
/// `in`, n, `out` and data are the call's. Nothing is launched. Errors are those of the call. The words may change from
/// version to version.
/// \{

/// Says in one line how `forEach` moves the elements of an array. Const ones are only read.
template <class It>
[[nodiscard]] std::string explainForEach(It data, std::size_t n) {
  return detail::explainForEach(data, n, "gpuopt::explainForEach");
}

/// Says in one line how `forEach` accesses the elements of a matrix.
template <class T>
[[nodiscard]] std::string explainForEach(MatrixView<T> data) {
  return detail::explainForEachElement(data, "gpuopt::explainForEach");
}

/// Says in one line how `transform` of one array moves elements.
template <class It, class OutIt>
[[nodiscard]] std::string explainTransform(It in, std::size_t n, OutIt out) {
  return detail::explainTransform(in, n, out, "gpuopt::explainTransform");
}

/// Says in one line how `transform` of a matrix accesses its elements.
template <class In, class Out>
[[nodiscard]] std::string explainTransform(MatrixView<In> in, MatrixView<Out> out) {
  return detail::explainTransformElements(in, out, "gpuopt::explainTransform");
}
/// \}

GPUOPT_OTHER_CALLS(forEach, "(data, n, f), (first, last, f), or a container or MatrixView and f, then a stream")
GPUOPT_OTHER_CALLS(transform,
                   "(in, n, out, f), (in1, in2, n, out, f), (in1, in2, in3, n, out, f), (first, last, out, f), or "
                   "containers or MatrixViews for in and out without n, then a stream")

GPUOPT_NAMESPACE_END
