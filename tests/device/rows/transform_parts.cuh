/// \file
/// Transforms of rows by a few of their kernels. A call of transformRows would instantiate all of them, which other
/// tests already cover.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/catch.hpp"

#include <gpuopt/rows_transform.cuh>

#include <climits>
#include <cstddef>
#include <type_traits>

namespace gpuopt::test {

/// The elements of a vector.
template <class In>
inline constexpr std::size_t rowVector = detail::rowVector<In>;

/// Numbers of columns with which each lane takes one vector of a row. Whole rows have up to 32 vectors. Of others,
/// lanes take all elements of up to 16 vectors; of 18 or 19 vectors they take the ends one by one.
template <class In>
inline constexpr std::size_t shortColumns[] = {1, 16 * rowVector<In>, 15 * rowVector<In> + 1, 17 * rowVector<In> + 1};

template <class In, class Out, class Map>
detail::TransformCall callOfPart(const MatrixView<const In>& in, const MatrixView<Out>& out, const Map&,
                                 const detail::TransformTuning& tuning) {
  return detail::transformCall(detail::named(in, "in"), detail::named(out, "out"), std::is_same_v<In, Out>,
                               detail::loadsColumns<Map>, INT_MAX, "test", tuning);
}

inline LaunchConfig configOfPart(const detail::TransformPlan& plan) {
  return detail::gridConfig(static_cast<int>(plan.threads), plan.blocks, nullptr, "test");
}

/// Rows of few vectors, by three kernels only, one for each way to read a row.
template <class In, class Out, class Statistic, class Map>
void transformShortRows(const MatrixView<const In>& in, const MatrixView<Out>& out, const Statistic& statistic,
                        const Map& map) {
  const detail::TransformCall call = callOfPart(in, out, map, {});
  REQUIRE(call.plan.algorithm == detail::TransformAlgorithm::lanes);
  REQUIRE(call.plan.vectors == 1);
  const detail::RowTransform<In, Out, Statistic, Map> transform{{call.shape}, in.data, out.data, statistic, map};
  detail::launchLanes<1>(call.plan, transform, configOfPart(call.plan));
}

/// layerNormRows of such rows. Aligned gamma and beta have kernels of their own.
template <class In, class Out, class T>
void layerNormShortRows(const MatrixView<const In>& in, const MatrixView<Out>& out, const T* gamma, const T* beta,
                        double eps) {
  using Value = detail::RowValue<In>;
  const int cols = static_cast<int>(in.cols);
  const auto statistic = detail::layerStatistic(in, eps);
  if (detail::hasAlignedColumns<In>(gamma) && detail::hasAlignedColumns<In>(beta))
    transformShortRows(in, out, statistic, detail::NormMap<Value, T, T, true, true>{{gamma, cols}, {beta, cols}});
  else
    transformShortRows(in, out, statistic, detail::NormMap<Value, T, T, true, false>{{gamma, cols}, {beta, cols}});
}

/// Rows that warps stage in shared memory, by those kernels alone.
template <class T, class Statistic, class Map>
void transformStagedRows(const MatrixView<const T>& in, const MatrixView<T>& out, const Statistic& statistic,
                         const Map& map, const detail::TransformTuning& tuning = {}) {
  const detail::TransformCall call = callOfPart(in, out, map, tuning);
  REQUIRE(call.plan.algorithm == detail::TransformAlgorithm::staged);
  const detail::RowTransform<T, T, Statistic, Map> transform{{call.shape}, in.data, out.data, statistic, map};
  detail::launchStaged(call.plan, detail::withElementMap(transform), configOfPart(call.plan));
}

}  // namespace gpuopt::test
