/// \file
/// Unaligned rows of transformRows that follow one another without gaps: a warp copies spans of them to shared memory
/// as aligned vectors, transforms them there, and copies them back. So no lane shifts vectors into place, and the lanes
/// keep the numbers of their columns. While a span is transformed, the next one is on its way.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/rows/transform_row.cuh>
#include <gpuopt/device/rows/transform_statistic.cuh>
#include <gpuopt/device/rows/transform_tuning.cuh>
#include <gpuopt/grid/cluster_arrivals.cuh>
#include <gpuopt/thread/async_copy.cuh>
#include <gpuopt/thread/bulk_copy.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// Bytes of shared memory for a span of `bytes`, which begins as far behind a sector of 32 bytes as in global memory.
__host__ __device__ constexpr std::size_t stagedBytes(std::size_t bytes) { return (bytes + 62) / 32 * 32; }

// Rows that follow one another in global memory, in shared memory. A warp calls. BULK: one lane copies the vectors.
template <class T, bool BULK>
class StagedSpan {
 public:
  __device__ StagedSpan(unsigned char* storage, const T* address, unsigned count)
      : data_(reinterpret_cast<T*>(storage + reinterpret_cast<std::uintptr_t>(address) % 32)), count_(count) {
    const auto behind = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(address) / sizeof(T) % OF_VECTOR);
    const unsigned before = behind == 0 ? 0 : OF_VECTOR - behind;
    head_ = before < count ? before : count;
    inVectors_ = (count - head_) / OF_VECTOR * OF_VECTOR;
  }

  __device__ T* data() const { return data_; }

  // awaitLoad says when the copy is there.
  __device__ void startLoad(const T* from, ClusterArrivals& arrivals) const {
    if constexpr (BULK) {
      if (threadIdx.x % 32 == 0) {
        arrivals.expect(bytes());
        startBulkLoad(data_ + head_, from + head_, bytes(), arrivals.state);
      }
    } else {
      eachVector([&](unsigned i) { copyAsync16(data_ + i, from + i); });
      commitAsyncCopies();
    }
    eachElement([&](unsigned i) { data_[i] = from[i]; });
  }

  // All lanes have to be done with the rows.
  __device__ void startStore(T* to) const {
    if constexpr (BULK) {
      if (threadIdx.x % 32 == 0) startBulkStore(to + head_, data_ + head_, bytes());
    } else {
      eachVector([&](unsigned i) { storeWord<16>(vectorAt(to + i), *vectorAt(data_ + i)); });
    }
    eachElement([&](unsigned i) { to[i] = data_[i]; });
  }

 private:
  static constexpr unsigned OF_VECTOR = rowVector<T>;

  __device__ static Word<16>* vectorAt(T* address) { return reinterpret_cast<Word<16>*>(address); }
  __device__ unsigned bytes() const { return inVectors_ * static_cast<unsigned>(sizeof(T)); }

  template <class Use>
  __device__ void eachVector(const Use& use) const {
    for (unsigned i = threadIdx.x % 32 * OF_VECTOR; i < inVectors_; i += 32 * OF_VECTOR) use(head_ + i);
  }

  // Those before the first vector and after the last one.
  template <class Use>
  __device__ void eachElement(const Use& use) const {
    for (unsigned i = threadIdx.x % 32; i < count_ - inVectors_; i += 32) use(i < head_ ? i : i + inVectors_);
  }

  T* data_;
  unsigned count_;
  unsigned head_;  // elements before the first vector
  unsigned inVectors_;
};

// The spans of a warp, as many spans apart as the grid has warps. Warps without numbers of columns have one: they are
// many, and then vectors that all lanes copy come sooner.
template <class Transform>
class WarpSpans {
  static constexpr bool HAS_NUMBERS = loadsColumns<decltype(Transform::map)>;
  static constexpr bool BULK = hasBulkCopies && HAS_NUMBERS;
  using Element = typename Transform::Element;
  using Span = StagedSpan<Element, BULK>;

 public:
  static constexpr unsigned SPANS = stagedSpans<HAS_NUMBERS>;

  // In shared memory, for each warp.
  struct Arrivals {
    ClusterArrivals ofSpan[SPANS];
  };

  __device__ WarpSpans(const Transform& transform, Arrivals& arrivals, unsigned spanRows, unsigned spanBytes)
      : transform_(transform),
        arrivals_(arrivals),
        storage_(dynamicShared<unsigned char>() + threadIdx.x / 32 * SPANS * spanBytes),
        spanRows_(spanRows),
        spanBytes_(spanBytes),
        stepRows_(gridDim.x * std::size_t{blockDim.x / 32} * spanRows),
        firstRow_((blockIdx.x * std::size_t{blockDim.x / 32} + threadIdx.x / 32) * spanRows) {
    if constexpr (BULK) {
      if (threadIdx.x % 32 == 0) {
        for (ClusterArrivals& each : arrivals_.ofSpan) each.create();
        showToBulkCopies();
      }
      __syncwarp();
    }
  }

  __device__ void start() const { startLoad(firstRow_, 0); }

  // Then calls use(data, firstRow, rows) for each span, when its rows are in shared memory.
  template <class Use>
  __device__ void each(const Use& use) {
    unsigned parity = 0;
    for (unsigned number = 0; firstRow_ < transform_.rows; firstRow_ += stepRows_) {
      const unsigned next = (number + 1) % SPANS;
      if constexpr (SPANS > 1) startLoad(firstRow_ + stepRows_, next);
      awaitLoad(number, parity);
      const Span span = spanOf(firstRow_, number);
      use(span.data(), firstRow_, rowsOf(firstRow_));
      if constexpr (BULK) showToBulkCopies();
      __syncwarp();
      span.startStore(transform_.out + firstRow_ * cols());
      if constexpr (SPANS == 1) return;
      if constexpr (BULK)
        if (threadIdx.x % 32 == 0) awaitBulkStores();  // the span after the next one goes there
      __syncwarp();
      parity ^= number;
      number = next;
    }
  }

 private:
  __device__ unsigned cols() const { return static_cast<unsigned>(transform_.cols); }

  __device__ unsigned rowsOf(std::size_t firstRow) const {
    const std::size_t left = transform_.rows - firstRow;
    return left < spanRows_ ? static_cast<unsigned>(left) : spanRows_;
  }

  __device__ Span spanOf(std::size_t firstRow, unsigned number) const {
    return {storage_ + number * spanBytes_, transform_.in + firstRow * cols(), rowsOf(firstRow) * cols()};
  }

  __device__ void startLoad(std::size_t firstRow, unsigned number) const {
    if (firstRow < transform_.rows)
      spanOf(firstRow, number).startLoad(transform_.in + firstRow * cols(), arrivals_.ofSpan[number]);
    else if constexpr (!BULK)
      commitAsyncCopies();  // the last group but one is the span to wait for
  }

  __device__ void awaitLoad(unsigned number, unsigned parity) const {
    if constexpr (BULK)
      arrivals_.ofSpan[number].wait(parity);
    else
      awaitAsyncCopies<SPANS - 1>();
    __syncwarp();
  }

  const Transform& transform_;
  Arrivals& arrivals_;
  unsigned char* storage_;
  unsigned spanRows_;
  unsigned spanBytes_;
  std::size_t stepRows_;
  std::size_t firstRow_;
};

// What a map loads for the columns of a lane: nothing unless it asks for that.
template <int LANES, int ELEMENTS, class Map, class = void>
struct StagedOperands {
  __device__ StagedOperands(const Map&, int) {}
  template <class Value, class Result>
  __device__ auto mapped(const Map& map, Value value, const Result& result, int column, int) const {
    return map(value, result, column);
  }
};

template <int LANES, int ELEMENTS, class Map>
struct StagedOperands<LANES, ELEMENTS, Map, std::enable_if_t<loadsColumns<Map>>> {
  using Operands = decltype(std::declval<const Map&>().template load<1, VectorColumns::any>(0));
  Operands operands[ELEMENTS];

  __device__ StagedOperands(const Map& map, int cols) {
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

// Transforms rows in shared memory, each by LANES lanes that have up to ELEMENTS elements of it, LANES apart, and
// stagedSlack less at least: for most elements nothing is to be asked.
template <int LANES, int ELEMENTS, class Transform>
class StagedLane {
  using Element = typename Transform::Element;
  using Value = RowValue<Element>;
  using Map = decltype(Transform::map);
  using Operands = StagedOperands<LANES, ELEMENTS, Map>;

 public:
  __device__ explicit StagedLane(const Transform& transform)
      : transform_(transform),
        operands_(transform.map, transform.cols),
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
  __device__ bool has(int e) const { return e < ELEMENTS - static_cast<int>(stagedSlack) || e < own_; }

  const Transform& transform_;
  Operands operands_;
  int lane_;
  int own_;
};

GPUOPT_DETAIL_END
