/// \file
/// Bins between sorted edges, which blocks search in shared memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/device/keyed/bins.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// bins + 1 edges in global memory. A block that has a copy in dynamic shared memory finds it at byte `sharedOffset`.
template <class Edge, bool OUTSIDE>
struct EdgeBins {
  static constexpr unsigned notShared = ~0u;
  const Edge* edges;
  unsigned bins;
  unsigned sharedOffset;

  __device__ const Edge* table() const {
    if (sharedOffset == notShared) return edges;
    return reinterpret_cast<const Edge*>(dynamicShared<unsigned char>() + sharedOffset);
  }

  // The last bin whose lower edge is not above the element.
  template <class T>
  __device__ unsigned operator()(const T& element) const {
    const Edge x = static_cast<Edge>(element);
    const Edge* const sorted = table();
    if (!(x >= sorted[0] && x < sorted[bins])) return slotOf<OUTSIDE>(false, 0, x, sorted[0], bins);
    unsigned bin = 0, end = bins;
    while (end - bin > 1) {
      const unsigned middle = bin + (end - bin) / 2;
      if (x < sorted[middle])
        end = middle;
      else
        bin = middle;
    }
    return bin;
  }
};

// Copies a table of edges into shared memory. Other functions of elements have none.
template <class F>
__device__ inline void shareTable(const F&) {}

template <class Edge, bool OUTSIDE>
__device__ inline void shareTable(const EdgeBins<Edge, OUTSIDE>& bins) {
  if (bins.sharedOffset == EdgeBins<Edge, OUTSIDE>::notShared) return;
  auto* const table = reinterpret_cast<Edge*>(dynamicShared<unsigned char>() + bins.sharedOffset);
  for (unsigned i = threadIdx.x; i <= bins.bins; i += blockDim.x) table[i] = bins.edges[i];
}

// Says where the table is in shared memory, if it is.
template <class F>
void placeTable(F&, bool, std::size_t) {}

template <class Edge, bool OUTSIDE>
void placeTable(EdgeBins<Edge, OUTSIDE>& bins, bool isShared, std::size_t offset) {
  if (isShared) bins.sharedOffset = static_cast<unsigned>(offset);
}

// Bytes of the table, rounded up to vectors; 0 if there is none.
template <class F>
std::size_t tableBytes(const F&) {
  return 0;
}

template <class Edge, bool OUTSIDE>
std::size_t tableBytes(const EdgeBins<Edge, OUTSIDE>& bins) {
  return roundUp((std::size_t{bins.bins} + 1) * sizeof(Edge), 16);
}

GPUOPT_DETAIL_END
