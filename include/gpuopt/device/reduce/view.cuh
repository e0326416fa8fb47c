/// \file
/// Views: inputs of which each thread group reads its own range, such as a row or a segment.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/matrix_view.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/reduce/output.cuh>
#include <gpuopt/device/reduce/plan.cuh>
#include <gpuopt/device/reduce/reducer.cuh>
#include <gpuopt/device/reduce/steps.cuh>
#include <gpuopt/warp/reduce.cuh>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// A view hands out a source (source.cuh) for any range of the input, with a function f on the way. The steps of a
// source of vectors begin at a boundary, so each range has a head and a tail of its own that belong to no step:
//
//     a row      |head|  step  |  step  |  step  |tail|
//     boundary        ^        ^        ^        ^
//
//   Iterator, Element, Source
//   range<BOUNDARY>(first, count)   the source of [first, first + count), whose steps begin at a boundary of
//                                   BOUNDARY bytes
//   steps()                         the source whose steps begin at element 0, for matrices of aligned rows
//   flat(count)                     the source of the first `count` elements
//   stepsFromBoundary()             the source whose steps begin at the first 16-byte boundary
//   elementwise()                   the same view, element by element
//   plain()                         the same view without the function
//   hasAlignedRows(matrix)          whether all rows consist of full steps

// Index of the first element on a boundary of BOUNDARY bytes; of 16 bytes if sizeof(T) is no power of two.
template <std::size_t BOUNDARY, class T>
__device__ inline std::size_t headOf(const T* data) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  if constexpr (isPowerOfTwo<static_cast<int>(sizeof(T))>) {
    return (0 - address) % BOUNDARY / sizeof(T);
  } else {
    std::size_t head = 0;
    while ((address + head * sizeof(T)) % 16 != 0) ++head;
    return head;
  }
}

// Any iterator that the device can index, element by element.
template <class It, class F>
struct IteratorView {
  using Iterator = It;
  using Element = typename std::iterator_traits<It>::value_type;
  using Source = IteratorSource<It, F>;

  It in;
  F f;

  template <std::size_t>
  __host__ __device__ Source range(std::size_t first, std::size_t) const {
    return {in + static_cast<typename std::iterator_traits<It>::difference_type>(first), f};
  }

  __device__ IteratorView<It, Identity> plain() const { return {in, {}}; }
  Source steps() const { return {in, f}; }
  Source flat(std::size_t) const { return steps(); }
  Source stepsFromBoundary() const { return steps(); }
  IteratorView elementwise() const { return *this; }
  bool hasAlignedRows(const MatrixShape&) const { return true; }
};

// An array, read by vectors.
template <class T, class F>
struct ArrayView {
  using Iterator = const T*;
  using Element = T;
  using Source = ArraySource<T, F, true>;

  const T* data;
  F f;

  template <std::size_t BOUNDARY>
  __device__ Source range(std::size_t first, std::size_t count) const {
    const T* begin = data + first;
    const std::size_t reached = headOf<BOUNDARY>(begin);
    const std::size_t head = reached < count ? reached : count;
    return {begin, begin + head, head, f};
  }

  __device__ ArrayView<T, Identity> plain() const { return {data, {}}; }
  Source steps() const { return {data, data, 0, f}; }

  Source flat(std::size_t count) const {
    const std::size_t head = headElements(data, count);
    return {data, data + head, head, f};
  }
  Source stepsFromBoundary() const {
    const std::size_t head = elementsToBoundary(data, 16);
    return {data, data + head, head, f};
  }
  IteratorView<const T*, F> elementwise() const { return {data, f}; }
  bool hasAlignedRows(const MatrixShape& matrix) const {
    return onVectorBoundary(data) && matrix.cols % Source::STEP == 0 && matrix.ld % Source::STEP == 0;
  }
};

// The best view of an input.
template <class It, class F>
auto viewOf(It iterator, const F& f) {
  const auto in = elementsOf(iterator);
  const auto elementFunction = functionOf<It>(f);
  using Function = std::decay_t<decltype(elementFunction)>;
  using Unwrapped = std::decay_t<decltype(in)>;
  using T = typename std::iterator_traits<Unwrapped>::value_type;
  if constexpr (std::is_pointer_v<Unwrapped> && readsVectors<T> && alwaysAligns<T>)
    return ArrayView<T, Function>{in, elementFunction};
  else
    return IteratorView<Unwrapped, Function>{in, elementFunction};
}

// An input matrix and an output for `results` results.
template <class It, class Out>
void requireMatrix(It in, const MatrixShape& matrix, const Out& out, std::size_t results, const char* function) {
  const auto [rows, cols, ld] = matrix;
  const auto data = deviceIterator(in, rows > 0 && cols > 0, function, "in");
  requireShape(rows, cols, function);
  requireSize(ld, {"ld"}, function);
  if (ld < cols) throwInvalid({function, ": ld (", ld, ") is less than cols (", cols, ")"});
  if (rows > 0 && cols > 0) requireSpan({{nullptr, rows, cols, ld}, "in", bytesPerElement(data)}, function);
  if (isNull(data) && rows > 0 && cols > 0)
    throwInvalid({function, ": in is null, but rows is ", rows, " and cols is ", cols});
  if (isNull(out) && results > 0) throwInvalid({function, ": out is null, but there are ", results, " results"});
  const std::size_t span = rows > 0 && cols > 0 ? (rows - 1) * ld + cols : 0;
  constexpr bool isArray = std::is_pointer_v<std::decay_t<decltype(data)>>;
  if constexpr (isArray) requireArray(namedArray(data, span, "in"), function);
  if constexpr (std::is_pointer_v<Out>) requireArray(namedArray(out, results, "out"), function);
  if constexpr (isArray && std::is_pointer_v<Out>)
    if (span > 0) requireDisjoint(namedArray(data, span, "in"), namedArray(out, results, "out"), function);
}

// Adds up to ITEMS steps below `end`, STRIDE apart, as one share.
template <int STRIDE, int ITEMS, class Source, class Reducer>
__device__ inline void addShare(typename Reducer::Partial& partial, const Source& source, const Reducer& reducer,
                                std::size_t first, std::size_t end) {
  if (first >= end) return;
  typename Source::Step steps[ITEMS];
  typename Source::Value values[Source::STEP];
  const std::size_t left = (end - first + STRIDE - 1) / STRIDE;
  const int count = left < ITEMS ? static_cast<int>(left) : ITEMS;
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) source.template load<Caching::normal>(steps[i], first + (i < count ? i * STRIDE : 0));
  typename Reducer::Share share{};
#pragma unroll
  for (int i = 0; i < ITEMS; ++i)
    if (i < count) {
      source.values(steps[i], values);
      reducer.add(share, values, 0);
    }
  partial = reducer.combiner()(partial, reducer.close(share));
}

// Adds a value whose index may be before or after those that are there.
template <class Reducer, class V>
__device__ inline void addAnywhere(typename Reducer::Partial& partial, const Reducer& reducer, const V (&value)[1],
                                   std::size_t index) {
  if constexpr (Reducer::INDEXED) {
    typename Reducer::Partial single = reducer.neutral();
    reducer.add(single, value, index);
    partial = reducer.combiner()(partial, single);
  } else {
    reducer.add(partial, value, index);
  }
}

// Adds what one of THREADS threads contributes to the fold of [first, first + count).
template <int THREADS, int ITEMS, class View, class Reducer>
__device__ inline void addRange(typename Reducer::Partial& partial, const View& view, const Reducer& reducer,
                                std::size_t first, std::size_t count, unsigned thread) {
  using Source = typename View::Source;
  constexpr std::size_t BOUNDARY = THREADS >= 256 ? 128 : 16;
  const Source source = view.template range<BOUNDARY>(first, count);
  const std::size_t steps = (count - source.head) / Source::STEP;
  const std::size_t edge = thread < source.head ? thread : thread + steps * Source::STEP;
  typename Source::Value values[1];
  if (edge < count) values[0] = source.at(edge);
  // All threads run the same number of full batches: divergence would double the time of a warp.
  std::size_t done = 0;
  if constexpr (ShareOf<Reducer>::exists) {
    for (; done < steps; done += ITEMS * THREADS)
      addShare<THREADS, ITEMS>(partial, source, reducer, done + thread, steps);
  } else {
#pragma unroll 1
    for (; done + ITEMS * THREADS <= steps; done += ITEMS * THREADS)
      addSteps<Caching::normal, THREADS, ITEMS>(partial, source, reducer, done + thread);
    addStepsBelow<Caching::normal, THREADS, ITEMS>(partial, source, reducer, done + thread, steps);
  }
  if (edge < count) addAnywhere(partial, reducer, values, edge);
}

GPUOPT_DETAIL_END
