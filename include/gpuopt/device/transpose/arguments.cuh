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
#include <gpuopt/device/transpose/explain.cuh>
#include <gpuopt/device/transpose/launch.cuh>
#include <gpuopt/device/transpose/plan.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/host/stream.cuh>

#include <cstddef>
#include <string>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

template <class... Ms>
using EnableMdspans = std::enable_if_t<(isMdspan<Ms> && ...)>;

// For pointers, iterators over memory, containers and spans.
template <class... As>
using EnableDense = std::enable_if_t<((isRange<As> || isMemory<std::decay_t<As>>)&&...)>;

// The dense matrix at a pointer or in a container, after requireShape. Of sizes that overflow, what takes the view says
// what is wrong.
template <class A>
auto denseView(A& array, std::size_t rows, std::size_t cols, const char* name, const char* function) {
  if constexpr (isRange<A>) {
    const std::size_t needed = cappedProduct(rows, cols);
    if (needed != SIZE_LIMIT) requireSize(array, needed, name, function);
    return MatrixView{dataOf(array), rows, cols};
  } else {
    return MatrixView{Unwrap<std::decay_t<A>>::pointer(array), rows, cols};
  }
}

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

// Passes the problem to use(problem) if its types and arguments are right.
template <class In, class Out, class F, class Use>
void withChecked(const MatrixView<In>& in, const MatrixView<Out>& out, const F& function, const Use& use) {
  using Element = std::remove_const_t<In>;
  static_assert(!std::is_const_v<Out>, "gpuopt::transpose: the elements of out are const: in comes before out");
  if constexpr (!std::is_const_v<Out> && requireMovable<Element>() && requireMovable<Out>()) {
    requireTransposable(named(in, "in"), named(out, "out"), "gpuopt::transpose");
    const auto from = withoutUnused(in);
    const auto to = withoutUnused(out);
    use(TransposeProblem<Boxed<Element>, Boxed<Out>, F>{boxes(from.data), boxes(to.data), from.rows, from.cols, from.ld,
                                                        to.ld, from.batch, from.batchStride, to.batchStride, function});
  }
}

template <class In, class Out, class Use>
void withProblem(const MatrixView<In>& in, const MatrixView<Out>& out, const Use& use) {
  if constexpr (requireSame<In, Out>()) withChecked(in, out, Identity{}, use);
}

template <class In, class Out, class F, class Use>
void withProblem(const MatrixView<In>& in, const MatrixView<Out>& out, const F& function, const Use& use) {
  if constexpr (requireFunction<std::remove_const_t<In>, std::remove_const_t<Out>, F>())
    withChecked(in, out, Converting<Out, F>{function}, use);
}

// (in, out) or (in, out, function).
template <class In, class Out, class... F>
void transposeViews(cudaStream_t stream, const MatrixView<In>& in, const MatrixView<Out>& out, const F&... function) {
  [[maybe_unused]] const CallRange range("gpuopt::transpose");
  withProblem(in, out, function..., [&](const auto& problem) {
    requireOnDevice(named(in, "in"), "gpuopt::transpose");
    requireOnDevice(named(out, "out"), "gpuopt::transpose");
    launchTranspose(problem, stream);
  });
}

// Addresses alone are looked at: the matrices may be anywhere, or nowhere.
template <class... Args>
std::string explainViews(const Args&... args) {
  std::string text;
  withProblem(args..., [&text](const auto& problem) { text = planInWords(planOf(problem)); });
  return text;
}

GPUOPT_DETAIL_END
