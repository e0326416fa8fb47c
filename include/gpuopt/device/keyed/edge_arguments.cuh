/// \file
/// The edges that callers pass: checks, and the way of those in the host's memory to the device.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/device/keyed/arguments.cuh>
#include <gpuopt/device/keyed/edges.cuh>
#include <gpuopt/device/keyed/launch.cuh>
#include <gpuopt/grid/dependency.cuh>

#include <cstddef>
#include <vector>

GPUOPT_DETAIL_BEGIN

// The type in which an element is compared with edges.
template <class It>
using EdgeOf = BinNumber<HistogramElement<It>>;

template <class It, class Edge>
constexpr bool requireEdges() {
  constexpr bool HAS_BINS = hasBins<HistogramElement<It>>;
  static_assert(HAS_BINS, "gpuopt::histogramEdges: the elements must be integers or floating-point numbers");
  if constexpr (HAS_BINS) {
    constexpr bool IS_SAME = std::is_same_v<Edge, EdgeOf<It>>;
    static_assert(IS_SAME,
                  "gpuopt::histogramEdges: the edges must have the type of the elements; floats for half precision");
    return IS_SAME;
  } else {
    return false;
  }
}

inline std::size_t binsBetweenEdges(std::size_t edges, const char* function) {
  if (edges < 2) throwInvalid({function, ": edges has ", edges, " elements, but a bin needs 2"});
  return edges - 1;
}

// Edges in the host's memory do not decrease, and none is NaN.
template <class Edge>
void requireSorted(const Edge* edges, std::size_t bins, const char* function) {
  for (std::size_t i = 0; i <= bins; ++i)
    if (!(edges[i > 0 ? i - 1 : 0] <= edges[i]))
      throwInvalid({function, ": edges are not sorted: edges[", i, "] (", numberInWords(edges[i]),
                    ") is less than the one before it, or NaN"});
}

// With GPUOPT_CHECK_POINTERS, edges in device memory are read back and checked, too; not in captures, which run later.
template <class Edge>
void requireSortedOnDevice([[maybe_unused]] const Edge* edges, [[maybe_unused]] std::size_t bins,
                           [[maybe_unused]] const char* function, [[maybe_unused]] cudaStream_t stream) {
#if GPUOPT_CHECK_POINTERS
  if (isCapturing(stream)) return;
  std::vector<Edge> copy(bins + 1);
  check(cudaMemcpyAsync(copy.data(), edges, copy.size() * sizeof(Edge), cudaMemcpyDeviceToHost, stream),
        "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  requireSorted(copy.data(), bins, function);
#endif
}

// Edges travel as arguments of kernels: no copy from the host's memory has to end first, and captures hold them.
template <class Edge>
struct EdgePart {
  static constexpr unsigned COUNT = 2048 / sizeof(Edge);
  Edge edges[COUNT];
};

template <class Edge>
GPUOPT_KERNEL void storeEdgesKernel(const EdgePart<Edge> part, const unsigned count, Edge* edges) {
  waitForPreviousKernel();
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) edges[i] = part.edges[i];
}

template <class Edge>
GPUOPT_HIDDEN void storeEdges(const Edge* from, std::size_t count, Edge* to, const char* function,
                              cudaStream_t stream) {
  constexpr std::size_t COUNT = EdgePart<Edge>::COUNT;
  for (std::size_t first = 0; first < count; first += COUNT) {
    const std::size_t size = smallerOf(count - first, COUNT);
    EdgePart<Edge> part{};
    for (std::size_t i = 0; i < size; ++i) part.edges[i] = from[first + i];
    launch(storeEdgesKernel<Edge>, gridConfig(256, 1, stream, function), part, static_cast<unsigned>(size), to + first);
  }
}

// The slots of samples between edges in device memory that are sorted.
template <class Policy, class Edge>
auto edgeSlots(const Edge* edges, std::size_t bins) {
  static_assert(!Policy::CLOSED, "gpuopt: CloseLastBin is for bins between limits: raise the last edge");
  using Slots = EdgeBins<Edge, Policy::COUNTS_OUTSIDE>;
  return Slots{edges, static_cast<unsigned>(bins), Slots::notShared};
}

// Checks an array of edges in device memory, but not what is in it.
template <class Edge>
void requireDeviceEdges(const Edge* edges, std::size_t bins, const char* function) {
  requireBins(bins, function);
  if (edges == nullptr) throwInvalid({function, ": edges is null, but bins is ", bins});
  requireArray(namedArray(edges, bins + 1, "edges"), function);
}

// Checks edges in device memory, and counts.
template <class Policy, class Count, class Edge, class It>
void histogramDeviceEdges(It in, std::size_t n, const Edge* edges, std::size_t bins, Count* counts,
                          cudaStream_t stream) {
  [[maybe_unused]] const CallRange range("gpuopt::histogramEdges");
  constexpr const char* function = "gpuopt::histogramEdges";
  requireDeviceEdges(edges, bins, function);
  requireCounts(counts, slotsOf<Policy>(bins), function);
  requireApart(edges, bins + 1, counts, slotsOf<Policy>(bins), function, "edges");
  requireSortedOnDevice(edges, bins, function, stream);
  histogramOf<Policy>(function, in, n, counts, slotsOf<Policy>(bins), edgeSlots<Policy>(edges, bins), stream);
}

// Checks `size` edges in the host's memory.
template <class Edge>
void requireHostEdges(const Edge* edges, std::size_t size, const char* function) {
  requireBins(binsBetweenEdges(size, function), function);
  requireSorted(edges, size - 1, function);
}

// Takes edges in the host's memory to the device, and calls use(edges on the device).
template <class Edge, class Use>
void withStoredEdges(const Edge* edges, std::size_t size, const char* function, cudaStream_t stream, const Use& use) {
  const ScratchMemory scratch(size * sizeof(Edge), stream);
  auto* const stored = reinterpret_cast<Edge*>(scratch.data());
  storeEdges(edges, size, stored, function, stream);
  use(static_cast<const Edge*>(stored));
}

// Checks edges in the host's memory, takes them to the device, and counts.
template <class Policy, class Count, class Edge, class It>
void histogramHostEdges(It in, std::size_t n, const Edge* edges, std::size_t size, Count* counts, cudaStream_t stream) {
  [[maybe_unused]] const CallRange range("gpuopt::histogramEdges");
  constexpr const char* function = "gpuopt::histogramEdges";
  requireHostEdges(edges, size, function);
  requireCounts(counts, slotsOf<Policy>(size - 1), function);
  requireReadable(deviceIterator(in, n, function, "in"), n, function, "in");
  withStoredEdges(edges, size, function, stream, [&](const Edge* stored) {
    const std::size_t bins = size - 1;
    histogramOf<Policy>(function, in, n, counts, slotsOf<Policy>(bins), edgeSlots<Policy>(stored, bins), stream);
  });
}

GPUOPT_DETAIL_END
