/// \file
/// Unaligned rows of transformRows that follow one another without gaps: a warp copies some of them to shared memory as
/// aligned vectors, transforms them there, and copies them back. So no lane shifts vectors into place, and a lane has the
/// same columns of all rows, whose numbers it keeps in registers.
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

// The rows of a matrix in spans of `rows`. A warp takes one, or several, of which it has two at a time in shared memory.
template <class Transform>
class StagedSpans {
  using Element = typename Transform::Element;

 public:
  __device__ StagedSpans(const Transform& transform, unsigned rows, unsigned buffers)
      : transform_(transform), rows_(rows), cols_(static_cast<unsigned>(transform.cols)) {
    bufferBytes_ = static_cast<unsigned>(stagedBytes(std::size_t{rows} * cols_ * sizeof(Element)));
    storage_ = dynamicShared<unsigned char>() + threadIdx.x / 32 * buffers * bufferBytes_;
  }

  __device__ std::size_t count() const { return (transform_.rows + rows_ - 1) / rows_; }
  __device__ std::size_t firstRow(std::size_t span) const { return span * rows_; }
  __device__ unsigned rowsOf(std::size_t span) const {
    const std::size_t left = transform_.rows - firstRow(span);
    return left < rows_ ? static_cast<unsigned>(left) : rows_;
  }

  __device__ StagedSpan<Element> at(std::size_t span, unsigned buffer) const {
    return {storage_ + buffer * bufferBytes_, transform_.in + firstRow(span) * cols_,
            static_cast<int>(rowsOf(span) * cols_)};
  }
  __device__ void startLoad(std::size_t span, unsigned buffer) const {
    if (span < count()) at(span, buffer).startLoad(transform_.in + firstRow(span) * cols_);
    commitAsyncCopies();
  }
  __device__ void store(std::size_t span, unsigned buffer) const {
    at(span, buffer).store(transform_.out + firstRow(span) * cols_);
  }

 private:
  const Transform& transform_;
  unsigned rows_;
  unsigned cols_;
  unsigned char* storage_;
  unsigned bufferBytes_;
};

// What a map loads for the columns of a lane: nothing unless it asks for that.
template <class Map, int ELEMENTS, class = void>
struct LaneOperands {
  __device__ LaneOperands(const Map&, int, int, int) {}
  template <class Value, class Result>
  __device__ auto mapped(const Map& map, Value value, const Result& result, int column, int) const {
    return map(value, result, column);
  }
};
template <class Map, int ELEMENTS>
struct LaneOperands<Map, ELEMENTS, std::enable_if_t<loadsColumns<Map>>> {
  using Operands = decltype(std::declval<const Map&>().template load<1, VectorColumns::any>(0));
  Operands operands[ELEMENTS];

  __device__ LaneOperands(const Map& map, int first, int step, int own) {
#pragma unroll
    for (int e = 0; e < ELEMENTS; ++e)
      if (e < own) operands[e] = map.template load<1, VectorColumns::any>(first + e * step);
  }
  template <class Value, class Result>
  __device__ auto mapped(const Map& map, Value value, const Result& result, int, int e) const {
    return map(value, result, operands[e], 0);
  }
};

// Transforms rows in shared memory, each by LANES lanes that have up to ELEMENTS elements of it, LANES apart, and
// stagedSlack less at least: for most elements nothing is to be asked.
template <int LANES, int ELEMENTS, class Transform>
class StagedLane {
  using Element = typename Transform::Element;
  using Value = RowValue<Element>;

 public:
  __device__ explicit StagedLane(const Transform& transform)
      : transform_(transform),
        lane_(static_cast<int>(threadIdx.x % LANES)),
        own_((transform.cols - lane_ + LANES - 1) / LANES),
        operands_(transform.map, lane_, LANES, own_) {}

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
    using Map = decltype(transform_.map);
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
  __device__ bool has(int e) const { return e < ELEMENTS - static_cast<int>(stagedSlack) || e < own_; }

  const Transform& transform_;
  int lane_;
  int own_;
  LaneOperands<std::decay_t<decltype(std::declval<Transform>().map)>, ELEMENTS> operands_;
};

GPUOPT_DETAIL_END
