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
  [[maybe_unused]] const PackedArgs<Count> args{static_cast<unsigned>(call.slots), call.counts,
                                                static_cast<unsigned>(plan.groups),
                                                static_cast<unsigned>(plan.groupSlots), plan.followsRuns};
  if (plan.followsRuns) launchRuns(call, plan, source, shape);
  if constexpr (Source::STEP * CHANNELS <= maxPackedStep)
    launchCounting<PackedCounters<CHANNELS, Count>>(call, plan, source, shape, args);
}

// The chunks that a block needs at most for a round of `steps` steps: full ones, and one of each range.
template <class Source>
std::size_t blockChunksOf(const KeyedPlan& plan, std::size_t steps) {
  constexpr std::size_t TILE = partitionThreads * std::size_t{partitionSteps<Source>};
  const std::size_t blockTiles = ceilDivide(ceilDivide(steps, TILE), plan.blocks);
  return ceilDivide(blockTiles * TILE * Source::STEP, partitionChunk) + plan.ranges;
}

inline std::size_t partitionBytes(const KeyedPlan& plan, std::size_t chunks) {
  return chunks * (partitionChunk * sizeof(unsigned short) + 2 * sizeof(SizedChunk)) +
         (plan.blocks + partitionCounters) * sizeof(unsigned);
}

inline Partition partitionIn(unsigned char* memory, const KeyedPlan& plan, std::size_t blockChunks) {
  const std::size_t chunks = blockChunks * plan.blocks;
  auto* const sized = reinterpret_cast<SizedChunk*>(memory + chunks * partitionChunk * sizeof(unsigned short));
  auto* const usedOf = reinterpret_cast<unsigned*>(sized + 2 * chunks);
  unsigned bits = 0;
  while (std::size_t{1} << bits < plan.ranges) ++bits;
  return {{static_cast<unsigned>(plan.request.slots), bits},
          static_cast<unsigned>(blockChunks),
          reinterpret_cast<unsigned short*>(memory),
          sized,
          sized + chunks,
          usedOf,
          usedOf + plan.blocks,
          usedOf + plan.blocks + maxPartitionRanges};
}

// Rounds bound the scratch memory.
template <class Source, class Count>
void launchPartition(const HistogramCall<Count>& call, const KeyedPlan& plan, const Source& source,
                     const StepArgs& shape) {
  const std::size_t roundSteps = smallerOf(plan.round / Source::STEP, largerOf(shape.end, std::size_t{1}));
  const std::size_t blockChunks = blockChunksOf<Source>(plan, roundSteps);
  const ScratchMemory scratch(partitionBytes(plan, blockChunks * plan.blocks), call.stream);
  const Partition pool = partitionIn(scratch.data(), plan, blockChunks);
  const SlotsArgs<Count> result{static_cast<unsigned>(call.slots), call.counts};
  KeyedPlan collect = plan, order = plan, count = plan;
  collect.sharedBytes = sizeof(PartitionStage);
  order.sharedBytes = 0;
  count.threads = keyedThreads;
  count.blocks = plan.blocks / partitionBlocksPerSm;
  if (plan.followsRuns) launchRuns(call, count, source, shape);
  const StepArgs sampled = plan.followsRuns ? shape : StepArgs{0, 0, 0};
  for (std::size_t first = 0; first < shape.end; first += roundSteps) {
    const std::size_t end = smallerOf(first + roundSteps, shape.end);
    const unsigned edges = end == shape.end ? shape.edges : 0;
    check(cudaMemsetAsync(pool.chunksOf, 0, partitionCounters * sizeof(unsigned), call.stream), "cudaMemsetAsync");
    launch(partitionKernel<Source, Count>, keyedConfig(collect, call.function, call.stream), source,
           StepArgs{first, end, edges}, sampled, pool, result);
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

template <class Source, class Count>
KeyedPlan planHistogram(const HistogramCall<Count>& call, std::size_t n, const Source& source) {
  KeyedRequest request = histogramRequest<Count>(source, n, call.slots);
  request.adds = call.adds;
  return planKeyed(request);
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
  const HistogramCall<Count> call{function, stream, counts, slots, Policy::ADDS};
  withReadable<false>(source, n,
                      [&](const auto& readable) { launchPlan(call, planHistogram(call, n, readable), readable); });
}

GPUOPT_DETAIL_END
