/// \file
/// The way of an array from the public functions to its kernel: planReduce decides, launchReduce launches.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/reduce/array.cuh>
#include <gpuopt/device/reduce/fold.cuh>
#include <gpuopt/device/reduce/ordered.cuh>
#include <gpuopt/device/reduce/output.cuh>
#include <gpuopt/device/reduce/reducer.cuh>
#include <gpuopt/host/result.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

enum class ReduceAlgorithm { oneTile, tiles, loop, ordered };

// Which kernel reduces an array, and in which grid.
struct ReducePlan {
  ReduceAlgorithm algorithm;
  ReduceGrid grid;
  std::size_t steps;  // full steps of the input
  unsigned edges;     // elements outside full steps
  std::size_t rows;   // of a warp in the ordered kernel
  bool streams;       // whether loads bypass L1

  std::size_t warps() const { return grid.blocks * grid.threads / 32; }
};

// Threads of a block if one tile of the input is work for `wanted` threads: a single block if they are few.
template <class Policy>
std::size_t blockThreads(std::size_t wanted, std::size_t bytes) {
  const auto most = static_cast<std::size_t>(Policy::BLOCK);
  if (wanted <= most) return clampTo(roundUp(wanted, 32), std::size_t{128}, most);
  return bytes <= Policy::tileBytes ? smallerOf(static_cast<std::size_t>(Policy::tileThreads(bytes)), most) : most;
}

template <class Policy, class Source, class Partial>
void planOrdered(ReducePlan& plan, std::size_t bytes) {
  constexpr std::size_t MOST = mostOrderedRows<Policy, Source>;
  const int rows = Policy::orderedRows(bytes);
  plan.algorithm = ReduceAlgorithm::ordered;
  plan.rows = rows >= 8 ? MOST : smallerOf(std::size_t{rows >= 4 ? 4u : 2u}, MOST);
  const std::size_t groups = ceilDivide(plan.steps, 32 * plan.rows);
  const std::size_t threads = blockThreads<Policy>(32 * groups, bytes);
  const std::size_t most = smallerOf(std::size_t{Policy::loopBlocks(bytes)}, mostBlocks<Partial>);
  const std::size_t blocks = clampTo(ceilDivide(groups, threads / 32), std::size_t{1}, most);
  plan.grid = {threads, blocks, blocks > 1};
}

template <class Policy, class Source, class Partial>
void planTiles(ReducePlan& plan, std::size_t bytes) {
  constexpr std::size_t ITEMS = tileItems<Policy, Source>;
  constexpr std::size_t BLOCK = Policy::BLOCK;
  const std::size_t elements = plan.steps * Source::STEP;
  const std::size_t few = smallerOf(ceilDivide(elements, Policy::oneBlockElements), std::size_t{256});
  const std::size_t wanted = largerOf(ceilDivide(plan.steps, ITEMS), few);
  // The last block needs a thread for each edge element.
  const std::size_t threads = largerOf(blockThreads<Policy>(wanted, bytes), roundUp(plan.edges, 32));
  const std::size_t blocks = largerOf(ceilDivide(plan.steps, ITEMS * threads), std::size_t{1});
  if (bytes <= Policy::tileBytes && blocks <= smallerOf(BLOCK, mostBlocks<Partial>)) {
    plan.algorithm = blocks == 1 ? ReduceAlgorithm::oneTile : ReduceAlgorithm::tiles;
    plan.grid = {threads, blocks, blocks > 1};
  } else {
    plan.algorithm = ReduceAlgorithm::loop;
    plan.grid = {BLOCK, smallerOf(std::size_t{Policy::loopBlocks(bytes)}, mostBlocks<Partial>), true};
  }
}

// The plan for n elements, `head` of them before the first step. It depends on sizes and types alone.
template <class Policy, class Source, class Partial>
ReducePlan planReduce(std::size_t head, std::size_t n) {
  static_assert(Policy::BLOCK % 32 == 0 && Policy::BLOCK >= 160 && Policy::BLOCK <= 1024,
                "gpuopt::ReducePolicy: BLOCK must be a multiple of 32 from 160 to 1024 (up to 142 elements "
                "belong to no step)");
  ReducePlan plan{};
  plan.steps = (n - head) / Source::STEP;
  plan.edges = static_cast<unsigned>(n - plan.steps * Source::STEP);
  const std::size_t bytes = plan.steps * Source::BYTES;
  plan.streams = bytes <= Policy::streamedBytes;
  if constexpr (Policy::IN_ORDER)
    planOrdered<Policy, Source, Partial>(plan, bytes);
  else
    planTiles<Policy, Source, Partial>(plan, bytes);
  return plan;
}

inline TileShape tileShape(const ReducePlan& plan) {
  const std::size_t warpShare = roundUp(ceilDivide(plan.steps, plan.warps()), 32);
  return {static_cast<unsigned>(plan.steps), static_cast<unsigned>(warpShare), plan.edges};
}

template <class Policy, class Source>
LoopShape loopShape(const ReducePlan& plan) {
  const std::size_t tiles = ceilDivide(plan.steps, std::size_t{itemsPerThread<Policy, Source>} * plan.grid.threads);
  return {plan.steps, plan.edges, static_cast<unsigned>(tiles / plan.grid.blocks),
          static_cast<unsigned>(tiles % plan.grid.blocks), plan.streams};
}

inline OrderedShape orderedShape(const ReducePlan& plan) {
  return {plan.steps, ceilDivide(ceilDivide(plan.steps, 32 * plan.rows), plan.warps()), plan.edges};
}

// Launches the kernel that planReduce chooses. Arrays whose addresses rule out vectors go through this function twice,
// the second time element by element.
template <class Policy, class Source, class Reducer, class Out>
void launchReduce(const ReduceCall& call, const Reducer& reducer, std::size_t n, const Source& source, const Out& out) {
  if constexpr (mayBeMisaligned<hasFixedSteps<Policy>, Source>)
    if (source.head < n && source.isMisaligned())
      return launchReduce<Policy>(call, reducer, n, source.elementwise(), out);
  const ReducePlan plan = planReduce<Policy, Source, typename Reducer::Partial>(source.head, n);
  if constexpr (Policy::IN_ORDER) {
    const auto kernel = orderedKernel<Policy, Source, Reducer, Out>(plan.rows, plan.streams);
    launchGrid(call, plan.grid, kernel, source, reducer, orderedShape(plan), out);
  } else if (plan.algorithm == ReduceAlgorithm::loop) {
    const auto kernel = reduceLoopKernel<Policy, Source, Reducer, Out>;
    launchGrid(call, plan.grid, kernel, source, reducer, loopShape<Policy, Source>(plan), out);
  } else {
    const auto kernel = plan.algorithm == ReduceAlgorithm::oneTile
                            ? reduceTileKernel<true, Policy, Source, Reducer, Out>
                            : reduceTileKernel<false, Policy, Source, Reducer, Out>;
    launchGrid(call, plan.grid, kernel, source, reducer, tileShape(plan), out);
  }
}

// Reduces f of one element of each input, n elements each. The result goes to device memory,
template <class Policy, class Reducer, class Out, class F, class... Its>
void reduceToDevice(const ReduceCall& call, const Reducer& reducer, Out& out, std::size_t n, const F& f, Its... in) {
  [[maybe_unused]] const CallRange range(call.function);
  requireResult(reducer, n, "n", call.function);
  const auto destination = destinationOf<typename Reducer::Result>(out, call.function);
  const auto source = sourceOf<hasFixedSteps<Policy>>(call.function, n, f, in...);
  launchReduce<Policy>(call, reducer, n, source, destination);
}

// or back to the caller, who waits for it.
template <class Policy, class Reducer, class F, class... Its>
auto reduceToHost(const ReduceCall& call, const Reducer& reducer, std::size_t n, const F& f, Its... in) {
  [[maybe_unused]] const CallRange range(call.function);
  requireResult(reducer, n, "n", call.function);
  requireNotCapturing(call.stream, call.function);
  HostResult<typename Reducer::Result> result;
  const auto source = sourceOf<hasFixedSteps<Policy>>(call.function, n, f, in...);
  launchReduce<Policy>(call, reducer, n, source, result.destination());
  return unbox(result.wait(call.stream));
}

// The number of elements of two ranges.
template <class Range1, class Range2>
std::size_t commonSize(const char* function, const Range1& first, const Range2& second) {
  if (sizeOf(first) != sizeOf(second))
    throwInvalid({function, ": the inputs have ", sizeOf(first), " and ", sizeOf(second), " elements"});
  return sizeOf(first);
}

GPUOPT_DETAIL_END
