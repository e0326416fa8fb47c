/// \file
/// A table in constant memory, in global memory, and in global memory through the read-only path.
// SPDX-License-Identifier: MIT
#pragma once

#include "grid.cuh"

#include <cstddef>
#include <vector>

namespace experiments {

inline constexpr unsigned spaceWords = 1024;
inline constexpr unsigned spaceBlock = 256;

__constant__ unsigned constantWords[spaceWords];

struct ConstantTable {
  __device__ unsigned operator()(unsigned i) const { return constantWords[i]; }
};
struct GlobalTable {
  const unsigned* words;
  __device__ unsigned operator()(unsigned i) const { return words[i]; }
};
struct ReadOnlyTable {
  const unsigned* words;
  __device__ unsigned operator()(unsigned i) const { return __ldg(words + i); }
};

inline void setConstantTable(const unsigned* words) {
  gpuopt::check(cudaMemcpyToSymbol(constantWords, words, sizeof constantWords), "cudaMemcpyToSymbol");
}

/// out[i]: the sum of `rounds` words of the table. laneStep 0: a warp reads one word at a time; 1: its lanes
/// read 32 neighbours; 33: 32 words of as many lines.
template <class Table>
__global__ void lookUp(Table table, unsigned* out, std::size_t n, unsigned rounds, unsigned laneStep) {
  const std::size_t i = globalThread();
  if (i >= n) return;
  const unsigned first = threadIdx.x % 32 * laneStep + blockIdx.x;
  unsigned sum = 0;
#pragma unroll 8
  for (unsigned round = 0; round < rounds; ++round) sum += table((first + round) % spaceWords);
  out[i] = sum;
}

template <class Table>
void launchLookUp(Table table, unsigned* out, std::size_t n, unsigned rounds, unsigned laneStep) {
  gpuopt::launch(lookUp<Table>, gridFor(n, spaceBlock), table, out, n, rounds, laneStep);
}

inline std::vector<unsigned> lookUpOnHost(const std::vector<unsigned>& words, std::size_t n, unsigned rounds,
                                          unsigned laneStep) {
  std::vector<unsigned> out(n, 0);
  for (std::size_t i = 0; i < n; ++i)
    for (unsigned round = 0; round < rounds; ++round)
      out[i] += words[(i % 32 * laneStep + i / spaceBlock + round) % spaceWords];
  return out;
}

}  // namespace experiments
