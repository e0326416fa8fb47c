/// \file
/// A row of transformRows: its vectors, of which the first and the last may belong to it in part.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/rows/transform_values.cuh>
#include <gpuopt/thread/prefetch.cuh>
#include <gpuopt/warp/shuffle.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// What is known of the columns of a vector.
enum class VectorColumns {
  any,      // some may be outside the row
  inside,   // the row goes on for a vector and more on both sides
  aligned,  // the first one is a multiple of their number
};

// Whether a map loads what belongs to neighbouring columns at once: load<COUNT, COLUMNS>(column) gives operands, and
// map(value, result, operands, i) takes those of column + i.
template <class Map, class = void>
inline constexpr bool loadsColumns = false;
template <class Map>
inline constexpr bool loadsColumns<Map, std::enable_if_t<Map::LOADS_COLUMNS>> = true;

// Whether a map has ofElements(): a map of another type that does the same where no vectors are loaded.
template <class Map, class = void>
inline constexpr bool hasElementMap = false;
template <class Map>
inline constexpr bool hasElementMap<Map, std::void_t<decltype(std::declval<const Map&>().ofElements())>> = true;

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

// A row of the input and of the output, whose vectors it stores: the base of both kinds of rows.
template <class In, class Out>
struct RowStores {
  static constexpr int COUNT = rowVector<In>;
  using Value = RowValue<In>;

  const In* in;
  Out* out;
  std::size_t index;
  int cols;
  bool storesWords;  // the vectors of the output are aligned as well

 protected:
  template <class Mapped>
  struct Values {
    Mapped values[COUNT];
  };

  template <VectorColumns COLUMNS, class Map, class Result>
  __device__ static auto mapAll(const Value (&values)[COUNT], int column, const Map& map, const Result& result) {
    using Mapped = std::decay_t<decltype(map(values[0], result, column))>;
    Values<Mapped> mapped;
    if constexpr (loadsColumns<Map>) {
      const auto operands = map.template load<COUNT, COLUMNS>(column);
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

// Vector v has the elements from v * COUNT - shift on, at an address of 16 bytes in the input. WHOLE: rows begin and
// end with vectors, in the output, too. Whole warps call.
template <class In, class Out, bool WHOLE>
struct TransformedRow : RowStores<In, Out> {
  using Base = RowStores<In, Out>;
  using Base::cols;
  using Base::COUNT;
  using Base::in;
  using Base::out;
  using Base::storesWords;
  using typename Base::Value;
  static constexpr unsigned ALL = (1u << COUNT) - 1;

  int shift;
  int vectors;
  TransformMemory memory;

  __device__ bool exists() const { return vectors > 0; }

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

  // Makes L2 fetch `count` vectors from vector `begin` on, of a row that begins and ends with vectors.
  __device__ void prefetch(int begin, int count) const {
    const int end = begin + count < vectors ? begin + count : vectors;
    if (begin < end) prefetchToL2(in + begin * COUNT, static_cast<unsigned>(end - begin) * 16);
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

  // What a map loads for the columns of a vector.
  template <class Map>
  __device__ auto operands(const Map& map, int v) const {
    return map.template load<COUNT, COLUMNS>(firstColumn(v));
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
      const auto packed = packRow<Out>(Base::template mapAll<COLUMNS>(values, column, map, result).values);
      if (isVector)
        storeWords(packed, column);
      else
        storeElements(packed, column, mask);
    } else if (isVector) {
      storeWords(packRow<Out>(Base::template mapAll<COLUMNS>(values, column, map, result).values), column);
    } else {
#pragma unroll
      for (int i = 0; i < COUNT; ++i)
        if ((mask >> i & 1) != 0) out[column + i] = static_cast<Out>(map(values[i], result, column + i));
    }
  }

 private:
  using Base::storeElements;
  using Base::storeWords;
  static constexpr VectorColumns COLUMNS = WHOLE ? VectorColumns::aligned : VectorColumns::any;

  __device__ int firstColumn(int v) const { return WHOLE ? v * COUNT : v * COUNT - shift; }

  // Bit i: element i of the vector belongs to the row.
  __device__ unsigned maskOf(int v) const {
    if (WHOLE) return ALL;
    const int column = firstColumn(v), left = cols - column;
    const unsigned begun = column < 0 ? ALL << -column : ALL;
    return left >= COUNT ? begun & ALL : left <= 0 ? 0 : begun & ((1u << left) - 1);
  }
};

GPUOPT_DETAIL_END
