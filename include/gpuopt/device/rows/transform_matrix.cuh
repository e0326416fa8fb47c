/// \file
/// The rows of the matrices of transformRows.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/rows/transform_ends.cuh>
#include <gpuopt/device/rows/transform_row.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// The rows of a matrix, or parts of `partCols` columns of them, each of which counts as a row of its own.
struct RowTransformArgs {
  std::size_t rows;  // or parts
  std::size_t inLd;
  std::size_t outLd;
  int cols;  // of the matrix
  int partCols;
  Divisor parts;  // of a row of the matrix
  bool storesWords;
  TransformMemory memory;
};

template <class In, class Out, class S, class Map>
struct RowTransform : RowTransformArgs {
  using Statistic = S;
  using Element = In;
  static constexpr bool IS_ONE_TYPE = std::is_same_v<In, Out>;
  const In* in;
  Out* out;
  S statistic;
  Map map;

  // Rows behind the last have no vectors.
  template <bool WHOLE>
  __device__ TransformedRow<In, Out, WHOLE> row(std::size_t index) const {
    constexpr int COUNT = rowVector<In>;
    const RowStores<In, Out> stores = storesOf(index);
    const int shift = WHOLE ? 0 : shiftOf(stores);
    const int vectors = index < rows ? (shift + stores.cols + COUNT - 1) / COUNT : 0;
    return {stores, shift, vectors, memory};
  }

  // A row that a warp or more takes.
  template <bool WHOLE>
  __device__ auto longRow(std::size_t index) const {
    if constexpr (WHOLE) {
      return row<true>(index);
    } else {
      const RowStores<In, Out> stores = storesOf(index);
      return RowWithEnds<In, Out>(stores, shiftOf(stores), index < rows);
    }
  }

 private:
  __device__ RowStores<In, Out> storesOf(std::size_t index) const {
    std::size_t matrixRow = index;
    int column = 0, width = cols;
    if (parts.divisor > 1) {
      matrixRow = parts.divide(static_cast<unsigned>(index));
      column = static_cast<int>(index - matrixRow * parts.divisor) * partCols;
      width = smallerOfTwo(cols - column, partCols);
    }
    return {in + matrixRow * inLd + column, out + matrixRow * outLd + column, index, width, storesWords};
  }

  // Elements between the last boundary of 16 bytes and the row.
  __device__ static int shiftOf(const RowStores<In, Out>& row) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(row.in) / sizeof(In) % rowVector<In>);
  }

  __device__ static int smallerOfTwo(int a, int b) { return b < a ? b : a; }
};

// The same transform with the map for single elements, if its map has another one for these: one kernel serves both.
template <class In, class Out, class Statistic, class Map>
auto withElementMap(const RowTransform<In, Out, Statistic, Map>& transform) {
  if constexpr (hasElementMap<Map>) {
    const auto map = transform.map.ofElements();
    return RowTransform<In, Out, Statistic, std::decay_t<decltype(map)>>{
        {transform}, transform.in, transform.out, transform.statistic, map};
  } else {
    return transform;
  }
}

GPUOPT_DETAIL_END
