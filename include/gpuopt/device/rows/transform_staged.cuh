/// \file
/// Unaligned rows of transformRows that follow one another without gaps: a warp copies some of them to shared memory as
/// aligned vectors, transforms them there, and copies them back. So no lane shifts vectors into place. The numbers of
/// columns are in shared memory, too: in registers they would leave room for half of the warps. Only where a warp takes
/// a row at a time, it would load them anew for each.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/rows/transform_row.cuh>
#include <gpuopt/device/rows/transform_statistic.cuh>
#include <gpuopt/device/rows/transform_tuning.cuh>
#include <gpuopt/thread/async_copy.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// Bytes of shared memory for a span of `bytes`, which begins as far behind a sector of 32 bytes as in global memory.
__host__ __device__ constexpr std::size_t stagedBytes(std::size_t bytes) { return (bytes + 62) / 32 * 32; }

// `count` elements that follow one another in global memory, in shared memory. A warp calls.
template <class T>
class StagedSpan {
 public:
  __device__ StagedSpan(unsigned char* storage, const T* address, int count)
      : data_(reinterpret_cast<T*>(storage + reinterpret_cast<std::uintptr_t>(address) % 32)), count_(count) {
    constexpr int OF_VECTOR = rowVector<T>;
    const auto behind = static_cast<int>(reinterpret_cast<std::uintptr_t>(address) / sizeof(T) % OF_VECTOR);
    const int before = behind == 0 ? 0 : OF_VECTOR - behind;
    head_ = before < count ? before : count;
    vectors_ = (count - head_) / OF_VECTOR;
  }

  __device__ T* data() const { return data_; }

  // The copy is there after awaitAsyncCopies and a barrier of the warp.
  __device__ void startLoad(const T* from) const {
    eachVector([&](int i) { copyAsync16(data_ + i, from + i); });
    eachElement([&](int i) { data_[i] = from[i]; });
  }

  __device__ void store(T* to) const {
    eachVector([&](int i) { storeWord<16>(vectorAt(to + i), *vectorAt(data_ + i)); });
    eachElement([&](int i) { to[i] = data_[i]; });
  }

 private:
  __device__ static Word<16>* vectorAt(T* address) { return reinterpret_cast<Word<16>*>(address); }

  template <class Use>
  __device__ void eachVector(const Use& use) const {
    for (int v = static_cast<int>(threadIdx.x % 32); v < vectors_; v += 32) use(head_ + v * rowVector<T>);
  }

  // Those before the first vector and after the last one.
  template <class Use>
  __device__ void eachElement(const Use& use) const {
    const int inVectors = vectors_ * rowVector<T>;
    for (int i = static_cast<int>(threadIdx.x % 32); i < count_ - inVectors; i += 32)
      use(i < head_ ? i : i + inVectors);
  }

  T* data_;
  int count_;
  int head_;  // elements before the first vector
  int vectors_;
};

// Whether lanes keep what a map loads for their columns.
template <int LANES, class Map>
inline constexpr bool keepsNumbers = LANES == 32 && loadsColumns<Map>;

// What a map loads for columns: nothing unless it asks for that.
template <int LANES, int ELEMENTS, class Map, class = void>
struct StagedOperands {
  static constexpr std::size_t BYTES = 0;  // of a column, in shared memory
  __device__ StagedOperands(const Map&, unsigned char*, int) {}
  template <class Value, class Result>
  __device__ auto mapped(const Map& map, Value value, const Result& result, int column, int) const {
    return map(value, result, column);
  }
};

// In registers: those of the lane's elements.
template <int LANES, int ELEMENTS, class Map>
struct StagedOperands<LANES, ELEMENTS, Map, std::enable_if_t<keepsNumbers<LANES, Map>>> {
  using Operands = decltype(std::declval<const Map&>().template load<1, VectorColumns::any>(0));
  static constexpr std::size_t BYTES = 0;
  Operands operands[ELEMENTS];

  __device__ StagedOperands(const Map& map, unsigned char*, int cols) {
    const auto lane = static_cast<int>(threadIdx.x % LANES);
#pragma unroll
    for (int e = 0; e < ELEMENTS; ++e)
      if (lane + e * LANES < cols) operands[e] = map.template load<1, VectorColumns::any>(lane + e * LANES);
  }
  template <class Value, class Result>
  __device__ auto mapped(const Map& map, Value value, const Result& result, int, int e) const {
    return map(value, result, operands[e], 0);
  }
};

// In shared memory.
template <int LANES, int ELEMENTS, class Map>
struct StagedOperands<LANES, ELEMENTS, Map, std::enable_if_t<loadsColumns<Map> && !keepsNumbers<LANES, Map>>> {
  using Operands = decltype(std::declval<const Map&>().template load<1, VectorColumns::any>(0));
  struct alignas(powerOfTwoIn(sizeof(Operands) | 16)) Slot {  // one access
    Operands operands;
  };
  static constexpr std::size_t BYTES = sizeof(Slot);
  Slot* slots;

  // A warp calls. They are there after its next barrier.
  __device__ StagedOperands(const Map& map, unsigned char* storage, int cols)
      : slots(reinterpret_cast<Slot*>(storage)) {
    for (int i = static_cast<int>(threadIdx.x % 32); i < cols; i += 32)
      slots[i].operands = map.template load<1, VectorColumns::any>(i);
  }
  template <class Value, class Result>
  __device__ auto mapped(const Map& map, Value value, const Result& result, int column, int) const {
    const Slot slot = slots[column];
    return map(value, result, slot.operands, 0);
  }
};

// Transforms rows in shared memory, each by LANES lanes that have up to ELEMENTS elements of it, LANES apart, and
// stagedSlack less at least, unless they keep numbers: for most elements nothing is to be asked.
template <int LANES, int ELEMENTS, class Transform>
class StagedLane {
  using Element = typename Transform::Element;
  using Value = RowValue<Element>;
  using Map = decltype(Transform::map);
  using Operands = StagedOperands<LANES, ELEMENTS, Map>;
  static constexpr int CERTAIN = keepsNumbers<LANES, Map> ? 0 : ELEMENTS - static_cast<int>(stagedSlack);

 public:
  __device__ StagedLane(const Transform& transform, const Operands& operands)
      : transform_(transform),
        operands_(operands),
        lane_(static_cast<int>(threadIdx.x % LANES)),
        own_((transform.cols - lane_ + LANES - 1) / LANES) {}

  // All lanes of a warp call, some without a row.
  __device__ void operator()(Element* row, std::size_t index, bool isRow) const {
    Value values[ELEMENTS] = {};
    if (isRow) {
#pragma unroll
      for (int e = 0; e < ELEMENTS; ++e)
        if (has(e)) values[e] = static_cast<Value>(row[lane_ + e * LANES]);
    }
    const auto eachValue = [&](auto use) {
#pragma unroll
      for (int e = 0; e < ELEMENTS; ++e)
        if (has(e)) use(values[e]);
    };
    LaneCombination combination{LANES};
    const auto result = rowResult(transform_.statistic, transform_.cols, eachValue, combination);
    if (!isRow) return;
    if constexpr (storesResult<Map, decltype(result)>)
      if (lane_ == 0) transform_.map.storeResult(index, result);
#pragma unroll
    for (int e = 0; e < ELEMENTS; ++e)
      if (has(e)) {
        const int column = lane_ + e * LANES;
        row[column] = static_cast<Element>(operands_.mapped(transform_.map, values[e], result, column, e));
      }
  }

 private:
  __device__ bool has(int e) const { return e < CERTAIN || e < own_; }

  const Transform& transform_;
  const Operands& operands_;
  int lane_;
  int own_;
};

GPUOPT_DETAIL_END
