/// \file
/// The way of an array from the public functions to its kernel, which planReduce chooses.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/reduce/array.cuh>
#include <gpuopt/device/reduce/fold.cuh>
#include <gpuopt/device/reduce/ordered.cuh>
#include <gpuopt/device/reduce/output.cuh>
#include <gpuopt/device/reduce/plan.cuh>
#include <gpuopt/device/reduce/reducer.cuh>
#include <gpuopt/host/result.cuh>

#include <cstddef>
#include <string>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// The request of n elements, `head` of them before the first step.
template <class Policy, class Source, class Reducer>
ReduceRequest reduceRequest(std::size_t head, std::size_t n) {
  ReduceRequest request;
  request.n = n;
  request.head = head;
  request.stepElements = Source::STEP;
  request.stepBytes = Source::BYTES;
  request.tileItems = tileItems<Policy, Source>;
  request.loopItems = itemsPerThread<Policy, Source>;
  request.orderedRows = maxOrderedRows<Policy, Source>;
  request.maxBlocks = maxBlocks<typename Reducer::Partial>;
  request.resultBytes = sizeof(typename Reducer::Result);
  request.readsVectors = Source::VECTORS;
  return request;
}

inline ReduceTileArgs tileArgs(const ReducePlan& plan) {
  const std::size_t warpShare = roundUp(ceilDivide(plan.steps, plan.warps()), 32);
  return {static_cast<unsigned>(plan.steps), static_cast<unsigned>(warpShare), plan.edges};
}

inline ReduceLoopArgs loopArgs(const ReducePlan& plan) {
  const std::size_t tiles = ceilDivide(plan.steps, plan.request.loopItems * plan.grid.threads);
  return {plan.steps, plan.edges, static_cast<unsigned>(tiles / plan.grid.blocks),
          static_cast<unsigned>(tiles % plan.grid.blocks), plan.streams};
}

inline ReduceOrderedArgs orderedArgs(const ReducePlan& plan) {
  return {plan.steps, ceilDivide(ceilDivide(plan.steps, 32 * plan.rows), plan.warps()), plan.edges};
}

// Launches the kernel that planReduce chooses.
template <class Policy, class Source, class Reducer, class Out>
void launchReduce(const ReduceCall& call, const Reducer& reducer, std::size_t n, const Source& vectors,
                  const Out& out) {
  withReadable<hasFixedSteps<Policy>>(vectors, n, [&](const auto& readable) {
    const auto source = asLoaded<Policy, hasFixedSteps<Policy>>(readable);
    using Readable = std::decay_t<decltype(source)>;
    const auto request = reduceRequest<Policy, Readable, Reducer>(source.head, n);
    const ReducePlan plan = planReduce<Policy>(request);
    if constexpr (Policy::IN_ORDER) {
      const auto kernel = orderedKernel<Policy, Readable, Reducer, Out>(plan.rows, plan.streams);
      launchGrid(call, plan.grid, kernel, source, reducer, orderedArgs(plan), out);
    } else if (plan.algorithm == ReduceAlgorithm::loop) {
      const auto kernel = reduceLoopKernel<Policy, Readable, Reducer, Out>;
      launchGrid(call, plan.grid, kernel, source, reducer, loopArgs(plan), out);
    } else {
      const auto kernel = plan.algorithm == ReduceAlgorithm::oneTile
                              ? reduceTileKernel<true, Policy, Readable, Reducer, Out>
                              : reduceTileKernel<false, Policy, Readable, Reducer, Out>;
      launchGrid(call, plan.grid, kernel, source, reducer, tileArgs(plan), out);
    }
  });
}

// The plan of an array in words.
template <class Policy, class Reducer, class It>
std::string arrayInWords(const char* function, It in, std::size_t n) {
  std::string text;
  const auto vectors = sourceOf<hasFixedSteps<Policy>>(function, n, Identity{}, in);
  withReadable<hasFixedSteps<Policy>>(vectors, n, [&](const auto& readable) {
    const auto source = asLoaded<Policy, hasFixedSteps<Policy>>(readable);
    using Readable = std::decay_t<decltype(source)>;
    const auto request = reduceRequest<Policy, Readable, Reducer>(source.head, n);
    text = planInWords(planReduce<Policy>(request));
  });
  return text;
}

template <class Policy, class Reducer, class It>
std::string explainArray(const char* function, const Reducer& reducer, It in, std::size_t n) {
  requireResult(reducer, n, "n", function);
  return arrayInWords<Policy, Reducer>(function, in, n);
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
