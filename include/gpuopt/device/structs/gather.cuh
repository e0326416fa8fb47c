/// \file
/// Structures that are picked from, or spread over, an array by index: the kernel that moves them.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/array_check.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/host/grid_config.cuh>
#include <gpuopt/host/launch.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// Which side of the copy the indices speak of.
enum class Indexed { in, out };

// Neighbouring lanes move neighbouring units of one structure together, so that every sector of it is asked
// for once, and the side without indices is one run of units. A thread has `indexedUnits` of them in flight.
inline constexpr int indexedBlock = 256;
inline constexpr int indexedBlocks =
    4;  // of a multiprocessor: without that, ptxas saves registers and loads wait
inline constexpr unsigned indexedUnits = 4;

// The integer that an index is read as: those of one size share a kernel, since none is negative.
template <class Index>
using IndexWord = std::conditional_t<
    sizeof(Index) == 1, unsigned char,
    std::conditional_t<sizeof(Index) == 2, unsigned short,
                       std::conditional_t<sizeof(Index) == 4, unsigned, unsigned long long>>>;

// Moves n structures of PARTS units each.
template <Indexed SIDE, class Unit, unsigned PARTS, class Index>
GPUOPT_KERNEL void __launch_bounds__(indexedBlock, indexedBlocks)
    moveIndexedKernel(const Unit* in, const Index* indices, std::size_t n, Unit* out) {
  waitForPreviousKernel();
  constexpr unsigned TILE = indexedBlock * indexedUnits;
  const std::size_t begin = blockIdx.x * std::size_t{TILE};
  const std::size_t left = n * PARTS - begin;
  const unsigned count = left < TILE ? static_cast<unsigned>(left) : TILE;
  // Within a tile, 32 bits do: they count from the first unit of the structure in which the tile begins.
  const std::size_t first = begin / PARTS;
  const auto skipped = static_cast<unsigned>(begin - first * PARTS);
  const auto mine = [&](unsigned k) { return k * indexedBlock + threadIdx.x; };

  std::size_t places[indexedUnits];
#pragma unroll
  for (unsigned k = 0; k < indexedUnits; ++k) {
    const unsigned unit = skipped + (mine(k) < count ? mine(k) : 0);
    places[k] = static_cast<std::size_t>(indices[first + unit / PARTS]) * PARTS + unit % PARTS;
  }
  Unit units[indexedUnits];
#pragma unroll
  for (unsigned k = 0; k < indexedUnits; ++k)
    units[k] = in[SIDE == Indexed::in ? places[k] : begin + (mine(k) < count ? mine(k) : 0)];
#pragma unroll
  for (unsigned k = 0; k < indexedUnits; ++k)
    if (mine(k) < count) out[SIDE == Indexed::out ? places[k] : begin + mine(k)] = units[k];
}

// n is not 0. UNIT bytes move at a time, fewer where an address does not allow it.
template <Indexed SIDE, std::size_t UNIT, class T, class Index>
void launchMoveIndexed(const T* in, const Index* indices, std::size_t n, T* out, const char* function,
                       cudaStream_t stream) {
  if constexpr (UNIT > leastAlignment<T>)
    if (!alignedTo(in, UNIT) || !alignedTo(out, UNIT))
      return launchMoveIndexed<SIDE, UNIT / 2>(in, indices, n, out, function, stream);
  using Unit = Word<UNIT>;
  constexpr auto PARTS = static_cast<unsigned>(sizeof(T) / UNIT);
  const std::size_t blocks = ceilDivide(n * PARTS, indexedBlock * indexedUnits);
  launch(moveIndexedKernel<SIDE, Unit, PARTS, IndexWord<Index>>,
         gridConfig(indexedBlock, blocks, stream, function), reinterpret_cast<const Unit*>(in),
         reinterpret_cast<const IndexWord<Index>*>(indices), n, reinterpret_cast<Unit*>(out));
}

}  // namespace detail
GPUOPT_NAMESPACE_END
