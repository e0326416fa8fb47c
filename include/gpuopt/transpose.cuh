/// \file
/// Transposition of matrices of any shape, element size, pitch and batch; with a function on the way; in place.
///
///     gpuopt::transpose(in, out, rows, cols);                          // in: rows x cols, out: cols x rows
///     gpuopt::transpose(in, out, rows, cols, ToFloat{}, stream);       // out gets ToFloat{}(element)
///     gpuopt::transposeInPlace(data, n, n);
///     gpuopt::explainTranspose(in, out, rows, cols);                   // says which kernel, and why
///
///     gpuopt::MatrixView<const float> source{in, rows, cols, inLd};    // rows with gaps
///     gpuopt::MatrixView<float> target{out, cols, rows, outLd};
///     gpuopt::transpose(source, target, stream);
///
///     // NHWC to NCHW: in each image, pixels and channels are exchanged.
///     gpuopt::MatrixView<const float> nhwc{in, h * w, c, c, n};        // n matrices of (h * w) x c
///     gpuopt::MatrixView<float> nchw{out, c, h * w, h * w, n};
///     gpuopt::transpose(nhwc, nchw);
///
/// <gpuopt/block/transpose.cuh> and <gpuopt/thread/transpose.cuh>, included here, have the device functions
/// for your own kernels: `transposeTile<TILE, SIDE>`, and the transposes in registers that it is made of.
///
/// **Common to all host functions.** Matrices are row-major, in device memory, with elements of any trivially copyable
/// type of up to 128 bytes at the alignment of that type. Sizes and strides count elements. Out of place, a call is one
/// kernel launch that reads and writes every element once, needs no scratch memory, and runs at nearly the speed of a
/// copy. The functions are asynchronous on `stream`, never synchronise, and can be captured into a graph. If there are
/// no rows, no columns or no matrices, nothing is launched.
///
/// **Errors.** Bad arguments throw std::invalid_argument, which names the function, the parameter and the values,
/// before anything is written: a leading dimension below the row length; negative sizes; shapes that do not match; null
/// pointers to elements; sizes beyond the address space; `out` that equals or overlaps `in`; matrices of `out` that
/// overlap each other; in place, matrices that overlap, and gaps between the rows of a rectangle. Matrices of `in` may
/// overlap: a batchStride of 0 writes the transpose of one matrix many times. The matrices of a batch may be in each
/// other's gaps, as long as they share no element. `in` and `out` may be side by side, as columns of one pitched
/// matrix; other views whose spans interleave count as overlapping. A batch of 2^31 or more matrices must be dense.
/// Errors of the runtime throw CudaError; in place, a matrix may be half transposed then.
///
/// More: docs/transpose.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/transpose.cuh>
#include <gpuopt/core/box.cuh>
#include <gpuopt/core/callable.cuh>
#include <gpuopt/core/matrix_view.cuh>
#include <gpuopt/device/transpose/explain.cuh>
#include <gpuopt/device/transpose/in_place_rectangle.cuh>
#include <gpuopt/device/transpose/in_place_square.cuh>
#include <gpuopt/device/transpose/launch.cuh>
#include <gpuopt/device/transpose/plan.cuh>
#include <gpuopt/thread/transpose.cuh>

#include <cstddef>
#include <string>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// For a fifth argument that is a function: not a stream, nor anything that converts to one, 0 and NULL included.
template <class F>
using EnableFunction = std::enable_if_t<!std::is_convertible_v<F, cudaStream_t> && !std::is_arithmetic_v<F>>;

template <class... Ms>
using EnableMdspans = std::enable_if_t<(isMdspan<Ms> && ...)>;

template <class T>
constexpr void requireMovable() {
  static_assert(std::is_trivially_copyable_v<T>, "gpuopt: only trivially copyable elements can be transposed");
  static_assert(sizeof(T) <= 128, "gpuopt: elements of more than 128 bytes cannot be transposed");
}

template <class In, class Out, class F>
constexpr bool convertsTo() {
  if constexpr (isDeviceLambda<F>)
    return true;
  else
    return returns<Out, const F&, const In&>();
}

// The user's function with its result converted to the type that the kernels store.
template <class Out, class F>
struct Converting {
  F function;

  template <class In>
  __device__ Boxed<Out> operator()(const In& element) const {
    return static_cast<Boxed<Out>>(function(unbox(element)));
  }
};

// The leading dimension of a single row and the stride of a single matrix mean nothing: those of a dense view replace
// them.
template <class T>
MatrixView<T> withoutUnused(MatrixView<T> view) {
  if (view.rows == 1) view.ld = view.cols;
  if (view.batch == 1) view.batchStride = view.rows * view.ld;
  return view;
}

template <class In, class Out, class F>
TransposeProblem<Boxed<std::remove_const_t<In>>, Boxed<Out>, F> checkedProblem(const MatrixView<In>& in,
                                                                               const MatrixView<Out>& out, F function) {
  static_assert(!std::is_const_v<Out>, "gpuopt::transpose: the elements of out are const");
  requireMovable<std::remove_const_t<In>>();
  requireMovable<Out>();
  requireTransposable(named(in, "in"), named(out, "out"), "gpuopt::transpose");
  const auto from = withoutUnused(in);
  const auto to = withoutUnused(out);
  return {boxes(from.data), boxes(to.data),   from.rows,      from.cols, from.ld, to.ld,
          from.batch,       from.batchStride, to.batchStride, function};
}

template <class In, class Out>
auto transposeProblem(const MatrixView<In>& in, const MatrixView<Out>& out) {
  static_assert(std::is_same_v<std::remove_const_t<In>, std::remove_const_t<Out>>,
                "gpuopt::transpose: in and out have elements of different types: pass a function");
  return checkedProblem(in, out, Identity{});
}

template <class In, class Out, class F>
auto transposeProblem(const MatrixView<In>& in, const MatrixView<Out>& out, F function) {
  static_assert(convertsTo<std::remove_const_t<In>, Out, F>(),
                "gpuopt::transpose: the function must take an element of in and return one of out");
  return checkedProblem(in, out, Converting<Out, F>{function});
}

}  // namespace detail

/// \name Out of place
/// out(c, r) = in(r, c) for every element, and for every matrix of a batch. `in` and `out` do not overlap. Cost: one
/// read and one write, near copy speed. Technique: tiles in shared memory without bank conflicts (Ruetsch and
/// Micikevicius 2009), 16-byte accesses on both sides, transposes in registers for small elements, and tiles shifted to
/// full sectors of unaligned rows. `explainTranspose` names the kernel of a call.
/// \{

/// \param in a dense matrix of rows x cols elements, row-major
/// \param out receives the dense matrix of cols x rows elements
/// \param stream the stream of the launch
template <class T, class U>
void transpose(const T* in, U* out, std::size_t rows, std::size_t cols, cudaStream_t stream = nullptr) {
  detail::requireShape(rows, cols, "gpuopt::transpose");
  detail::launchTranspose(detail::transposeProblem(MatrixView<const T>{in, rows, cols}, MatrixView<U>{out, cols, rows}),
                          stream);
}

/// \param in matrices of any leading dimension and batchStride
/// \param out as many matrices, with rows and cols exchanged; any leading dimension and batchStride
template <class T, class U>
void transpose(const MatrixView<T>& in, const MatrixView<U>& out, cudaStream_t stream = nullptr) {
  detail::launchTranspose(detail::transposeProblem(in, out), stream);
}

/// \param in,out mdspans of cuda::std, std or Kokkos, with the extents (rows, cols) and (cols, rows), or with a batch
/// before both; in layout_right, or in layout_stride with neighbouring elements in a row
///
///     cuda::std::mdspan<const float, cuda::std::dextents<std::size_t, 3>> a(in, batch, rows, cols);
///     cuda::std::mdspan<float, cuda::std::dextents<std::size_t, 3>> b(out, batch, cols, rows);
///     gpuopt::transpose(a, b, stream);
template <class InSpan, class OutSpan, class = detail::EnableMdspans<InSpan, OutSpan>>
void transpose(const InSpan& in, const OutSpan& out, cudaStream_t stream = nullptr) {
  transpose(detail::viewOf(in, "in", "gpuopt::transpose"), detail::viewOf(out, "out", "gpuopt::transpose"), stream);
}

/// \}

/// \name With a function on the way
/// out(c, r) = function(in(r, c)): a cast, a scale, a conjugate, any functor or extended lambda that device code can
/// call. Its result converts to the element type of `out`, which may differ from that of `in`. Cost: as without the
/// function, for the bytes of both types.
///
///     struct ToHalf { __device__ __half operator()(float x) const { return __float2half(x); } };
///     gpuopt::transpose(floats, halves, rows, cols, ToHalf{}, stream);
/// \{

/// \param function called once for each element, in any order; its call operator is const
template <class In, class Out, class Function, class = detail::EnableFunction<Function>>
void transpose(const In* in, Out* out, std::size_t rows, std::size_t cols, Function function,
               cudaStream_t stream = nullptr) {
  detail::requireShape(rows, cols, "gpuopt::transpose");
  detail::launchTranspose(
      detail::transposeProblem(MatrixView<const In>{in, rows, cols}, MatrixView<Out>{out, cols, rows}, function),
      stream);
}

template <class In, class Out, class Function, class = detail::EnableFunction<Function>>
void transpose(const MatrixView<In>& in, const MatrixView<Out>& out, Function function, cudaStream_t stream = nullptr) {
  detail::launchTranspose(detail::transposeProblem(in, out, function), stream);
}

template <class InSpan, class OutSpan, class Function, class = detail::EnableMdspans<InSpan, OutSpan>,
          class = detail::EnableFunction<Function>>
void transpose(const InSpan& in, const OutSpan& out, Function function, cudaStream_t stream = nullptr) {
  transpose(detail::viewOf(in, "in", "gpuopt::transpose"), detail::viewOf(out, "out", "gpuopt::transpose"), function,
            stream);
}

/// \}

/// \name Which kernel, and why
/// One line about the kernel that `transpose` launches for the same arguments on the current device, the tile of a
/// block, and the reason for it:
///
///     tile 64 x 64, 256 threads: rows of both sides begin at 16-byte boundaries, 1 GiB exceeds 4 MiB
///
/// Nothing is launched and no element is read: of the pointers only the alignment matters. Errors: those of transpose.
/// The words may change from version to version. All kernels: docs/transpose.md.
/// \{

template <class T, class U>
std::string explainTranspose(const T* in, U* out, std::size_t rows, std::size_t cols) {
  detail::requireShape(rows, cols, "gpuopt::transpose");
  return explainTranspose(MatrixView<const T>{in, rows, cols}, MatrixView<U>{out, cols, rows});
}

template <class T, class U>
std::string explainTranspose(const MatrixView<T>& in, const MatrixView<U>& out) {
  return detail::planInWords(detail::planOf(detail::transposeProblem(in, out)));
}

/// \param function that of `transpose`; it is not called
template <class In, class Out, class Function>
std::string explainTranspose(const In* in, Out* out, std::size_t rows, std::size_t cols, Function function) {
  detail::requireShape(rows, cols, "gpuopt::transpose");
  return explainTranspose(MatrixView<const In>{in, rows, cols}, MatrixView<Out>{out, cols, rows}, function);
}

template <class In, class Out, class Function>
std::string explainTranspose(const MatrixView<In>& in, const MatrixView<Out>& out, Function function) {
  return detail::planInWords(detail::planOf(detail::transposeProblem(in, out, function)));
}

/// \}

/// \name In place
/// The transposed matrices replace the given ones. Two calls restore them.
/// \{

/// Square matrices may have any leading dimension and come in batches: one launch exchanges pairs of tiles. Rectangular
/// ones are dense (ld equals cols): data holds rows x cols elements before and cols x rows after; the matrices of a
/// batch are transposed one after another. Each takes several launches, reads and writes every element two or three
/// times, and needs stream-ordered scratch memory: the size of the matrix up to 32 MiB; for larger ones 32 MiB, or a
/// 32nd of the matrix if that is more, and for some shapes up to a 64th of the matrix more. The library's pool of the
/// device keeps that memory for later calls; in a captured graph it is a memory node, with CUDA's rules for those.
/// Technique: Catanzaro, Keller and Garland 2014, see docs/transpose.md.
template <class T>
void transposeInPlace(const MatrixView<T>& data, cudaStream_t stream = nullptr) {
  static_assert(!std::is_const_v<T>, "gpuopt::transposeInPlace: the elements of data are const");
  detail::requireMovable<T>();
  detail::requireTransposableInPlace(detail::named(data, "data"), "gpuopt::transposeInPlace");
  // A vector has the same elements in the same order either way.
  if (detail::isEmpty(data) || data.rows == 1 || data.cols == 1) return;
  if (data.rows == data.cols)
    detail::launchTransposeSquareInPlace(data.data, data.rows, data.ld, data.batch, data.batchStride, stream);
  else
    for (std::size_t b = 0; b < data.batch; ++b)
      detail::launchTransposeRectangleInPlace(data.data + b * data.batchStride, data.rows, data.cols, stream);
}

/// The same for one dense matrix of rows x cols elements.
template <class T>
void transposeInPlace(T* data, std::size_t rows, std::size_t cols, cudaStream_t stream = nullptr) {
  detail::requireShape(rows, cols, "gpuopt::transposeInPlace");
  transposeInPlace(MatrixView<T>{data, rows, cols}, stream);
}

/// The same for an mdspan, see transpose.
template <class Span, class = detail::EnableMdspans<Span>>
void transposeInPlace(const Span& data, cudaStream_t stream = nullptr) {
  transposeInPlace(detail::viewOf(data, "data", "gpuopt::transposeInPlace"), stream);
}

/// \}

GPUOPT_NAMESPACE_END
