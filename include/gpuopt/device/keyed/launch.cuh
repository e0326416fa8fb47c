/// \file
/// The way of a histogram from the public functions to its kernels: arguments, plan, one switch.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/device/keyed/kernels.cuh>
#include <gpuopt/device/keyed/partition.cuh>
#include <gpuopt/device/keyed/plan.cuh>
#include <gpuopt/device/keyed/staged.cuh>
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

// Without what depends on the function of elements.
template <class Source>
HistogramShape elementShape(std::size_t n, std::size_t slots) {
  const int device = currentDevice();
  return {n,
          slots,
          Source::BYTES / Source::STEP,
          channelsOf<typename Source::Value>,
          Source::STEP,
          0,
          0,
          static_cast<std::size_t>(deviceAttribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device)),
          static_cast<unsigned>(multiprocessorCount(device)),
          0};
}

template <class Source>
HistogramShape histogramShape(const Source& source, std::size_t n, std::size_t slots) {
  HistogramShape shape = elementShape<Source>(n, slots);
  shape.byteValues = byteValuesOf<Source>;
  shape.tableBytes = tableBytes(source.f);
  shape.stageBytes = StagedForm<Source>::sharedBytes;
  return shape;
}

template <class Source>
StepArgs stepArgs(const Source& source, std::size_t n) {
  const std::size_t steps = (n - source.head) / Source::STEP;
  return {0, steps, static_cast<unsigned>(n - steps * Source::STEP)};
}

inline LaunchConfig histogramConfig(const HistogramPlan& plan, const char* function, cudaStream_t stream) {
  LaunchConfig config = gridConfig(static_cast<int>(plan.threads), plan.blocks, stream, function);
  config.sharedBytes = plan.sharedBytes;
  return config;
}

template <class Count>
void clearCounts(const HistogramCall<Count>& call) {
  check(cudaMemsetAsync(call.counts, 0, call.slots * sizeof(Count), call.stream), "cudaMemsetAsync");
}

// The same by a kernel that overlaps the next one.
template <class Count>
void launchClearing(const HistogramCall<Count>& call) {
  const std::size_t blocks = ceilDivide(call.slots, std::size_t{4} * keyedThreads);
  launch(clearCountsKernel<Count>, gridConfig(keyedThreads, blocks, call.stream, call.function), call.counts,
         call.slots);
}

template <class Source, class Count>
void launchShared(const HistogramCall<Count>& call, const HistogramPlan& plan, Source source, const StepArgs& shape) {
  placeTable(source.f, plan.sharesTable, plan.sharedBytes - tableBytes(source.f));
  const bool stores = plan.algorithm == HistogramAlgorithm::oneBlock && !call.adds;
  const bool clears = !stores && !call.adds;
  if (clears) launchClearing(call);
  const auto kernel = stores ? sharedHistogramKernel<true, Source, Count> : sharedHistogramKernel<false, Source, Count>;
  launch(kernel, histogramConfig(plan, call.function, call.stream), source, shape, static_cast<unsigned>(call.slots),
         call.counts, clears);
}

// The same of structures that are read through shared memory.
template <class Source, class Count>
void launchStaged(const HistogramCall<Count>& call, const HistogramPlan& plan, std::size_t n, const Source& source) {
  const auto staged = StagedForm<Source>::of(source, n, plan.sharedBytes - StagedForm<Source>::sharedBytes);
  launchShared(call, plan, staged, stepArgs(staged, n));
}

template <class T, class F, bool ALIGNED, class Count>
void launchBytes(const HistogramCall<Count>& call, const HistogramPlan& plan, const ArraySource<T, F, ALIGNED>& source,
                 const StepArgs& shape) {
  using Source = ArraySource<T, Identity, ALIGNED>;
  using Slots = ByteSlots<T, F>;
  if (!call.adds) launchClearing(call);
  launch(byteHistogramKernel<Source, Slots, Count>, histogramConfig(plan, call.function, call.stream),
         Source{source.data, source.first, source.head, Identity{}}, shape,
         Slots{source.f, static_cast<unsigned>(call.slots)}, call.counts, !call.adds);
}

// Shared memory for counting long runs, which does not read the input several times; 0 if blocks do not look for them.
template <class Count, class Source>
std::size_t runBytes(const HistogramPlan& plan, const StepArgs& shape, std::size_t slots) {
  if constexpr (canHaveRuns<Source>) {
    constexpr std::size_t BYTES = RunWords<Count>::sharedBytes;
    const bool pays = plan.groups > 1 && shape.end * Source::STEP / plan.blocks >= minCachedElements;
    if (pays && BYTES <= counterWords(elementShape<Source>(shape.end, slots)) * 4) return BYTES;
  }
  return 0;
}

template <class Source, class Count>
void launchPacked(const HistogramCall<Count>& call, const HistogramPlan& plan, const Source& source,
                  const StepArgs& shape) {
  constexpr std::size_t CHANNELS = channelsOf<typename Source::Value>;
  const std::size_t runs = runBytes<Count, Source>(plan, shape, call.slots);
  LaunchConfig config = histogramConfig(plan, call.function, call.stream);
  config.sharedBytes = largerOf(config.sharedBytes, runs);
  if constexpr (keyedThreads * Source::STEP * CHANNELS <= packedLimit)
    launch(packedHistogramKernel<CHANNELS, Source, Count>, config, source, shape,
           PackedShape{static_cast<unsigned>(call.slots), static_cast<unsigned>(plan.groups),
                       static_cast<unsigned>(plan.groupSlots), runs > 0},
           call.counts);
}

// The most chunks that `elements` elements fill: full ones, and one of each range that each block leaves.
inline std::size_t mostChunks(const HistogramPlan& plan, std::size_t elements) {
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
          counters + 1 + mostPartitionRanges,
          static_cast<unsigned>(ranges)};
}

// Rounds of up to `round` elements bound the scratch memory.
template <class Source, class Count>
void launchPartition(const HistogramCall<Count>& call, const HistogramPlan& plan, const Source& source,
                     const StepArgs& shape, std::size_t round = partitionRound) {
  const std::size_t roundSteps = smallerOf(round / Source::STEP, largerOf(shape.end, std::size_t{1}));
  const std::size_t chunks = mostChunks(plan, roundSteps * Source::STEP);
  const ScratchMemory scratch(partitionBytes(chunks), call.stream);
  const Partition pool = partitionIn(scratch.data(), chunks, plan.ranges);
  const GlobalCounters<Count> counters{static_cast<unsigned>(call.slots), call.counts};
  const unsigned multiprocessors = static_cast<unsigned>(plan.blocks / partitionBlocksPerSm);
  HistogramPlan order = plan, count = plan;
  order.threads = count.threads = mostPartitionRanges;
  order.blocks = count.blocks = multiprocessors;
  order.sharedBytes = 0;
  LaunchConfig config = histogramConfig(plan, call.function, call.stream);
  config.sharedBytes = 0;
  for (std::size_t first = 0; first < shape.end; first += roundSteps) {
    const std::size_t end = smallerOf(first + roundSteps, shape.end);
    const unsigned edges = end == shape.end ? shape.edges : 0;
    check(cudaMemsetAsync(pool.used, 0, partitionCounters * sizeof(unsigned), call.stream), "cudaMemsetAsync");
    launch(partitionKernel<Source, Count>, config, source, StepArgs{first, end, edges}, pool, counters);
    launch(orderChunksKernel<Partition>, histogramConfig(order, call.function, call.stream), pool);
    launch(countChunksKernel<Count>, histogramConfig(count, call.function, call.stream), pool, counters);
  }
}

template <class Source, class Count>
void launchGlobal(const HistogramCall<Count>& call, const HistogramPlan& plan, const Source& source,
                  const StepArgs& shape) {
  launch(globalHistogramKernel<Source, Count>, histogramConfig(plan, call.function, call.stream), source, shape,
         GlobalCounters<Count>{static_cast<unsigned>(call.slots), call.counts});
}

// Launches the kernels of a plan for n > 0 elements.
template <class Source, class Count>
GPUOPT_HIDDEN void launchPlan(const HistogramCall<Count>& call, const HistogramPlan& plan, std::size_t n,
                              const Source& source) {
  const StepArgs shape = stepArgs(source, n);
  // The first three kernels store the counters, or follow one that zeroes them.
  if (plan.algorithm >= HistogramAlgorithm::packed && !call.adds) clearCounts(call);
  switch (plan.algorithm) {
    case HistogramAlgorithm::oneBlock:
    case HistogramAlgorithm::shared:
      if constexpr (StagedForm<Source>::exists)
        if (plan.stages) return launchStaged(call, plan, n, source);
      return launchShared(call, plan, source, shape);
    case HistogramAlgorithm::bytes:
      if constexpr (byteValuesOf < Source >> 0) launchBytes(call, plan, source, shape);
      return;
    case HistogramAlgorithm::packed:
      return launchPacked(call, plan, source, shape);
    case HistogramAlgorithm::partition:
      if constexpr (channelsOf<typename Source::Value> == 1) launchPartition(call, plan, source, shape);
      return;
    case HistogramAlgorithm::global:
      return launchGlobal(call, plan, source, shape);
  }
}

// Plans and launches. Arrays whose addresses rule out vectors go through this function twice, the second time element
// by element.
template <class Source, class Count>
void launchHistogram(const HistogramCall<Count>& call, std::size_t n, const Source& source) {
  if (n == 0) {
    if (!call.adds) clearCounts(call);
    return;
  }
  if constexpr (mayBeMisaligned<false, Source>)
    if (source.head < n && source.isMisaligned()) return launchHistogram(call, n, source.elementwise());
  launchPlan(call, planHistogram(histogramShape(source, n, call.slots)), n, source);
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
