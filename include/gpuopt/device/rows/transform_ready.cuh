/// \file
/// The ready-made transforms of rows, of views.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/device/rows/transform_arguments.cuh>
#include <gpuopt/device/rows/transform_functors.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

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
