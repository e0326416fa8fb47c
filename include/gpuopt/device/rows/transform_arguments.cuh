/// \file
/// What transformRows checks before it launches anything.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/core/callable.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/device/rows/arguments.cuh>
#include <gpuopt/device/rows/large_clusters.cuh>
#include <gpuopt/device/rows/transform_functors.cuh>
#include <gpuopt/device/rows/transform_launch.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/stream.cuh>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

template <class T>
inline constexpr bool isRowNumber = std::is_arithmetic_v<T> || isHalf<T> || isFloat8<T>;

template <class In, class Out>
constexpr bool requireTransformable() {
  static_assert(isRowNumber<std::remove_const_t<In>> && isRowNumber<Out>,
                "gpuopt: rows of numbers can be transformed: arithmetic types, __half, __nv_bfloat16, fp8; out is not "
                "const");
  return isRowNumber<std::remove_const_t<In>> && isRowNumber<Out>;
}

// The dense matrix at a pointer or in a container.
template <class A>
auto denseRows(A& array, std::size_t rows, std::size_t cols, const char* name, const char* function) {
  if constexpr (isRange<A>) {
    const std::size_t needed = cappedProduct(rows, cols);
    if (needed != SIZE_LIMIT) requireSize(array, needed, name, function);
    return MatrixView{dataOf(array), rows, cols};
  } else {
    return MatrixView{toAddress(array), rows, cols};
  }
}

template <class... As>
using EnableDenseRows = std::enable_if_t<((isRange<std::remove_reference_t<As>> || isAddress<std::decay_t<As>>)&&...)>;

// The array of one number for each column, or null.
template <class A>
auto columnNumbers(A& array, [[maybe_unused]] std::size_t cols, [[maybe_unused]] const char* name,
                   [[maybe_unused]] const char* function) {
  if constexpr (std::is_same_v<std::decay_t<A>, std::nullptr_t>) {
    return static_cast<const float*>(nullptr);
  } else if constexpr (isRange<A>) {
    requireSize(array, cols, name, function);
    return dataOf(array);
  } else {
    return toAddress(array);
  }
}

// That array is aligned, on the device, and not a part of the output.
template <class T>
void requireColumnNumbers(const T* numbers, const NamedView& out, const char* name, const char* function) {
  if (numbers == nullptr || isEmpty(out)) return;
  const NamedArray array = namedArray(numbers, out.cols, name);
  requireArray(array, function);
  requireNoOverlap(array, out, function);
}

inline void requireTransform(const NamedView& in, std::size_t inAlignment, const NamedView& out,
                             std::size_t outAlignment, const char* function) {
  requireSizes(in, function);
  if (in.cols > INT_MAX / 2) throwInvalid({function, ": in.cols (", in.cols, ") is more than ", INT_MAX / 2});
  requireRows(in, inAlignment, function);
  requireRows(out, outAlignment, function);
  requireSameShape(in, out, function);
  if (isEmpty(in)) return;
  requireNoPartialOverlap(in, out, function);
}

// What is common to all rows: the parts, their layout, and the plan.
struct TransformCall {
  RowTransformArgs shape;
  TransformPlan plan;
};

// `bytes` of every row begin at a multiple of 16, or of fewer bytes if an access of the kernels moves fewer.
inline bool areRowsAligned(const NamedView& view, std::size_t bytes) {
  return view.begin() % bytes == 0 && (view.rows == 1 || view.ld * view.elementBytes % bytes == 0);
}

// Both matrices are as far behind a vector in every row.
inline bool areRowsAlike(const NamedView& in, const NamedView& out, std::size_t count) {
  const auto elements = [](const NamedView& view) { return view.begin() / view.elementBytes; };
  const std::size_t word = smallerOf(count * out.elementBytes, std::size_t{16}) / out.elementBytes;
  return elements(in) % word == elements(out) % word && (in.rows == 1 || in.ld % word == out.ld % word);
}

// The rows of both matrices follow one another without gaps.
inline bool areRowsJoined(const NamedView& in, const NamedView& out) {
  return in.rows == 1 || (in.ld == in.cols && out.ld == out.cols);
}

// `isOneType`: elements of both matrices are of the same type; `loadsNumbers`: the map does, those of columns.
inline TransformCall transformCall(const NamedView& in, const NamedView& out, bool isOneType, bool loadsNumbers,
                                   std::size_t partCols, const char* function, const TransformTuning& tuning = {}) {
  TransformCall call{};
  if (isEmpty(in)) return call;
  const std::size_t count = 16 / in.elementBytes;
  const std::size_t outWord = smallerOf(count * out.elementBytes, std::size_t{16});
  const std::size_t parts = ceilDivide(in.cols, partCols);
  const bool isInAligned = areRowsAligned(in, 16) && (parts == 1 || partCols % count == 0);
  const std::size_t rows = cappedProduct(in.rows, parts);
  if (parts > 1 && rows > INT_MAX) throwInvalid({function, ": ", rows, " parts of rows are more than ", INT_MAX});
  const bool isWhole = isInAligned && areRowsAligned(out, outWord) && in.cols % count == 0;
  const bool areAlike = areRowsAlike(in, out, count);
  call.shape = {rows,
                in.ld,
                out.ld,
                static_cast<int>(in.cols),
                static_cast<int>(partCols),
                Divisor(static_cast<unsigned>(parts)),
                areAlike,
                {in.begin(), in.begin() + spanOf(in) * in.elementBytes}};
  const int device = currentDevice();
  const bool areJoined = isOneType && areAlike && parts == 1 && areRowsJoined(in, out);
  const auto multiprocessors = static_cast<std::size_t>(multiprocessorCount(device));
  const bool hasClusters = hasClusterCode(computeCapability(device));
  call.plan = planTransformRows(
      {rows, smallerOf(in.cols, partCols), in.elementBytes, out.elementBytes, !isInAligned, isWhole, areJoined,
       hasClusters, multiprocessors,
       hasClusters && rows <= multiprocessors / largeCluster && largestCluster(device) >= largeCluster, loadsNumbers},
      tuning);
  return call;
}

// Transforms rows, or parts of `partCols` columns, for the caller of that name.
template <class In, class Out, class Statistic, class Map>
void transformViews(const char* function, cudaStream_t stream, const MatrixView<In>& in, const MatrixView<Out>& out,
                    const Statistic& statistic, const Map& map, std::size_t partCols = INT_MAX,
                    const TransformTuning& tuning = {}) {
  [[maybe_unused]] const CallRange range(function);
  using Element = std::remove_const_t<In>;
  if constexpr (requireTransformable<In, Out>()) {
    requireTransform(named(in, "in"), alignof(In), named(out, "out"), alignof(Out), function);
    const TransformCall call = transformCall(named(in, "in"), named(out, "out"), std::is_same_v<Element, Out>,
                                             loadsColumns<Map>, partCols, function, tuning);
    launchTransform(call.plan,
                    RowTransform<Element, Out, Statistic, Map>{{call.shape}, in.data, out.data, statistic, map}, stream,
                    function);
  }
}

template <class In, class Out>
std::string explainTransform(const char* function, const MatrixView<In>& in, const MatrixView<Out>& out) {
  if constexpr (requireTransformable<In, Out>()) {
    requireTransform(named(in, "in"), alignof(In), named(out, "out"), alignof(Out), function);
    constexpr bool isOneType = std::is_same_v<std::remove_const_t<In>, Out>;
    return planInWords(transformCall(named(in, "in"), named(out, "out"), isOneType, false, INT_MAX, function).plan);
  } else {
    return {};
  }
}

template <class T>
using RowValueOf = RowValue<std::remove_const_t<T>>;

// The statistics of rows of such a matrix.
template <class In, class Value = RowValueOf<In>>
StatisticChain<RowMaximum<Value>, SumOfPowers<Value>> softmaxStatistic(const MatrixView<In>&) {
  return {};
}
template <class In, class Value = RowValueOf<In>>
StatisticChain<RowMean<Value>, RowDeviation<Value>> layerStatistic(const MatrixView<In>&, double eps) {
  return {{}, {{}, static_cast<Value>(eps)}};
}
template <class In, class Value = RowValueOf<In>>
RowMeanSquare<Value> meanSquareStatistic(const MatrixView<In>&, double eps) {
  return {{}, static_cast<Value>(eps)};
}
template <class In, class Value = RowValueOf<In>>
RowNorm<Value> normStatistic(const MatrixView<In>&, double eps) {
  return {{}, static_cast<Value>(eps)};
}

// Whether each access to numbers of columns moves a word, in rows that begin with vectors.
template <class In, class T>
bool hasAlignedColumns(const T* numbers) {
  return numbers != nullptr && alignedTo(numbers, RowWords<T, rowVector<std::remove_const_t<In>>>::WORD_BYTES);
}

// Normalises rows by a statistic, with numbers of columns. SHIFTS: beta counts.
template <bool SHIFTS, class In, class Out, class Statistic, class Gamma, class Beta = float>
void normViews(const char* function, cudaStream_t stream, const MatrixView<In>& in, const MatrixView<Out>& out,
               const Statistic& statistic, const Gamma* gamma, const Beta* beta = nullptr) {
  using Value = RowValueOf<In>;
  requireColumnNumbers(gamma, named(out, "out"), "gamma", function);
  requireColumnNumbers(beta, named(out, "out"), "beta", function);
  const int cols = static_cast<int>(out.cols);
  if (hasAlignedColumns<In>(gamma) && (!SHIFTS || hasAlignedColumns<In>(beta)))
    transformViews(function, stream, in, out, statistic,
                   NormMap<Value, Gamma, Beta, SHIFTS, true>{{gamma, cols}, {beta, cols}});
  else
    transformViews(function, stream, in, out, statistic,
                   NormMap<Value, Gamma, Beta, SHIFTS, false>{{gamma, cols}, {beta, cols}});
}

// One scale for each part of `partCols` columns of each row.
template <class In, class Out, class Scale>
void quantizeViews(const char* function, cudaStream_t stream, const MatrixView<In>& in, const MatrixView<Out>& out,
                   Scale* scales, std::size_t partCols) {
  static_assert(isFloat8<Out> || std::is_same_v<Out, signed char>,
                "gpuopt: rows are quantised to std::int8_t, __nv_fp8_e4m3 or __nv_fp8_e5m2");
  static_assert(std::is_floating_point_v<Scale>, "gpuopt: scales are float or double");
  using Value = RowValueOf<In>;
  if (!isEmpty(out)) {
    const NamedArray array = namedArray(scales, cappedProduct(out.rows, ceilDivide(out.cols, partCols)), "scales");
    requireArray(array, function);
    requireNoOverlap(array, named(in, "in"), function);
    requireNoOverlap(array, named(out, "out"), function);
  }
  transformViews(function, stream, in, out, QuantiseScale<Value, Out, Scale>{}, QuantiseMap<Value, Out, Scale>{scales},
                 partCols);
}

GPUOPT_DETAIL_END
