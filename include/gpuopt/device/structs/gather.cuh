/// \file
/// The kernel of gatherStructs and scatterStructs.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/device/structs/tuning.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/host/launch.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// The side of the copy that is indexed: in for a gather, out for a scatter.
enum class Indexed { in, out };

// The unsigned integer that an index is read as, so that types of one size share a kernel: no index is negative.
template <class Index>
using IndexWord =
    std::conditional_t<sizeof(Index) == 1, unsigned char,
                       std::conditional_t<sizeof(Index) == 2, unsigned short,
                                          std::conditional_t<sizeof(Index) == 4, unsigned, unsigned long long>>>;

// Moves n structures of ATOMS atoms each. Neighbouring lanes move neighbouring atoms, so that each sector of a
// structure is requested once, and the side without indices is contiguous.
template <class Atom, class Index, unsigned ATOMS, Indexed SIDE>
GPUOPT_KERNEL void __launch_bounds__(indexedBlock, indexedBlocksPerSm)
    moveIndexedKernel(const Atom* in, const Index* indices, std::size_t n, Atom* out) {
  waitForPreviousKernel();
  constexpr unsigned TILE = indexedBlock * indexedLoadsInFlight;
  const std::size_t begin = blockIdx.x * std::size_t{TILE};
  const std::size_t left = n * ATOMS - begin;
  const unsigned count = left < TILE ? static_cast<unsigned>(left) : TILE;
  // 32-bit arithmetic within a tile, relative to the structure in which the tile begins.
  const std::size_t firstStruct = begin / ATOMS;
  const auto skipped = static_cast<unsigned>(begin - firstStruct * ATOMS);
  const auto own = [&](unsigned k) { return k * indexedBlock + threadIdx.x; };

  std::size_t indexed[indexedLoadsInFlight];
#pragma unroll
  for (unsigned k = 0; k < indexedLoadsInFlight; ++k) {
    const unsigned atom = skipped + (own(k) < count ? own(k) : 0);
    indexed[k] = static_cast<std::size_t>(indices[firstStruct + atom / ATOMS]) * ATOMS + atom % ATOMS;
  }
  Atom atoms[indexedLoadsInFlight];
#pragma unroll
  for (unsigned k = 0; k < indexedLoadsInFlight; ++k)
    atoms[k] = in[SIDE == Indexed::in ? indexed[k] : begin + (own(k) < count ? own(k) : 0)];
#pragma unroll
  for (unsigned k = 0; k < indexedLoadsInFlight; ++k)
    if (own(k) < count) out[SIDE == Indexed::out ? indexed[k] : begin + own(k)] = atoms[k];
}

// n is not 0. Atoms have ATOM_BYTES, or fewer if an address is not aligned to that.
template <std::size_t ATOM_BYTES, Indexed SIDE, class T, class Index>
void launchMoveIndexed(const T* in, const Index* indices, std::size_t n, T* out, const char* function,
                       cudaStream_t stream) {
  [[maybe_unused]] const CallRange range(function);
  if constexpr (ATOM_BYTES > leastAlignment<T>)
    if (!alignedTo(in, ATOM_BYTES) || !alignedTo(out, ATOM_BYTES))
      return launchMoveIndexed<ATOM_BYTES / 2, SIDE>(in, indices, n, out, function, stream);
  using Atom = Word<ATOM_BYTES>;
  constexpr auto ATOMS = static_cast<unsigned>(sizeof(T) / ATOM_BYTES);
  const std::size_t blocks = ceilDivide(n * ATOMS, indexedBlock * indexedLoadsInFlight);
  launch(moveIndexedKernel<Atom, IndexWord<Index>, ATOMS, SIDE>, gridConfig(indexedBlock, blocks, stream, function),
         reinterpret_cast<const Atom*>(in), reinterpret_cast<const IndexWord<Index>*>(indices), n,
         reinterpret_cast<Atom*>(out));
}

GPUOPT_DETAIL_END
