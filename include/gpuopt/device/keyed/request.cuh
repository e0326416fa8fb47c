/// \file
/// What a plan needs to know of a source and of the cells of a result, in numbers.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/keyed/counters.cuh>
#include <gpuopt/device/keyed/edges.cuh>
#include <gpuopt/device/keyed/plan.cuh>
#include <gpuopt/device/keyed/runs.cuh>
#include <gpuopt/device/keyed/staged.cuh>
#include <gpuopt/host/device.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Counts of one element.
template <class Value>
inline constexpr std::size_t channelsOf = 1;
template <int CHANNELS>
inline constexpr std::size_t channelsOf<ChannelSlots<CHANNELS>> = CHANNELS;

// The values of an element that consists of bytes, one for each count.
template <class Source>
inline constexpr std::size_t byteValuesOf = 0;
template <class T, class F, bool ALIGNED>
inline constexpr std::size_t byteValuesOf<ArraySource<T, F, ALIGNED>> =
    sizeof(T) == channelsOf<typename ArraySource<T, F, ALIGNED>::Value> ? 256 * sizeof(T) : 0;

// Counters of 32 bits, or of 16.
template <class Count>
constexpr KeyedCell countCell() {
  return {4, 2, sizeof(Count), maxPackedGroups};
}

// Of any source, on the current device.
template <class Source>
KeyedRequest keyedRequest(std::size_t n, std::size_t slots, const KeyedCell& cell) {
  const int device = currentDevice();
  KeyedRequest request;
  request.n = n;
  request.slots = slots;
  request.elementBytes = Source::BYTES / Source::STEP;
  request.stepElements = Source::STEP;
  request.readsVectors = Source::VECTORS;
  request.cell = cell;
  request.sharedBytes = static_cast<std::size_t>(deviceAttribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  request.multiprocessors = static_cast<unsigned>(multiprocessorCount(device));
  return request;
}

template <class Count, class Source>
KeyedRequest histogramRequest(const Source& source, std::size_t n, std::size_t slots) {
  KeyedRequest request = keyedRequest<Source>(n, slots, countCell<Count>());
  if constexpr (canHaveRuns<Source>) request.cell.cacheBytes = RunWords<Count>::sharedBytes;
  request.channels = channelsOf<typename Source::Value>;
  request.byteValues = byteValuesOf<Source>;
  request.tableBytes = tableBytes(source.f);
  request.stageBytes = StagedForm<Source>::sharedBytes;
  return request;
}

GPUOPT_DETAIL_END
