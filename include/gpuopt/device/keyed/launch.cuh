/// \file
/// The way of a histogram from the public functions to its kernels: arguments, plan, one switch.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/device/keyed/kernels.cuh>
#include <gpuopt/device/keyed/partition.cuh>
#include <gpuopt/device/keyed/request.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/host/memory.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Where the counts go. The name is for messages.
template <class Count>
struct HistogramCall {
  const char* function;
  cudaStream_t stream;
  Count* counts;
  std::size_t slots;
  bool adds;  // to what is there
};

template <class Source>
StepArgs stepArgs(const Source& source, std::size_t n) {
  const std::size_t steps = (n - source.head) / Source::STEP;
  return {0, steps, static_cast<unsigned>(n - steps * Source::STEP)};
}

inline LaunchConfig keyedConfig(const KeyedPlan& plan, const char* function, cudaStream_t stream) {
  LaunchConfig config = gridConfig(static_cast<int>(plan.threads), plan.blocks, stream, function);
  config.sharedBytes = plan.sharedBytes;
  return config;
}

template <class Count>
void clearCounts(const HistogramCall<Count>& call) {
  check(cudaMemsetAsync(call.counts, 0, call.slots * sizeof(Count), call.stream), "cudaMemsetAsync");
}

// Calls forCell(i) for each of the cells of a result.
template <class ForCell>
void launchForCells(const ForCell& forCell, std::size_t cells, const char* function, cudaStream_t stream) {
  const std::size_t blocks = clampTo(ceilDivide(cells, 256), std::size_t{1}, std::size_t{1024});
  launch(eachCellKernel<ForCell>, gridConfig(256, blocks, stream, function), forCell, static_cast<unsigned>(cells));
}

template <class Counters, class Source, class Count>
void launchCounting(const HistogramCall<Count>& call, const KeyedPlan& plan, const Source& source,
                    const StepArgs& shape, const typename Counters::Args& args) {
  launch(histogramKernel<Counters, Source>, keyedConfig(plan, call.function, call.stream), source, shape, args,
         plan.clearing == KeyedClearing::kernel);
}

template <class Source, class Count>
void launchShared(const HistogramCall<Count>& call, const KeyedPlan& plan, Source source, const StepArgs& shape) {
  const SlotsArgs<Count> args{static_cast<unsigned>(call.slots), call.counts};
  placeTable(source.f, plan.sharesTable, plan.sharedBytes - tableBytes(source.f));
  if (plan.algorithm == KeyedAlgorithm::oneBlock && !call.adds)
    launchCounting<SharedCounters<true, Count>>(call, plan, source, shape, args);
  else
    launchCounting<SharedCounters<false, Count>>(call, plan, source, shape, args);
}

// The same of structures that are read through shared memory.
template <class Source, class Count>
void launchStaged(const HistogramCall<Count>& call, const KeyedPlan& plan, std::size_t n, const Source& source) {
  const auto staged = StagedForm<Source>::of(source, n, plan.sharedBytes - StagedForm<Source>::sharedBytes);
  launchShared(call, plan, staged, stepArgs(staged, n));
}

template <class T, class F, bool ALIGNED, class Count>
void launchBytes(const HistogramCall<Count>& call, const KeyedPlan& plan, const ArraySource<T, F, ALIGNED>& source,
                 const StepArgs& shape) {
  const ArraySource<T, Identity, ALIGNED> bytes{source.data, source.first, source.head, Identity{}};
  launchCounting<ByteCounters<ByteSlots<T, F>, Count>>(
      call, plan, bytes, shape, {ByteSlots<T, F>{source.f}, static_cast<unsigned>(call.slots), call.counts});
}

template <class Source, class Count>
void launchRuns(const HistogramCall<Count>& call, const KeyedPlan& plan, const Source& source, const StepArgs& shape) {
  if constexpr (canHaveRuns<Source>) {
    LaunchConfig config = keyedConfig(plan, call.function, call.stream);
    config.sharedBytes = plan.request.cell.cacheBytes;
    launch(runsHistogramKernel<Source, Count>, config, source, shape, static_cast<unsigned>(call.slots), call.counts);
  }
}

template <class Source, class Count>
void launchPacked(const HistogramCall<Count>& call, const KeyedPlan& plan, const Source& source,
                  const StepArgs& shape) {
  constexpr std::size_t CHANNELS = channelsOf<typename Source::Value>;
  if (plan.followsRuns) launchRuns(call, plan, source, shape);
  if constexpr (keyedThreads * Source::STEP * CHANNELS <= packedLimit)
    launchCounting<PackedCounters<CHANNELS, Count>>(
        call, plan, source, shape,
        {static_cast<unsigned>(call.slots), call.counts, static_cast<unsigned>(plan.groups),
         static_cast<unsigned>(plan.groupSlots), plan.followsRuns});
}

// The most chunks that `elements` elements fill: full ones, and one of each range that each block leaves.
inline std::size_t maxChunks(const KeyedPlan& plan, std::size_t elements) {
  return elements / partitionChunk + plan.blocks * plan.ranges;
}

inline std::size_t partitionBytes(std::size_t chunks) {
  return chunks * (partitionChunk * sizeof(unsigned short) + 3 * sizeof(unsigned)) +
         partitionCounters * sizeof(unsigned);
}

inline Partition partitionIn(unsigned char* memory, std::size_t chunks, std::size_t ranges) {
  auto* const numbers = reinterpret_cast<unsigned*>(memory + chunks * partitionChunk * sizeof(unsigned short));
  unsigned* const counters = numbers + 3 * chunks;
  return {reinterpret_cast<unsigned short*>(memory),
          numbers,
          numbers + chunks,
          numbers + 2 * chunks,
          counters,
          counters + 1,
          counters + 1 + maxPartitionRanges,
          static_cast<unsigned>(ranges)};
}

// Rounds bound the scratch memory.
template <class Source, class Count>
void launchPartition(const HistogramCall<Count>& call, const KeyedPlan& plan, const Source& source,
                     const StepArgs& shape) {
  const std::size_t roundSteps = smallerOf(plan.round / Source::STEP, largerOf(shape.end, std::size_t{1}));
  const std::size_t chunks = maxChunks(plan, roundSteps * Source::STEP);
  const ScratchMemory scratch(partitionBytes(chunks), call.stream);
  const Partition pool = partitionIn(scratch.data(), chunks, plan.ranges);
  const SlotsArgs<Count> result{static_cast<unsigned>(call.slots), call.counts};
  const unsigned multiprocessors = static_cast<unsigned>(plan.blocks / partitionBlocksPerSm);
  KeyedPlan order = plan, count = plan;
  order.threads = count.threads = maxPartitionRanges;
  order.blocks = count.blocks = multiprocessors;
  order.sharedBytes = 0;
  LaunchConfig config = keyedConfig(plan, call.function, call.stream);
  config.sharedBytes = 0;
  for (std::size_t first = 0; first < shape.end; first += roundSteps) {
    const std::size_t end = smallerOf(first + roundSteps, shape.end);
    const unsigned edges = end == shape.end ? shape.edges : 0;
    check(cudaMemsetAsync(pool.used, 0, partitionCounters * sizeof(unsigned), call.stream), "cudaMemsetAsync");
    launch(partitionKernel<Source, Count>, config, source, StepArgs{first, end, edges}, pool, result);
    launch(orderChunksKernel<Partition>, keyedConfig(order, call.function, call.stream), pool);
    launch(countChunksKernel<Count>, keyedConfig(count, call.function, call.stream), pool, result);
  }
}

// Launches the kernels of a plan.
template <class Source, class Count>
GPUOPT_HIDDEN void launchPlan(const HistogramCall<Count>& call, const KeyedPlan& plan, const Source& source) {
  const std::size_t n = plan.request.n;
  const StepArgs shape = stepArgs(source, n);
  if (plan.clearing == KeyedClearing::memory) clearCounts(call);
  if (plan.clearing == KeyedClearing::kernel)
    launchForCells(FillCells<Count>{call.counts, 0}, call.slots, call.function, call.stream);
  switch (plan.algorithm) {
    case KeyedAlgorithm::nothing:
    case KeyedAlgorithm::cluster:
      return;
    case KeyedAlgorithm::oneBlock:
    case KeyedAlgorithm::shared:
      if constexpr (StagedForm<Source>::exists)
        if (plan.stages) return launchStaged(call, plan, n, source);
      return launchShared(call, plan, source, shape);
    case KeyedAlgorithm::bytes:
      if constexpr ((byteValuesOf<Source>) > 0) launchBytes(call, plan, source, shape);
      return;
    case KeyedAlgorithm::packed:
      return launchPacked(call, plan, source, shape);
    case KeyedAlgorithm::partition:
      if constexpr (channelsOf<typename Source::Value> == 1) launchPartition(call, plan, source, shape);
      return;
    case KeyedAlgorithm::global:
      return launchCounting<GlobalCounters<Count>>(call, plan, source, shape,
                                                   {static_cast<unsigned>(call.slots), call.counts});
  }
}

// Plans and launches.
template <class Source, class Count>
void launchHistogram(const HistogramCall<Count>& call, std::size_t n, const Source& source) {
  withReadable<false>(source, n, [&](const auto& readable) {
    KeyedRequest request = histogramRequest<Count>(readable, n, call.slots);
    request.adds = call.adds;
    launchPlan(call, planKeyed(request), readable);
  });
}

// The slots of a histogram: its bins, and those of elements outside.
template <class Policy>
std::size_t slotsOf(std::size_t bins) {
  return bins + (Policy::COUNTS_OUTSIDE ? 2 : 0);
}

// Checks where the counts go.
template <class Count>
void requireCounts(Count* counts, std::size_t slots, const char* function) {
  if (counts == nullptr) throwInvalid({function, ": counts is null, but there are ", slots, " counters"});
  requireArray(namedArray(counts, slots, "counts"), function);
}

// Input in memory does not overlap the counts.
template <class It, class Count>
void requireApart(It in, std::size_t n, Count* counts, std::size_t slots, const char* function,
                  const char* name = "in") {
  if constexpr (std::is_pointer_v<It>)
    if (n > 0) requireDisjoint(namedArray(in, n, name), namedArray(counts, slots, "counts"), function);
}

// Counts slots, a function of each of n elements: checks the arguments, and launches if there is anything to do. `name`
// is what the public function calls its input.
template <class Policy, class Count, class F, class It>
void histogramOf(const char* function, It in, std::size_t n, Count* counts, std::size_t slots, const F& slotOfElement,
                 cudaStream_t stream, const char* name = "in") {
  [[maybe_unused]] const CallRange range(function);
  requireCounts(counts, slots, function);
  requireReadable(deviceIterator(in, n, function, name), n, function, name);
  const auto source = sourceOf<false>(function, n, slotOfElement, in);
  requireApart(Unwrap<It>::pointer(in), n, counts, slots, function, name);
  launchHistogram(HistogramCall<Count>{function, stream, counts, slots, Policy::ADDS}, n, source);
}

GPUOPT_DETAIL_END
