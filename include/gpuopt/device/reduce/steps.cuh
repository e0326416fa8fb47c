/// \file
/// How a thread adds the steps of a source to its partial result.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/reduce/source.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Whether steps begin at element 0 whatever its address.
template <class Policy>
inline constexpr bool hasFixedSteps = Policy::BY_LENGTH || Policy::IN_ORDER;

// Steps in flight per thread for loads of BYTES together.
template <int BYTES, class Source>
inline constexpr int itemsFor = clampTo(static_cast<int>(BYTES / Source::BYTES), 1, 16);

// The same in a reduction of an array. Loads that are no vectors have three quarters of the bytes in flight.
template <class Policy, class Source>
inline constexpr int itemsPerThread =
    itemsFor<(Source::VECTORS || hasFixedSteps<Policy> ? 16 : 12) * Policy::VECTORS, Source>;

// Launch bound of the kernels that loop. 1024 threads per multiprocessor leave each 64 registers, too few for large
// partial results.
template <class Policy, class Partial>
inline constexpr int minBlocksPerSm = sizeof(Partial) <= 16 ? 1024 / Policy::BLOCK : 1;

// Whether any of the loaded values changes the partial result, by one comparison for all of them.
template <class Source, class Reducer, int ITEMS>
__device__ inline bool mayChange(const typename Reducer::Partial& partial, const Source& source, const Reducer& reducer,
                                 const typename Source::Step (&steps)[ITEMS]) {
  auto most = partial.value;
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    typename Source::Value values[Source::STEP];
    source.values(steps[i], values);
    most = reducer.moreExtreme(most, values);
  }
  return reducer.beats(most, partial.value);
}

// Adds ITEMS steps, STRIDE apart. All loads are issued before the first addition.
template <Caching CACHING, int STRIDE, int ITEMS, class Source, class Reducer>
__device__ inline void addSteps(typename Reducer::Partial& partial, const Source& source, const Reducer& reducer,
                                std::size_t first) {
  typename Source::Step steps[ITEMS];
  typename Source::Value values[Source::STEP];
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) source.template load<CACHING>(steps[i], first + i * STRIDE);
  if constexpr (Reducer::CHANGES_RARELY)
    if (!mayChange(partial, source, reducer, steps)) return;
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    source.values(steps[i], values);
    reducer.add(partial, values, source.head + (first + i * STRIDE) * Source::STEP);
  }
}

// The same for the steps below `end`. In place of the others, the first is loaded again: the compiler issues predicated
// loads in pairs, and each pair waits for the last (0.6 us).
template <Caching CACHING, int STRIDE, int ITEMS, class Index, class Source, class Reducer>
__device__ inline void addStepsBelow(typename Reducer::Partial& partial, const Source& source, const Reducer& reducer,
                                     Index first, Index end) {
  if (first >= end) return;
  typename Source::Step steps[ITEMS];
  typename Source::Value values[Source::STEP];
  const int count = static_cast<int>((end - first + STRIDE - 1) / STRIDE);
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) source.template load<CACHING>(steps[i], first + (i < count ? i * STRIDE : 0));
#pragma unroll
  for (int i = 0; i < ITEMS; ++i)
    if (i < count) {
      source.values(steps[i], values);
      reducer.add(partial, values, source.head + (std::size_t{first} + i * STRIDE) * Source::STEP);
    }
}

// An element before the first or after the last full step: one for each of the last block's first threads. The
// constructor loads it, so that the load overlaps those of the steps.
template <class Source, class Reducer>
struct EdgeElement {
  typename Source::Value values[1];
  std::size_t index;
  bool exists;

  __device__ EdgeElement(const Source& source, std::size_t steps, unsigned edges)
      : exists(threadIdx.x < edges && blockIdx.x == gridDim.x - 1) {
    if (!exists) return;
    index = threadIdx.x < source.head ? threadIdx.x : threadIdx.x + steps * Source::STEP;
    values[0] = source.at(index);
  }

  __device__ void addTo(typename Reducer::Partial& partial, const Reducer& reducer) const {
    if (!exists) return;
    typename Reducer::Partial edge = reducer.neutral();
    reducer.add(edge, values, index);
    partial = reducer.combiner()(partial, edge);
  }
};

GPUOPT_DETAIL_END
