/// \file
/// A row of transformRows that begins and ends anywhere, and that a warp or more takes: its vectors, and the elements
/// at its ends.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/rows/transform_row.cuh>

#include <type_traits>

GPUOPT_DETAIL_BEGIN

// The ends of a long row, elements that some lanes take, and the vectors in between: from the second boundary of 16
// bytes in the input on, and up to the last but one. So numbers of columns may be loaded in vectors around those of the
// row, and no access depends on where the row begins.
template <class In, class Out>
struct RowWithEnds : RowStores<In, Out> {
  using Base = RowStores<In, Out>;
  using Base::cols;
  using Base::COUNT;
  using Base::in;
  using Base::out;
  using Base::storesWords;
  using typename Base::Value;

  int begin;    // of the vectors
  int vectors;  // in between
  int ends;     // elements

  __device__ RowWithEnds(const Base& stores, int shift, bool isRow) : Base(stores), begin(2 * COUNT - shift) {
    const int touched = isRow ? (shift + cols + COUNT - 1) / COUNT : 0;
    vectors = touched > 4 ? touched - 4 : 0;
    ends = isRow ? cols - vectors * COUNT : 0;
  }

  __device__ bool exists() const { return ends > 0; }

  // End `i`, or -1.
  __device__ int endColumn(int i) const { return i >= ends ? -1 : vectors == 0 || i < begin ? i : i + vectors * COUNT; }

  __device__ uint4 load(int v) const { return v < vectors ? loadOverwritten(in + columnOf(v)) : uint4{}; }

  __device__ void prefetch(int first, int count) const {
    const int last = first + count < vectors ? first + count : vectors;
    if (first < last) prefetchToL2(in + columnOf(first), static_cast<unsigned>(last - first) * 16);
  }

  template <class Use>
  __device__ void each(const uint4& vector, int v, const Use& use) const {
    if (v >= vectors) return;
    Value values[COUNT];
    unpackRow<In>(vector, values);
#pragma unroll
    for (int i = 0; i < COUNT; ++i) use(values[i]);
  }

  template <class Map>
  __device__ auto operands(const Map& map, int v) const {
    return map.template load<COUNT, VectorColumns::inside>(columnOf(v));
  }

  template <class Map, class Result>
  __device__ void store(const uint4& vector, int v, const Map& map, const Result& result) const {
    if (v >= vectors) return;
    Value values[COUNT];
    unpackRow<In>(vector, values);
    const int column = columnOf(v);
    const auto mapped = Base::template mapAll<VectorColumns::inside>(values, column, map, result);
    const auto packed = packRow<Out>(mapped.values);
    if (storesWords)
      Base::storeWords(packed, column);
    else
      Base::storeElements(packed, column, (1u << COUNT) - 1);
  }

 private:
  __device__ int columnOf(int v) const { return begin + v * COUNT; }
};

// The ends of a row that a thread takes, if it is one of the first LANES.
template <class Row, int LANES>
struct ThreadEnds {
  static constexpr int OF_LANE = (4 * Row::COUNT + LANES - 1) / LANES;
  const Row& row;
  int columns[OF_LANE];
  typename Row::Value values[OF_LANE];

  __device__ ThreadEnds(const Row& ofRow, unsigned thread) : row(ofRow) {
#pragma unroll
    for (int i = 0; i < OF_LANE; ++i) {
      columns[i] = thread < LANES ? row.endColumn(static_cast<int>(thread) + LANES * i) : -1;
      values[i] = columns[i] >= 0 ? static_cast<typename Row::Value>(row.in[columns[i]]) : typename Row::Value{};
    }
  }

  template <class Use>
  __device__ void each(const Use& use) const {
#pragma unroll
    for (int i = 0; i < OF_LANE; ++i)
      if (columns[i] >= 0) use(values[i]);
  }

  template <class Map, class Result>
  __device__ void store(const Map& map, const Result& result) const {
    using Out = std::remove_pointer_t<decltype(row.out)>;
#pragma unroll
    for (int i = 0; i < OF_LANE; ++i)
      if (columns[i] >= 0) row.out[columns[i]] = static_cast<Out>(map(values[i], result, columns[i]));
  }
};

// Rows whose vectors have all elements.
struct NoEnds {
  template <class Use>
  __device__ void each(const Use&) const {}
  template <class Map, class Result>
  __device__ void store(const Map&, const Result&) const {}
};

template <int LANES = 32, class In, class Out>
__device__ inline auto endsOf(const RowWithEnds<In, Out>& row, unsigned thread) {
  return ThreadEnds<RowWithEnds<In, Out>, LANES>(row, thread);
}
template <class In, class Out, bool WHOLE>
__device__ inline NoEnds endsOf(const TransformedRow<In, Out, WHOLE>&, unsigned) {
  return {};
}

GPUOPT_DETAIL_END
