/// \file
/// A row of transformRows: its vectors, of which the first and the last may belong to it in part.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/rows/transform_values.cuh>
#include <gpuopt/warp/shuffle.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// Whether a map loads what belongs to neighbouring columns at once: load<COUNT, WHOLE>(column) gives operands, and
// map(value, result, operands, i) takes those of column + i.
template <class Map, class = void>
inline constexpr bool loadsColumns = false;
template <class Map>
inline constexpr bool loadsColumns<Map, std::enable_if_t<Map::LOADS_COLUMNS>> = true;

// Whether a map may be called for columns outside the row, whose results nobody stores.
template <class Map, class = void>
inline constexpr bool takesAnyColumn = false;
template <class Map>
inline constexpr bool takesAnyColumn<Map, std::enable_if_t<Map::TAKES_ANY_COLUMN>> = true;

// The memory of the input. A vector within it may be loaded, even if other rows or gaps share it.
struct TransformMemory {
  std::uintptr_t begin;
  std::uintptr_t end;

  __device__ bool hasVector(const void* address) const {
    const auto first = reinterpret_cast<std::uintptr_t>(address);
    return first >= begin && first + 16 <= end;
  }
};

// Vector v has the elements from v * COUNT - shift on, at an address of 16 bytes in the input. WHOLE: rows begin and
// end with vectors, in the output, too. Whole warps call.
template <class In, class Out, bool WHOLE>
struct TransformedRow {
  static constexpr int COUNT = rowVector<In>;
  static constexpr unsigned ALL = (1u << COUNT) - 1;
  using Value = RowValue<In>;

  const In* in;
  Out* out;
  std::size_t index;
  int cols;
  int shift;
  int vectors;
  bool storesWords;  // the vectors of the output are aligned as well
  TransformMemory memory;

  // Elements that do not belong to the row have any value.
  __device__ uint4 load(int v) const {
    uint4 vector{};
    if (v >= vectors) return vector;
    const int column = firstColumn(v);
    if (WHOLE || memory.hasVector(in + column)) return loadOverwritten(in + column);
    In elements[COUNT];
    __builtin_memcpy(elements, &vector, sizeof(vector));
    const unsigned mask = maskOf(v);
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
      if ((mask >> i & 1) != 0) elements[i] = in[column + i];
    __builtin_memcpy(&vector, elements, sizeof(vector));
    return vector;
  }

  // Calls use(value) for each element of the row in the vector. Lanes with parts of vectors do not diverge from others.
  template <class Use>
  __device__ void each(const uint4& vector, int v, const Use& use) const {
    if (WHOLE && v >= vectors) return;
    Value values[COUNT];
    unpackRow<In>(vector, values);
    const unsigned mask = maskOf(v);
    if (WHOLE || __all_sync(fullMask, mask == ALL) != 0) {
#pragma unroll
      for (int i = 0; i < COUNT; ++i) use(values[i]);
    } else if (mask != 0) {
#pragma unroll
      for (int i = 0; i < COUNT; ++i)
        if ((mask >> i & 1) != 0) use(values[i]);
    }
  }

  // Stores map(value, result, column) for each element of the row in the vector.
  template <class Map, class Result>
  __device__ void store(const uint4& vector, int v, const Map& map, const Result& result) const {
    if (v >= vectors) return;
    Value values[COUNT];
    unpackRow<In>(vector, values);
    const int column = firstColumn(v);
    const unsigned mask = maskOf(v);
    const bool isVector = WHOLE || (mask == ALL && storesWords);
    if constexpr (WHOLE || takesAnyColumn<Map>) {
      const auto packed = packRow<Out>(mapAll(values, column, map, result).values);
      if (isVector)
        storeWords(packed, column);
      else
        storeElements(packed, column, mask);
    } else if (isVector) {
      storeWords(packRow<Out>(mapAll(values, column, map, result).values), column);
    } else {
#pragma unroll
      for (int i = 0; i < COUNT; ++i)
        if ((mask >> i & 1) != 0) out[column + i] = static_cast<Out>(map(values[i], result, column + i));
    }
  }

 private:
  template <class Mapped>
  struct Values {
    Mapped values[COUNT];
  };

  __device__ int firstColumn(int v) const { return WHOLE ? v * COUNT : v * COUNT - shift; }

  // Bit i: element i of the vector belongs to the row.
  __device__ unsigned maskOf(int v) const {
    if (WHOLE) return ALL;
    const int column = firstColumn(v), left = cols - column;
    const unsigned begun = column < 0 ? ALL << -column : ALL;
    return left >= COUNT ? begun & ALL : left <= 0 ? 0 : begun & ((1u << left) - 1);
  }

  template <class Map, class Result>
  __device__ static auto mapAll(const Value (&values)[COUNT], int column, const Map& map, const Result& result) {
    using Mapped = std::decay_t<decltype(map(values[0], result, column))>;
    Values<Mapped> mapped;
    if constexpr (loadsColumns<Map>) {
      const auto operands = map.template load<COUNT, WHOLE>(column);
#pragma unroll
      for (int i = 0; i < COUNT; ++i) mapped.values[i] = map(values[i], result, operands, i);
    } else {
#pragma unroll
      for (int i = 0; i < COUNT; ++i) mapped.values[i] = map(values[i], result, column + i);
    }
    return mapped;
  }

  __device__ void storeWords(const RowWords<Out, COUNT>& packed, int column) const {
    constexpr std::size_t BYTES = RowWords<Out, COUNT>::WORD_BYTES;
    auto* const to = reinterpret_cast<Word<BYTES>*>(out + column);
#pragma unroll
    for (int i = 0; i < RowWords<Out, COUNT>::WORDS; ++i) storeWord<BYTES>(to + i, packed.words[i]);
  }

  __device__ void storeElements(const RowWords<Out, COUNT>& packed, int column, unsigned mask) const {
    Out elements[COUNT];
    __builtin_memcpy(elements, &packed, sizeof(packed));
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
      if ((mask >> i & 1) != 0) out[column + i] = elements[i];
  }
};

// The rows of a matrix, or parts of `partCols` columns of them, each of which counts as a row of its own.
struct RowTransformShape {
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
struct RowTransform : RowTransformShape {
  using Statistic = S;
  const In* in;
  Out* out;
  S statistic;
  Map map;

  // Rows behind the last have no vectors.
  template <bool WHOLE>
  __device__ TransformedRow<In, Out, WHOLE> row(std::size_t index) const {
    constexpr int COUNT = rowVector<In>;
    std::size_t matrixRow = index;
    int column = 0, width = cols;
    if (parts.divisor > 1) {
      matrixRow = parts.divide(static_cast<unsigned>(index));
      column = static_cast<int>(index - matrixRow * parts.divisor) * partCols;
      width = smallerOfTwo(cols - column, partCols);
    }
    const In* const from = in + matrixRow * inLd + column;
    const int shift = WHOLE ? 0 : static_cast<int>(reinterpret_cast<std::uintptr_t>(from) / sizeof(In) % COUNT);
    const int vectors = index < rows ? (shift + width + COUNT - 1) / COUNT : 0;
    return {from, out + matrixRow * outLd + column, index, width, shift, vectors, storesWords, memory};
  }

 private:
  __device__ static int smallerOfTwo(int a, int b) { return b < a ? b : a; }
};

GPUOPT_DETAIL_END
