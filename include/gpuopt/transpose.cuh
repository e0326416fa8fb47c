/// \file
/// Transposition of matrices of any shape, element size, pitch and batch; with a function on the way; in place.
///
///     gpuopt::transpose(in, out, rows, cols);                          // in: rows x cols, out: cols x rows
///     gpuopt::transpose(in, out, rows, cols, ToFloat{}, stream);       // out gets ToFloat{}(element)
///     gpuopt::transpose(vector, other, rows, cols);                    // containers or spans: thrust::device_vector
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
/// before anything is written: a leading dimension below the row length; shapes that do not match; null pointers to
/// elements; containers of fewer than rows x cols elements; negative sizes and strides; sizes beyond the address space;
/// `out` that equals or overlaps `in`; matrices of `out` that overlap each other; in place, matrices that overlap, and
/// gaps between the rows of a rectangle. Matrices of `in` may overlap: a batchStride of 0 writes the transpose of one
/// matrix many times. The matrices of a batch may be in each other's gaps, as long as they share no element. `in` and
/// `out` may be side by side, as columns of one pitched matrix; other views whose spans interleave count as
/// overlapping. A batch of 2^31 or more matrices must be dense. Errors of the runtime throw CudaError; in place, a
/// matrix may be half transposed then.
///
/// More: docs/transpose.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/transpose.cuh>
#include <gpuopt/core/call_range.cuh>
#include <gpuopt/core/matrix_view.cuh>
#include <gpuopt/device/transpose/arguments.cuh>
#include <gpuopt/device/transpose/in_place_rectangle.cuh>
#include <gpuopt/device/transpose/in_place_square.cuh>
#include <gpuopt/host/stream.cuh>
#include <gpuopt/thread/transpose.cuh>

#include <cstddef>
#include <string>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

/// \name Out of place
/// out(c, r) = in(r, c) for every element, and for every matrix of a batch. `in` and `out` do not overlap. Cost: one
/// read and one write, near copy speed. Technique: tiles in shared memory without bank conflicts (Ruetsch and
/// Micikevicius 2009), 16-byte accesses on both sides, transposes in registers for small elements, and tiles shifted to
/// full sectors of unaligned rows. `explainTranspose` names the kernel of a call.
/// \{

/// Transposes a dense matrix: out(c, r) = in(r, c).
///
/// \param in a row-major matrix of rows x cols elements: a pointer, a container or a span, such as
/// thrust::device_vector
/// \param out receives the matrix of cols x rows elements; a pointer, a container or a span
/// \param stream the stream of the launch
template <class In, class Out, class = detail::EnableDense<In, Out>>
void transpose(In&& in, Out&& out, std::size_t rows, std::size_t cols, StreamRef stream = {}) {
  detail::requireShape(rows, cols, "gpuopt::transpose");
  detail::transposeViews(stream, detail::denseView(in, rows, cols, "in", "gpuopt::transpose"),
                         detail::denseView(out, cols, rows, "out", "gpuopt::transpose"));
}

/// Transposes matrices with gaps between their rows, and batches: out(c, r) = in(r, c) in each matrix.
///
/// \param in matrices of any leading dimension and batchStride
/// \param out as many matrices, with rows and cols exchanged; any leading dimension and batchStride
template <class T, class U>
void transpose(const MatrixView<T>& in, const MatrixView<U>& out, StreamRef stream = {}) {
  detail::transposeViews(stream, in, out);
}

/// Transposes mdspans: out(c, r) = in(r, c), in each matrix of a batch.
///
/// \param in,out mdspans of cuda::std, std or Kokkos, with the extents (rows, cols) and (cols, rows), or with a batch
/// before both; in layout_right, or in layout_stride or CCCL's layout_stride_relaxed with neighbouring elements in a
/// row and no negative stride
///
///     cuda::std::mdspan<const float, cuda::std::dextents<std::size_t, 3>> a(in, batch, rows, cols);
///     cuda::std::mdspan<float, cuda::std::dextents<std::size_t, 3>> b(out, batch, cols, rows);
///     gpuopt::transpose(a, b, stream);
template <class InSpan, class OutSpan, class = detail::EnableMdspans<InSpan, OutSpan>>
void transpose(const InSpan& in, const OutSpan& out, StreamRef stream = {}) {
  detail::transposeViews(stream, detail::viewOf(in, "in", "gpuopt::transpose"),
                         detail::viewOf(out, "out", "gpuopt::transpose"));
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

/// Transposes a dense matrix with a function on the way: out(c, r) = function(in(r, c)).
///
/// \param in a row-major matrix of rows x cols elements: a pointer, a container or a span
/// \param out receives the matrix of cols x rows elements; a pointer, a container or a span
/// \param function called once for each element, in any order; its call operator is const
template <class In, class Out, class Function, class = detail::EnableDense<In, Out>,
          class = detail::EnableFunction<Function>>
void transpose(In&& in, Out&& out, std::size_t rows, std::size_t cols, Function function, StreamRef stream = {}) {
  detail::requireShape(rows, cols, "gpuopt::transpose");
  detail::transposeViews(stream, detail::denseView(in, rows, cols, "in", "gpuopt::transpose"),
                         detail::denseView(out, cols, rows, "out", "gpuopt::transpose"), function);
}

/// Transposes matrices with gaps between their rows, and batches, with a function on the way: out(c, r) =
/// function(in(r, c)) in each matrix.
template <class In, class Out, class Function, class = detail::EnableFunction<Function>>
void transpose(const MatrixView<In>& in, const MatrixView<Out>& out, Function function, StreamRef stream = {}) {
  detail::transposeViews(stream, in, out, function);
}

/// Transposes mdspans with a function on the way: out(c, r) = function(in(r, c)), in each matrix of a batch.
template <class InSpan, class OutSpan, class Function, class = detail::EnableMdspans<InSpan, OutSpan>,
          class = detail::EnableFunction<Function>>
void transpose(const InSpan& in, const OutSpan& out, Function function, StreamRef stream = {}) {
  detail::transposeViews(stream, detail::viewOf(in, "in", "gpuopt::transpose"),
                         detail::viewOf(out, "out", "gpuopt::transpose"), function);
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

/// Says in one line which kernel transposes a dense matrix, and why. `in` and `out` are what `transpose` takes.
template <class In, class Out, class = detail::EnableDense<In, Out>>
[[nodiscard]] std::string explainTranspose(In&& in, Out&& out, std::size_t rows, std::size_t cols) {
  detail::requireShape(rows, cols, "gpuopt::transpose");
  return detail::explainViews(detail::denseView(in, rows, cols, "in", "gpuopt::transpose"),
                              detail::denseView(out, cols, rows, "out", "gpuopt::transpose"));
}

/// Says in one line which kernel transposes these views, and why.
template <class T, class U>
[[nodiscard]] std::string explainTranspose(const MatrixView<T>& in, const MatrixView<U>& out) {
  return detail::explainViews(in, out);
}

/// Says in one line which kernel transposes these mdspans, and why.
template <class InSpan, class OutSpan, class = detail::EnableMdspans<InSpan, OutSpan>>
[[nodiscard]] std::string explainTranspose(const InSpan& in, const OutSpan& out) {
  return detail::explainViews(detail::viewOf(in, "in", "gpuopt::transpose"),
                              detail::viewOf(out, "out", "gpuopt::transpose"));
}

/// Says in one line which kernel transposes a dense matrix with a function on the way, and why.
///
/// \param function that of `transpose`; it is not called
template <class In, class Out, class Function, class = detail::EnableDense<In, Out>>
[[nodiscard]] std::string explainTranspose(In&& in, Out&& out, std::size_t rows, std::size_t cols, Function function) {
  detail::requireShape(rows, cols, "gpuopt::transpose");
  return detail::explainViews(detail::denseView(in, rows, cols, "in", "gpuopt::transpose"),
                              detail::denseView(out, cols, rows, "out", "gpuopt::transpose"), function);
}

/// Says in one line which kernel transposes these views with a function on the way, and why.
template <class In, class Out, class Function>
[[nodiscard]] std::string explainTranspose(const MatrixView<In>& in, const MatrixView<Out>& out, Function function) {
  return detail::explainViews(in, out, function);
}

/// Says in one line which kernel transposes these mdspans with a function on the way, and why.
template <class InSpan, class OutSpan, class Function, class = detail::EnableMdspans<InSpan, OutSpan>>
[[nodiscard]] std::string explainTranspose(const InSpan& in, const OutSpan& out, Function function) {
  return detail::explainViews(detail::viewOf(in, "in", "gpuopt::transpose"),
                              detail::viewOf(out, "out", "gpuopt::transpose"), function);
}

/// \}

/// \name In place
/// The transposed matrices replace the given ones. Two calls restore them.
/// \{

/// Transposes matrices in place.
///
/// Square matrices may have any leading dimension and come in batches: one launch exchanges pairs of tiles. Rectangular
/// ones are dense (ld equals cols): data holds rows x cols elements before and cols x rows after; the matrices of a
/// batch are transposed one after another. Each takes several launches, reads and writes every element two or three
/// times, and needs stream-ordered scratch memory: the size of the matrix up to 32 MiB; for larger ones 32 MiB, or a
/// 32nd of the matrix if that is more, and for some shapes up to a 64th of the matrix more. The library's pool of the
/// device keeps that memory for later calls; in a captured graph it is a memory node, with CUDA's rules for those.
/// Technique: Catanzaro, Keller and Garland 2014, see docs/transpose.md.
template <class T>
void transposeInPlace(const MatrixView<T>& data, StreamRef stream = {}) {
  [[maybe_unused]] const detail::CallRange range("gpuopt::transposeInPlace");
  static_assert(!std::is_const_v<T>, "gpuopt::transposeInPlace: the elements of data are const");
  if constexpr (!std::is_const_v<T> && detail::requireMovable<T>()) {
    detail::requireTransposableInPlace(detail::named(data, "data"), "gpuopt::transposeInPlace");
    // A vector has the same elements in the same order either way.
    if (detail::isEmpty(data) || data.rows == 1 || data.cols == 1) return;
    if (data.rows == data.cols)
      detail::launchTransposeSquareInPlace(data.data, data.rows, data.ld, data.batch, data.batchStride, stream);
    else
      for (std::size_t b = 0; b < data.batch; ++b)
        detail::launchTransposeRectangleInPlace(data.data + b * data.batchStride, data.rows, data.cols, stream);
  }
}

/// Transposes one dense matrix in place, of rows x cols elements at a pointer, in a container or a span.
template <class A, class = detail::EnableDense<A>>
void transposeInPlace(A&& data, std::size_t rows, std::size_t cols, StreamRef stream = {}) {
  detail::requireShape(rows, cols, "gpuopt::transposeInPlace");
  gpuopt::transposeInPlace(detail::denseView(data, rows, cols, "data", "gpuopt::transposeInPlace"), stream);
}

/// Transposes an mdspan in place, or each matrix of a batch; see transpose.
template <class Span, class = detail::EnableMdspans<Span>>
void transposeInPlace(const Span& data, StreamRef stream = {}) {
  gpuopt::transposeInPlace(detail::viewOf(data, "data", "gpuopt::transposeInPlace"), stream);
}

/// Says in one line how transposeInPlace transposes `data`, and why: the passes, and the bytes that they read and
/// write. Nothing is launched. Errors are those of the call. The words may change from version to version.
template <class T>
[[nodiscard]] std::string explainTransposeInPlace(const MatrixView<T>& data) {
  detail::requireTransposableInPlace(detail::named(data, "data"), "gpuopt::explainTransposeInPlace");
  return detail::explainInPlace(data);
}

/// The same for one dense matrix of rows x cols elements.
template <class A, class = detail::EnableDense<A>>
[[nodiscard]] std::string explainTransposeInPlace(A&& data, std::size_t rows, std::size_t cols) {
  constexpr const char* FUNCTION = "gpuopt::explainTransposeInPlace";
  detail::requireShape(rows, cols, FUNCTION);
  return gpuopt::explainTransposeInPlace(detail::denseView(data, rows, cols, "data", FUNCTION));
}

/// \}

GPUOPT_NAMESPACE_END
