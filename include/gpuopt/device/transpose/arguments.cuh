/// \file
/// What a transposition checks before it launches anything, and the forms of matrices that it takes.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/box.cuh>
#include <gpuopt/core/call_range.cuh>
#include <gpuopt/core/callable.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/core/input.cuh>
#include <gpuopt/core/matrix_view.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/device/transpose/launch.cuh>
#include <gpuopt/device/transpose/plan.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/host/stream.cuh>

#include <cstddef>
#include <string>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

template <class T>
constexpr bool requireMovable() {
  static_assert(std::is_trivially_copyable_v<T>, "gpuopt: only trivially copyable elements can be transposed");
  static_assert(sizeof(T) <= 128, "gpuopt: elements of more than 128 bytes cannot be transposed");
  return std::is_trivially_copyable_v<T> && sizeof(T) <= 128;
}

template <class In, class Out>
constexpr bool requireSame() {
  constexpr bool IS_SAME = std::is_same_v<std::remove_const_t<In>, std::remove_const_t<Out>>;
  static_assert(IS_SAME, "gpuopt::transpose: in and out have elements of different types: pass a function");
  return IS_SAME;
}

template <class In, class Out, class F>
constexpr bool requireFunction() {
  if constexpr (!requireDeviceCode<F>()) {
    return false;
  } else if constexpr (isDeviceLambda<F>) {
    return true;
  } else {
    constexpr bool TAKES = returns<Out, const F&, const In&>(), IS_MUTABLE = !TAKES && returns<Out, F&, const In&>();
    static_assert(!IS_MUTABLE, "gpuopt::transpose: the call operator of the function must be const");
    static_assert(TAKES || IS_MUTABLE,
                  "gpuopt::transpose: the function must take an element of in and return one of out");
    return TAKES;
  }
}

// Without a function, elements are of one type; with one, it takes and returns them.
template <class In, class Out, class... F>
constexpr bool requireFitting() {
  if constexpr (sizeof...(F) == 0)
    return requireSame<In, Out>();
  else
    return requireFunction<In, Out, F...>();
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

// What kernels apply to each element: nothing,
template <class Out>
Identity appliedTo() {
  return {};
}
// or the user's function.
template <class Out, class F>
Converting<Out, F> appliedTo(const F& function) {
  return {function};
}

// Whether (in, out) or (in, out, function) are of types that can be transposed.
template <class In, class Out, class... F>
constexpr bool requireTransposableTypes() {
  if constexpr (requireFitting<std::remove_const_t<In>, std::remove_const_t<Out>, F...>()) {
    static_assert(!std::is_const_v<Out>, "gpuopt::transpose: the elements of out are const: in comes before out");
    return !std::is_const_v<Out> && requireMovable<std::remove_const_t<In>>() && requireMovable<Out>();
  } else {
    return false;
  }
}

// The problem of these arguments, which are checked.
template <class In, class Out, class... F>
auto transposeProblem(const MatrixView<In>& in, const MatrixView<Out>& out, const F&... function) {
  requireTransposable(named(in, "in"), named(out, "out"), "gpuopt::transpose");
  const auto applied = appliedTo<Out>(function...);
  const auto from = withoutUnused(in);
  const auto to = withoutUnused(out);
  return TransposeProblem<Boxed<std::remove_const_t<In>>, Boxed<Out>, std::decay_t<decltype(applied)>>{
      boxes(from.data), boxes(to.data),   from.rows,      from.cols, from.ld, to.ld,
      from.batch,       from.batchStride, to.batchStride, applied};
}

// (in, out) or (in, out, function).
template <class In, class Out, class... F>
void transposeViews(cudaStream_t stream, const MatrixView<In>& in, const MatrixView<Out>& out, const F&... function) {
  [[maybe_unused]] const CallRange range("gpuopt::transpose");
  if constexpr (requireTransposableTypes<In, Out, F...>()) {
    const auto problem = transposeProblem(in, out, function...);
    requireOnDevice(named(in, "in"), "gpuopt::transpose");
    requireOnDevice(named(out, "out"), "gpuopt::transpose");
    launchTranspose(problem, planOf(problem), stream);
  }
}

// Addresses alone are looked at: the matrices may be anywhere, or nowhere.
template <class In, class Out, class... F>
std::string explainViews(const MatrixView<In>& in, const MatrixView<Out>& out, const F&... function) {
  if constexpr (requireTransposableTypes<In, Out, F...>())
    return planInWords(planOf(transposeProblem(in, out, function...)));
  else
    return {};
}

GPUOPT_DETAIL_END
