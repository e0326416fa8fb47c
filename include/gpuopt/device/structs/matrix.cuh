/// \file
/// forEach and transform of matrices: functions of an element, its row and its column.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/matrix_view.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/device/structs/for_each.cuh>
#include <gpuopt/device/structs/plan.cuh>
#include <gpuopt/device/structs/transform.cuh>

#include <cstddef>
#include <new>
#include <string>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// Whether f(element) or f(element, row, column) returns a Result, as far as the host compiler can tell.
template <class Result, class F, class T>
constexpr bool takesElement() {
  return isDeviceLambda<F> || returns<Result, const F&, T&>() ||
         returns<Result, const F&, T&, std::size_t, std::size_t>();
}

// Calls f with the element if it takes that alone, otherwise with row and column, too.
template <class Result, class F>
struct AtElement {
  F f;

  template <class T>
  __device__ Result operator()(T& element, std::size_t row, std::size_t col) const {
    if constexpr (isCallable<const F&, T&>) {
      return static_cast<Result>(f(element));
    } else {
      static_assert(isCallable<const F&, T&, std::size_t, std::size_t>,
                    "gpuopt: the function must take an element, alone or with its row and column");
      return static_cast<Result>(f(element, row, col));
    }
  }
};

// The same for a function that changes the element.
template <class T, class F>
struct ChangedAt {
  AtElement<void, F> f;

  __device__ T operator()(const T& before, std::size_t row, std::size_t col) const {
    T element = before;
    f(element, row, col);
    return element;
  }
};

// The row of element i of a matrix without gaps.
struct RowOf {
  std::size_t cols;
  Divisor divisor;  // for indices below 2^31

  explicit RowOf(std::size_t columns)
      : cols(columns), divisor(columns < DIVISIBLE ? static_cast<unsigned>(columns) : 1) {}

  __device__ std::size_t operator()(std::size_t i) const {
    return i < DIVISIBLE && cols < DIVISIBLE ? divisor.divide(static_cast<unsigned>(i)) : i / cols;
  }

 private:
  static constexpr std::size_t DIVISIBLE = std::size_t{1} << 31;
};

// A function of element, row and column as one of element and index.
template <class F>
struct OnMatrix {
  F f;
  RowOf rowOf;

  template <class T>
  __device__ decltype(auto) operator()(T& element, std::size_t i) const {
    const std::size_t row = rowOf(i);
    return f(element, row, i - row * rowOf.cols);
  }
};

// A matrix with gaps between its rows.
template <class T>
struct PitchedRows {
  T* data;
  std::size_t ld;

  __device__ T* at(std::size_t row, std::size_t col) const { return data + row * ld + col; }
};

// Each thread has elements that are a block's threads apart. Without `out`, they are only read.
template <class In, class Out, class F>
GPUOPT_KERNEL void __launch_bounds__(pitchedBlock)
    pitchedKernel(const PitchedRows<const In> in, const PitchedRows<Out> out, const std::size_t n, const RowOf rowOf,
                  const F f) {
  waitForPreviousKernel();
  const std::size_t first = std::size_t{blockIdx.x} * pitchedBlock * pitchedItems + threadIdx.x;
  StructItems<In, pitchedItems> elements;
#pragma unroll
  for (unsigned k = 0; k < pitchedItems; ++k) {
    const std::size_t i = first + k * pitchedBlock, row = rowOf(i);
    if (i < n)
      readWords<sizeof(In), minAlignment<In>>(reinterpret_cast<const unsigned char*>(in.at(row, i - row * rowOf.cols)),
                                              elements.values + k);
  }
#pragma unroll
  for (unsigned k = 0; k < pitchedItems; ++k) {
    const std::size_t i = first + k * pitchedBlock, row = rowOf(i), col = i - row * rowOf.cols;
    const In& element = elements.values[k];
    if (i >= n) continue;
    if constexpr (std::is_void_v<Out>) {
      f(element, row, col);
    } else {
      const Out result = f(element, row, col);
      writeWords<sizeof(Out), minAlignment<Out>>(reinterpret_cast<unsigned char*>(out.at(row, col)), &result);
    }
  }
}

template <class In, class Out, class F>
GPUOPT_HIDDEN void launchPitched(const StructsMatrixPlan& plan, const MatrixView<In>& in, const PitchedRows<Out>& out,
                                 const F& f, const char* function, cudaStream_t stream) {
  using Read = std::remove_const_t<In>;
  launch(pitchedKernel<Read, Out, F>, gridConfig(pitchedBlock, plan.blocks, stream, function),
         PitchedRows<const Read>{in.data, in.ld}, out, in.rows * in.cols, RowOf(in.cols), f);
}

// A matrix that is changed, or only read if its elements are const.
template <class T>
StructsMatrixPlan planForEach(const MatrixView<T>& data) {
  return planStructsMatrix(
      {data.rows, data.cols, data.ld, data.ld, sizeof(T), std::is_const_v<T> ? std::size_t{0} : sizeof(T)});
}
template <class In, class Out>
StructsMatrixPlan planTransform(const MatrixView<In>& in, const MatrixView<Out>& out) {
  return planStructsMatrix({in.rows, in.cols, in.ld, out.ld, sizeof(In), sizeof(Out)});
}

// One matrix for the device, checked.
template <class T>
void requireElements(const MatrixView<T>& view, const char* name, const char* function) {
  const NamedView matrix = named(view, name);
  requireSizes(matrix, function);
  if (view.batch != 1) throwInvalid({function, ": ", name, ".batch is ", view.batch, ": pass one matrix at a time"});
  if (isEmpty(view)) return;
  requireMemory(matrix, function);
  requireAddress(namedArray(view.data, 1, name), function);
}

template <class T, class F>
void forEachElement(const MatrixView<T>& data, const F& f, const char* function, cudaStream_t stream) {
  [[maybe_unused]] const CallRange range(function);
  using Element = std::remove_const_t<T>;
  if constexpr (requireStruct<Element>()) {
    requireElements(data, "data", function);
    const StructsMatrixPlan plan = planForEach(data);
    if (plan.algorithm == StructsMatrixAlgorithm::nothing) return;
    const AtElement<void, F> at{f};
    if (plan.algorithm == StructsMatrixAlgorithm::array)
      return forEachChecked(data.data, data.rows * data.cols, OnMatrix<AtElement<void, F>>{at, RowOf(data.cols)},
                            function, stream);
    if constexpr (std::is_const_v<T>)
      launchPitched(plan, data, PitchedRows<void>{}, at, function, stream);
    else
      launchPitched(plan, data, PitchedRows<T>{data.data, data.ld}, ChangedAt<T, F>{at}, function, stream);
  }
}

// The output is the input, or overlaps it nowhere.
template <class In, class Out>
void requireElementsApart(const MatrixView<In>& in, const MatrixView<Out>& out, const char* function) {
  const NamedView read = named(in, "in"), written = named(out, "out");
  const bool isInPlace = std::is_same_v<std::remove_const_t<In>, Out> && read.data == written.data && in.ld == out.ld;
  if (!isInPlace && viewsOverlap(read, written))
    throwInvalid({function, ": in and out overlap: ", overlapOf(read, written)});
}

template <class In, class Out>
void requireElementsOf(const MatrixView<In>& in, const MatrixView<Out>& out, const char* function) {
  requireElements(in, "in", function);
  requireElements(out, "out", function);
  if (in.rows != out.rows || in.cols != out.cols)
    throwInvalid({function, ": in is ", shapeOf(named(in, "in")), ", but out is ", shapeOf(named(out, "out"))});
  if (!isEmpty(in)) requireElementsApart(in, out, function);
}

template <class In, class Out, class F>
void transformElements(const MatrixView<In>& in, const MatrixView<Out>& out, const F& f, const char* function,
                       cudaStream_t stream) {
  [[maybe_unused]] const CallRange range(function);
  if constexpr (requireStruct<std::remove_const_t<In>>() && requireStruct<Out>()) {
    requireElementsOf(in, out, function);
    const StructsMatrixPlan plan = planTransform(in, out);
    if (plan.algorithm == StructsMatrixAlgorithm::nothing) return;
    const AtElement<Out, F> at{f};
    if (plan.algorithm == StructsMatrixAlgorithm::array)
      return transformChecked(in.data, in.rows * in.cols, out.data, OnMatrix<AtElement<Out, F>>{at, RowOf(in.cols)},
                              function, stream);
    launchPitched(plan, in, PitchedRows<Out>{out.data, out.ld}, at, function, stream);
  }
}

// How the calls access their matrices, in words.
template <class T>
std::string explainForEachElement(const MatrixView<T>& data, const char* function) {
  requireElements(data, "data", function);
  const StructsMatrixPlan plan = planForEach(data);
  if (plan.algorithm != StructsMatrixAlgorithm::array) return planInWords(plan);
  return explainForEach(data.data, data.rows * data.cols, function);
}
template <class In, class Out>
std::string explainTransformElements(const MatrixView<In>& in, const MatrixView<Out>& out, const char* function) {
  requireElementsOf(in, out, function);
  const StructsMatrixPlan plan = planTransform(in, out);
  if (plan.algorithm != StructsMatrixAlgorithm::array) return planInWords(plan);
  return explainTransform(in.data, in.rows * in.cols, out.data, function);
}

GPUOPT_DETAIL_END
