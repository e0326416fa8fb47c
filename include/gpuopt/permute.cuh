/// \file
/// Permutations of the axes of a tensor, as those of np.transpose and torch.permute, but dense in memory: any number of
/// axes up to 32, any element size and strides, with a function on the way.
///
///     gpuopt::permute(in, out, {n, h, w, c}, {0, 3, 1, 2});                       // NHWC to NCHW
///     gpuopt::permute(in, out, {n, h, w, c}, {0, 3, 1, 2}, Normalise{}, stream);  // out gets Normalise{}(element)
///     gpuopt::explainPermute(in, out, {n, h, w, c}, {0, 3, 1, 2});                // says which kernel, and why
///
///     gpuopt::TensorView<const float> part(data, {h, w, c}, {pitch, c, 1});       // strides, also negative
///     gpuopt::TensorView<float> target(out, {c, h, w});
///     gpuopt::permute(part, target, {2, 0, 1}, stream);                           // c x h x w
///     gpuopt::contiguous(part, out, stream);                                      // a dense copy of a view
///
///     const gpuopt::PermutePlan<float> plan({n, h, w, c}, {0, 3, 1, 2});          // planned once,
///     plan.run(in, out, stream);                                                  // and run often
///
/// **Common to all functions.** Axis i of the output is axis axes[i] of the input: axes count from 0, the slowest, as
/// in NumPy. Tensors are in device memory, and row-major where no strides are given. Extents and strides count
/// elements. Elements are of any trivially copyable type of up to 128 bytes, at the alignment of that type. A call is
/// one kernel launch without scratch memory, which writes every element of the output once. The functions are
/// asynchronous on `stream`, never synchronise, and can be captured into a graph. If an extent is 0, nothing is
/// launched. Results are the same on every run.
///
/// **Technique and cost.** Axes of one element go, and axes that are neighbours in both tensors are merged. If a matrix
/// or a batch of dense matrices remains, it is transposed as by `transpose`. Long rows that both tensors keep are
/// copied in 16-byte words. Other permutations go through tiles in shared memory that hold runs of several axes of both
/// tensors (as in TTC, Springer, Hammond and Bientinesi 2017, and in cuTT, Hynninen and Lyakh 2017), with 16-byte
/// accesses on both sides at any alignment. A permutation moves as many bytes as a copy, and comes near its speed where
/// rows are aligned and elements have 4 bytes or more. The host plans for some microseconds. More: docs/permute.md.
///
/// **Errors.** Bad arguments throw std::invalid_argument, which names the function, the parameter and the values,
/// before anything is written: axes that are no permutation; extents that do not match or are negative; null or
/// misaligned pointers to elements; containers of too few elements; sizes beyond the address space; `in` and `out`
/// whose memory overlaps, from the first element to the last; elements of `out` that overlap. Errors of the runtime
/// throw CudaError.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/identity.cuh>
#include <gpuopt/core/tensor_view.cuh>
#include <gpuopt/device/permute/arguments.cuh>
#include <gpuopt/host/stream.cuh>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

GPUOPT_NAMESPACE_BEGIN

/// \name Permutations
/// Axis i of `out` is axis axes[i] of `in`. If a `function` is given, `out` gets function(element): a cast, a scale,
/// any functor or extended lambda for device code, with a const call operator whose result converts to the element type
/// of `out`. It is called once for each element, in any order, and does not know the index. Without one, both tensors
/// have elements of the same type.
/// \{

/// Permutes the axes of a dense tensor.
///
/// \param in a row-major tensor: a pointer, or a container or span in device memory, such as thrust::device_vector
/// \param out receives the tensor with permuted axes, row-major as well: a pointer, a container or a span
/// \param extents elements along each axis of `in`, the slowest axis first
/// \param axes each of 0 to the number of axes - 1 once: axis i of `out` is axis axes[i] of `in`
/// \param stream the stream of the launch
template <class In, class Out, class = detail::EnableDense<In, Out>>
void permute(In&& in, Out&& out, const AxisNumbers& extents, const AxisNumbers& axes, StreamRef stream = {}) {
  constexpr const char* name = "gpuopt::permute";
  const AxisNumbers permuted = detail::permutedExtents(extents, axes, name);
  const auto from = detail::denseTensor(in, extents, "in", name);
  detail::permuteViews(stream, name, detail::permutedFor(from, axes, name),
                       detail::denseTensor(out, permuted, "out", name));
}

/// Permutes the axes of a dense tensor, with a function on the way.
template <class In, class Out, class Function, class = detail::EnableDense<In, Out>,
          class = detail::EnableFunction<Function>>
void permute(In&& in, Out&& out, const AxisNumbers& extents, const AxisNumbers& axes, Function function,
             StreamRef stream = {}) {
  constexpr const char* name = "gpuopt::permute";
  const AxisNumbers permuted = detail::permutedExtents(extents, axes, name);
  const auto from = detail::denseTensor(in, extents, "in", name);
  detail::permuteViews(stream, name, detail::permutedFor(from, axes, name),
                       detail::denseTensor(out, permuted, "out", name), function);
}

/// Permutes the axes of a view into another view.
///
/// \param in of any strides: also negative ones, and 0 if all indices of an axis name the same element
/// \param out of any strides that give each index an element of its own; out.extents[i] is in.extents[axes[i]]. Memory
///     between its elements keeps its values.
/// \param axes each of 0 to the number of axes - 1 once
template <class In, class Out>
void permute(const TensorView<In>& in, const TensorView<Out>& out, const AxisNumbers& axes, StreamRef stream = {}) {
  detail::permuteViews(stream, "gpuopt::permute", detail::permutedFor(in, axes, "gpuopt::permute"), out);
}

/// Permutes the axes of a view into another view, with a function on the way.
template <class In, class Out, class Function, class = detail::EnableFunction<Function>>
void permute(const TensorView<In>& in, const TensorView<Out>& out, const AxisNumbers& axes, Function function,
             StreamRef stream = {}) {
  detail::permuteViews(stream, "gpuopt::permute", detail::permutedFor(in, axes, "gpuopt::permute"), out, function);
}

/// Permutes the axes of mdspans of cuda::std, std or Kokkos, in any layout that has strides: also column-major ones, or
/// different ones on both sides. Extents are as for views.
template <class InSpan, class OutSpan, class = detail::EnableMdspans<InSpan, OutSpan>>
void permute(const InSpan& in, const OutSpan& out, const AxisNumbers& axes, StreamRef stream = {}) {
  detail::permuteViews(stream, "gpuopt::permute", detail::permutedFor(detail::tensorOf(in), axes, "gpuopt::permute"),
                       detail::tensorOf(out));
}

/// Permutes the axes of mdspans, with a function on the way.
template <class InSpan, class OutSpan, class Function, class = detail::EnableMdspans<InSpan, OutSpan>,
          class = detail::EnableFunction<Function>>
void permute(const InSpan& in, const OutSpan& out, const AxisNumbers& axes, Function function, StreamRef stream = {}) {
  detail::permuteViews(stream, "gpuopt::permute", detail::permutedFor(detail::tensorOf(in), axes, "gpuopt::permute"),
                       detail::tensorOf(out), function);
}

/// \}

/// \name Dense copies
/// \{

/// Copies a view to a dense row-major tensor of the same extents and order of axes, as in PyTorch.
/// Always copies, also a view that is dense already.
///
/// \param in a view of any strides: also negative ones, and 0
/// \param out a pointer, or a container or span in device memory, for as many elements
template <class In, class Out, class = detail::EnableDense<Out>>
void contiguous(const TensorView<In>& in, Out&& out, StreamRef stream = {}) {
  detail::permuteViews(stream, "gpuopt::contiguous", in,
                       detail::denseTensor(out, in.extents, "out", "gpuopt::contiguous"));
}

/// Copies a view to a dense row-major tensor of the same extents, with a `function` on the way, as in `permute`.
template <class In, class Out, class Function, class = detail::EnableDense<Out>,
          class = detail::EnableFunction<Function>>
void contiguous(const TensorView<In>& in, Out&& out, Function function, StreamRef stream = {}) {
  detail::permuteViews(stream, "gpuopt::contiguous", in,
                       detail::denseTensor(out, in.extents, "out", "gpuopt::contiguous"), function);
}

/// \}

/// \name Plans that are kept
/// \{

/// A permutation that is planned once and run often, on arrays of one shape. A call of `permute` plans anew each time.
///
///     const gpuopt::PermutePlan<float> plan({n, h, w, c}, {0, 3, 1, 2});            // NHWC to NCHW
///     plan.run(in, out, stream);
///     const gpuopt::PermutePlan<unsigned char, float, Normalise> pictures({n, h, w, c}, {0, 3, 1, 2}, Normalise{});
///     const gpuopt::PermutePlan crop(part, target, {2, 0, 1});                      // views: strides and gaps
///
/// The plan is made for the device that is current, and runs on that one and on others of its model. It owns no device
/// memory, can be copied, and several threads can run it at a time. The constructors throw std::invalid_argument for
/// shapes that `permute` would not take.
///
/// \tparam In the elements of the input, without const
/// \tparam Out the elements of the output
/// \tparam Function what is applied to each element, as for `permute`
template <class In, class Out = In, class Function = Identity>
class PermutePlan {
  static_assert(!std::is_const_v<In>, "gpuopt::PermutePlan: the type In is const: leave const out");

 public:
  /// Plans for dense tensors that begin at 16-byte boundaries, such as those of cudaMalloc.
  ///
  /// \param extents elements along each axis of the input, the slowest axis first
  /// \param axes each of 0 to the number of axes - 1 once: axis i of the output is axis axes[i] of the input
  /// \param function what is applied to each element
  explicit PermutePlan(const AxisNumbers& extents, const AxisNumbers& axes, const Function& function = Function{})
      : PermutePlan(TensorView<const In>(nullptr, extents),
                    TensorView<Out>(nullptr, detail::permutedExtents(extents, axes, "gpuopt::PermutePlan")), axes,
                    function) {}

  /// Plans for views of any strides. Of their data only the addresses modulo 16 bytes count, and null counts as 0.
  ///
  /// \param out out.extents[i] is in.extents[axes[i]]
  /// \param function what is applied to each element
  template <class T, class = std::enable_if_t<std::is_same_v<std::remove_const_t<T>, In>>>
  PermutePlan(const TensorView<T>& in, const TensorView<Out>& out, const AxisNumbers& axes,
              const Function& function = Function{})
      : kept_(detail::permutedFor(TensorView<const In>(in.data, in.extents, in.strides), axes, "gpuopt::PermutePlan"),
              out, detail::keptFunction<In, Out>(function)) {}

  /// Permutes arrays, as `permute` does: asynchronous, one kernel launch, can be captured into a graph.
  ///
  /// \param in the element whose indices are all 0: a pointer; or a container or span that begins with it
  /// \param out the same; overlaps the input nowhere
  ///
  /// Arrays that begin at other addresses modulo 16 bytes than the plan's are planned for anew, in this run alone.
  template <class InArray, class OutArray, class = detail::EnableDense<InArray, OutArray>>
  void run(InArray&& in, OutArray&& out, StreamRef stream = {}) const {
    kept_.run(stream, in, out);
  }

 private:
  using Applied = decltype(detail::keptFunction<In, Out>(std::declval<const Function&>()));
  detail::KeptPermutation<In, Out, Applied> kept_;
};

template <class In, class Out>
PermutePlan(const TensorView<In>&, const TensorView<Out>&, const AxisNumbers&)
    -> PermutePlan<std::remove_const_t<In>, Out>;

template <class In, class Out, class Function>
PermutePlan(const TensorView<In>&, const TensorView<Out>&, const AxisNumbers&, Function)
    -> PermutePlan<std::remove_const_t<In>, Out, Function>;

/// \}

/// \name Which kernel permutes, and why
/// One line about the kernel that `permute` launches for the same arguments without a function on the current device:
/// of a tile its rows, and the sectors of 32 bytes that they touch, in per cent of those that they fill; the reason;
/// and the axes that remain after merging, the slowest of `out` first, each with its extent and its strides in `in` and
/// in `out`, in words of the size that the line says. Nothing is launched, and no element is read: addresses count by
/// their alignment alone. Both tensors have elements of the same type. Errors: those of `permute`. The words may change
/// from version to version.
/// \{

/// Says in one line which kernel permutes a dense tensor, and why.
template <class In, class Out, class = detail::EnableDense<In, Out>>
[[nodiscard]] std::string explainPermute(In&& in, Out&& out, const AxisNumbers& extents, const AxisNumbers& axes) {
  const AxisNumbers permuted = detail::permutedExtents(extents, axes, "gpuopt::explainPermute");
  return detail::explainPermuteAxes(detail::denseTensor(in, extents, "in", "gpuopt::explainPermute"),
                                    detail::denseTensor(out, permuted, "out", "gpuopt::explainPermute"), axes);
}

/// Says in one line which kernel permutes these views, and why.
template <class In, class Out>
[[nodiscard]] std::string explainPermute(const TensorView<In>& in, const TensorView<Out>& out,
                                         const AxisNumbers& axes) {
  return detail::explainPermuteAxes(in, out, axes);
}

/// \}

/// The tensor of a DLPack structure, such as those of PyTorch, CuPy and JAX, as a view. Without strides it is
/// row-major. Nothing is copied, and the memory stays its owner's: keep that alive until the work on it is done.
///
/// \tparam T the type of the elements; that it is the one of dtype is checked by size alone (std::invalid_argument)
/// \param tensor a DLTensor, of any header that has one; its device is not checked
///
///     gpuopt::permute(gpuopt::tensorView<const float>(*managed->dl_tensor), target, {0, 2, 1});
template <class T, class DlTensor>
[[nodiscard]] TensorView<T> tensorView(const DlTensor& tensor) {
  detail::requireElementBits(std::size_t{tensor.dtype.bits} * tensor.dtype.lanes, sizeof(T));
  AxisNumbers extents, strides;
  for (int k = 0; k < tensor.ndim; ++k) extents.add(tensor.shape[k]);
  T* const data = reinterpret_cast<T*>(static_cast<unsigned char*>(tensor.data) + tensor.byte_offset);
  if (tensor.strides == nullptr) return TensorView<T>(data, extents);
  for (int k = 0; k < tensor.ndim; ++k) strides.add(tensor.strides[k]);
  return TensorView<T>(data, extents, strides);
}

GPUOPT_NAMESPACE_END
