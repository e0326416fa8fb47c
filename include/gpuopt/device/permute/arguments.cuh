/// \file
/// What a permutation checks before it launches anything, and the forms of tensors that it takes.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/box.cuh>
#include <gpuopt/core/call_range.cuh>
#include <gpuopt/core/callable.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/core/tensor_view.cuh>
#include <gpuopt/device/permute/launch.cuh>
#include <gpuopt/device/permute/plan.cuh>
#include <gpuopt/device/transpose/arguments.cuh>
#include <gpuopt/host/device.cuh>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// A view without its element type, and its name in messages.
struct NamedTensor {
  const void* data;
  const AxisNumbers& extents;
  const AxisNumbers& strides;
  std::size_t elementBytes;
  std::size_t alignment;
  const char* name;
};

template <class T>
NamedTensor named(const TensorView<T>& view, const char* name) {
  return {view.data, view.extents, view.strides, sizeof(T), alignof(T), name};
}

inline bool isEmpty(const NamedTensor& tensor) {
  for (std::size_t k = 0; k < tensor.extents.rank; ++k)
    if (tensor.extents[k] == 0) return true;
  return false;
}

// The bytes that a tensor spans, before the element with all indices 0 and from it on. Both are at most SIZE_LIMIT.
struct TensorSpan {
  std::size_t before = 0;
  std::size_t behind = 0;
};

inline TensorSpan spanOf(const NamedTensor& tensor) {
  TensorSpan span{0, tensor.elementBytes};
  for (std::size_t k = 0; k < tensor.extents.rank; ++k) {
    const std::ptrdiff_t stride = tensor.strides[k];
    const std::size_t step = stride < 0 ? 0 - static_cast<std::size_t>(stride) : static_cast<std::size_t>(stride);
    const std::size_t reach =
        cappedProduct(cappedProduct(static_cast<std::size_t>(tensor.extents[k]) - 1, step), tensor.elementBytes);
    std::size_t& side = stride < 0 ? span.before : span.behind;
    side = cappedSum(side, reach);
  }
  return span;
}

inline void requireExtents(const NamedTensor& tensor, const char* function) {
  requireRank(tensor.extents, tensor.name, function);
  if (tensor.strides.rank != tensor.extents.rank)
    throwInvalid(
        {function, ": ", tensor.name, " has ", tensor.extents.rank, " extents, but ", tensor.strides.rank, " strides"});
  for (std::size_t k = 0; k < tensor.extents.rank; ++k)
    requireSize(static_cast<std::size_t>(tensor.extents[k]), {tensor.name, ".extents[", k, "]"}, function);
}

// Of a tensor that is not empty.
inline void requireSpan(const NamedTensor& tensor, const char* function) {
  const TensorSpan span = spanOf(tensor);
  if (cappedSum(span.before, span.behind) > PTRDIFF_MAX)
    throwInvalid({function, ": ", tensor.name, " is too large: extents ", inWords(tensor.extents), ", strides ",
                  inWords(tensor.strides), ", ", tensor.elementBytes, " bytes an element"});
}

// Of a tensor that is not empty.
inline void requireMemory(const NamedTensor& tensor, const char* function) {
  if (tensor.data == nullptr)
    throwInvalid({function, ": ", tensor.name, " is null, but its extents are ", inWords(tensor.extents)});
  const std::uintptr_t misaligned = reinterpret_cast<std::uintptr_t>(tensor.data) % tensor.alignment;
  if (misaligned != 0)
    throwInvalid(
        {function, ": ", tensor.name, " is misaligned: its address modulo ", tensor.alignment, " is ", misaligned});
}

inline void requireApart(const NamedTensor& in, const NamedTensor& out, const char* function) {
  const auto begin = [](const NamedTensor& t) { return reinterpret_cast<std::uintptr_t>(t.data) - spanOf(t).before; };
  const auto end = [](const NamedTensor& t) { return reinterpret_cast<std::uintptr_t>(t.data) + spanOf(t).behind; };
  if (begin(in) < end(out) && begin(out) < end(in))
    throwInvalid({function, ": in and out overlap: in spans ", end(in) - begin(in), " bytes, out ",
                  end(out) - begin(out), ", and out begins ", begin(out) - begin(in), " bytes after in"});
}

// No two indices name the same element: each axis steps over everything that the axes of smaller strides span. (Tensors
// whose axes interleave without sharing an element are refused, too.)
inline void requireDistinct(const NamedTensor& out, const char* function) {
  std::size_t order[AxisNumbers::CAPACITY];
  std::size_t rank = 0;
  for (std::size_t k = 0; k < out.extents.rank; ++k) {
    if (out.extents[k] == 1) continue;
    std::size_t i = rank++;
    for (; i > 0 && magnitude(out.strides[order[i - 1]]) > magnitude(out.strides[k]); --i) order[i] = order[i - 1];
    order[i] = k;
  }
  std::size_t span = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    const auto stride = static_cast<std::size_t>(magnitude(out.strides[order[i]]));
    if (stride <= span)
      throwInvalid(
          {function, ": elements of out overlap: extents ", inWords(out.extents), ", strides ", inWords(out.strides)});
    span += stride * static_cast<std::size_t>(out.extents[order[i]] - 1);
  }
}

// What can be checked without the arrays.
inline void requireShapes(const NamedTensor& in, const NamedTensor& out, const char* function) {
  requireExtents(in, function);
  requireExtents(out, function);
  bool areEqual = in.extents.rank == out.extents.rank;
  for (std::size_t k = 0; areEqual && k < in.extents.rank; ++k) areEqual = in.extents[k] == out.extents[k];
  if (!areEqual)
    throwInvalid(
        {function, ": out must have the extents ", inWords(in.extents), ", but it has ", inWords(out.extents)});
  if (isEmpty(in)) return;
  requireSpan(in, function);
  requireSpan(out, function);
  requireDistinct(out, function);
}

// The arrays of tensors whose shapes have been checked.
inline void requireArrays(const NamedTensor& in, const NamedTensor& out, const char* function) {
  if (isEmpty(in)) return;
  requireMemory(in, function);
  requireMemory(out, function);
  requireApart(in, out, function);
}

inline void requireOnDevice(const NamedTensor& tensor, const char* function) {
  if (isEmpty(tensor)) return;
  const TensorSpan span = spanOf(tensor);
  requireAccess(static_cast<const unsigned char*>(tensor.data) - span.before, span.before + span.behind, tensor.name,
                function);
}

template <class In, class Out>
constexpr bool requirePermutableTypes() {
  static_assert(!std::is_const_v<Out>, "gpuopt::permute: the elements of out are const");
  static_assert(std::is_trivially_copyable_v<In> && std::is_trivially_copyable_v<Out>,
                "gpuopt: only trivially copyable elements can be permuted");
  static_assert(sizeof(In) <= 128 && sizeof(Out) <= 128,
                "gpuopt: elements of more than 128 bytes cannot be permuted: add an axis for their parts");
  return !std::is_const_v<Out> && std::is_trivially_copyable_v<In> && std::is_trivially_copyable_v<Out>;
}

// The numbers of a permutation of views of the same extents.
template <class In, class Out>
PermuteRequest permuteRequest(const TensorView<In>& in, const TensorView<Out>& out, bool onlyMoves) {
  PermuteRequest request{};
  request.rank = static_cast<unsigned>(in.rank());
  for (unsigned k = 0; k < request.rank; ++k)
    request.axis[k] = {static_cast<std::size_t>(in.extents[k]), in.strides[k], out.strides[k]};
  request.in = reinterpret_cast<std::uintptr_t>(in.data);
  request.out = reinterpret_cast<std::uintptr_t>(out.data);
  request.inBytes = sizeof(In);
  request.outBytes = sizeof(Out);
  request.outAlign = alignof(Out);
  request.onlyMoves = onlyMoves;
  return request;
}

inline PermuteDevice currentPermuteDevice() {
  const int device = currentDevice();
  return {sharedLimit(device), static_cast<unsigned>(multiprocessorCount(device))};
}

inline PermuteKernelPlan permutePlan(const PermuteRequest& request, const PermuteTuning& tuning = {}) {
  PermuteKernelPlan plan;
  plan.request = request;
  if (request.elements() != 0) planPermute(plan, tuning, currentPermuteDevice());
  return plan;
}

template <class In, class Out>
PermuteKernelPlan permutePlan(const TensorView<In>& in, const TensorView<Out>& out, bool onlyMoves,
                              const PermuteTuning& tuning = {}) {
  return permutePlan(permuteRequest(in, out, onlyMoves), tuning);
}

template <class In, class Out>
constexpr bool requireSameElements() {
  constexpr bool IS_SAME = std::is_same_v<std::remove_const_t<In>, std::remove_const_t<Out>>;
  static_assert(IS_SAME, "gpuopt::permute: in and out have elements of different types: pass a function");
  return IS_SAME;
}

// Without a function, elements are of one type; with one, it takes and returns them.
template <class In, class Out, class... F>
constexpr bool requireFittingElements() {
  if constexpr (sizeof...(F) == 0)
    return requireSameElements<In, Out>();
  else
    return requireFunction<In, Out, F...>();
}

// Whether (in, out) or (in, out, function) are of types that can be permuted.
template <class In, class Out, class... F>
constexpr bool requirePermutable() {
  if constexpr (requireFittingElements<In, Out, F...>())
    return requirePermutableTypes<In, Out>();
  else
    return false;
}

// out(i...) = in(i...), or function(in(i...)), for the caller of that name.
template <class In, class Out, class... F>
void permuteViews(cudaStream_t stream, const char* name, const TensorView<In>& in, const TensorView<Out>& out,
                  const F&... function) {
  [[maybe_unused]] const CallRange range(name);
  using Element = std::remove_const_t<In>;
  if constexpr (requirePermutable<Element, Out, F...>()) {
    requireShapes(named(in, "in"), named(out, "out"), name);
    requireArrays(named(in, "in"), named(out, "out"), name);
    requireOnDevice(named(in, "in"), name);
    requireOnDevice(named(out, "out"), name);
    const PermuteKernelPlan plan = permutePlan(in, out, sizeof...(F) == 0);
    const auto applied = appliedTo<Out>(function...);
    if (plan.algorithm == PermuteAlgorithm::transpose) {
      const auto problem = permuteMatrixProblem<Boxed<Element>, Boxed<Out>>(plan, applied);
      return launchTranspose(problem, planOf(problem), stream);
    }
    launchPermute<Boxed<Element>, Boxed<Out>>(plan, applied, stream);
  }
}

// The dense tensor at a pointer or in a container.
template <class A>
auto denseTensor(A& array, const AxisNumbers& extents, const char* name, const char* function) {
  if constexpr (isRange<A>) {
    std::size_t needed = 1;
    for (std::size_t k = 0; k < extents.rank && k < AxisNumbers::CAPACITY; ++k)
      needed = cappedProduct(needed, static_cast<std::size_t>(extents[k]));
    if (needed <= PTRDIFF_MAX) requireSize(array, needed, name, function);
    return TensorView{dataOf(array), extents};
  } else {
    return TensorView{unwrap(array), extents};
  }
}

// The tensor of an mdspan.
template <class M>
TensorView<typename M::element_type> tensorOf(const M& span) {
  static_assert(M::rank() <= AxisNumbers::CAPACITY, "gpuopt: an mdspan must have at most 32 extents");
  TensorView<typename M::element_type> view;
  if constexpr (requireStrided<M>() && M::rank() <= AxisNumbers::CAPACITY) {
    view.data = firstElement(span);
    for (std::size_t k = 0; k < M::rank(); ++k) {
      view.extents.add(static_cast<std::ptrdiff_t>(span.extent(k)));
      if constexpr (hasOffset<M>)
        view.strides.add(static_cast<std::ptrdiff_t>(span.mapping().stride(k)));
      else
        view.strides.add(static_cast<std::ptrdiff_t>(span.stride(k)));
    }
  }
  return view;
}

// The elements of a DLPack structure are as large as those of the view.
inline void requireElementBits(std::size_t bits, std::size_t bytes) {
  if (bits != 8 * bytes)
    throwInvalid({"gpuopt::tensorView: the elements of the tensor have ", bits, " bits, but T has ", 8 * bytes});
}

inline AxisNumbers permutedExtents(const AxisNumbers& extents, const AxisNumbers& order, const char* function) {
  requireRank(extents, "in", function);
  requireOrder(order, extents.rank, function);
  AxisNumbers permuted = extents;
  for (std::size_t i = 0; i < extents.rank; ++i) permuted.value[i] = extents[static_cast<std::size_t>(order[i])];
  return permuted;
}

// A plan with the shapes that it was made for. Arrays come with each run: those that begin at the plan's addresses,
// modulo the 16 bytes of the widest access, need no other plan.
template <class In, class Out, class F>
class KeptPermutation {
 public:
  // The tensors' data say at which addresses arrays will begin; null counts as aligned.
  KeptPermutation(const TensorView<const In>& in, const TensorView<Out>& out, const F& function)
      : in_(in), out_(out), function_(function) {
    requireShapes(named(in, "in"), named(out, "out"), NAME);
    plan_ = planFor(misalignmentOf(in.data), misalignmentOf(out.data));
    inMisalignment_ = misalignmentOf(in.data);
    outMisalignment_ = misalignmentOf(out.data);
  }

  // `in` and `out`: pointers to the elements with all indices 0, or containers that begin with them.
  template <class InArray, class OutArray>
  void run(cudaStream_t stream, InArray& in, OutArray& out) const {
    [[maybe_unused]] const CallRange range(RUN);
    TensorView<const In> from = in_;
    TensorView<Out> to = out_;
    from.data = firstElementOf(in, in_, "in");
    to.data = firstElementOf(out, out_, "out");
    requireArrays(named(from, "in"), named(to, "out"), RUN);
    requireOnDevice(named(from, "in"), RUN);
    requireOnDevice(named(to, "out"), RUN);
    const std::uintptr_t inShift = misalignmentOf(from.data), outShift = misalignmentOf(to.data);
    const bool isPlanned = inShift == inMisalignment_ && outShift == outMisalignment_;
    PermuteKernelPlan plan = isPlanned ? plan_ : planFor(inShift, outShift);
    plan.request.in += reinterpret_cast<std::uintptr_t>(from.data) - inShift;
    plan.request.out += reinterpret_cast<std::uintptr_t>(to.data) - outShift;
    if (plan.algorithm == PermuteAlgorithm::transpose) {
      const auto problem = permuteMatrixProblem<Boxed<In>, Boxed<Out>>(plan, function_);
      return launchTranspose(problem, planOf(problem), stream);
    }
    launchPermute<Boxed<In>, Boxed<Out>>(plan, function_, stream);
  }

 private:
  static constexpr const char* NAME = "gpuopt::PermutePlan";
  static constexpr const char* RUN = "gpuopt::PermutePlan::run";

  static std::uintptr_t misalignmentOf(const void* data) { return reinterpret_cast<std::uintptr_t>(data) % 16; }

  template <class A, class T>
  static T* firstElementOf(A& array, const TensorView<T>& shape, const char* name) {
    if constexpr (isRange<A>) {
      const NamedTensor tensor = named(shape, name);
      requireSize(array, isEmpty(tensor) ? 0 : spanOf(tensor).behind / sizeof(T), name, RUN);
      return dataOf(array);
    } else {
      return unwrap(array);
    }
  }

  // For arrays at these addresses.
  PermuteKernelPlan planFor(std::uintptr_t in, std::uintptr_t out) const {
    PermuteRequest request = permuteRequest(in_, out_, std::is_same_v<F, Identity>);
    request.in = in;
    request.out = out;
    return permutePlan(request);
  }

  TensorView<const In> in_;
  TensorView<Out> out_;
  F function_;
  PermuteKernelPlan plan_;
  std::uintptr_t inMisalignment_;
  std::uintptr_t outMisalignment_;
};

// What a plan applies to each element.
template <class In, class Out, class Function>
auto keptFunction(const Function& function) {
  if constexpr (std::is_same_v<Function, Identity>) {
    requireSameElements<In, Out>();
    return function;
  } else {
    requireFunction<In, Out, Function>();
    return Converting<Out, Function>{function};
  }
}

// The input with its axes in the order of the output's, for the caller of that name.
template <class T>
TensorView<T> permutedFor(const TensorView<T>& in, const AxisNumbers& axes, const char* function) {
  requireExtents(named(in, "in"), function);
  requireOrder(axes, in.rank(), function);
  return in.permuted(axes);
}

// Addresses alone are looked at: the tensors may be anywhere, or nowhere.
template <class In, class Out>
std::string explainPermuteAxes(const TensorView<In>& in, const TensorView<Out>& out, const AxisNumbers& axes) {
  using Element = Boxed<std::remove_const_t<In>>;
  if constexpr (requireSameElements<In, Out>() && requirePermutableTypes<std::remove_const_t<In>, Out>()) {
    const TensorView<In> from = permutedFor(in, axes, "gpuopt::explainPermute");
    requireShapes(named(from, "in"), named(out, "out"), "gpuopt::explainPermute");
    requireArrays(named(from, "in"), named(out, "out"), "gpuopt::explainPermute");
    const PermuteKernelPlan plan = permutePlan(from, out, true);
    if (plan.algorithm != PermuteAlgorithm::transpose) return planInWords(plan);
    const auto problem = permuteMatrixProblem<Element, Element>(plan, Identity{});
    return message({planInWords(plan), "; ", planInWords(planOf(problem))});
  } else {
    return {};
  }
}

GPUOPT_DETAIL_END
