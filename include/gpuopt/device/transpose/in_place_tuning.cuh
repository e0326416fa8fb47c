/// \file
/// Tuning of the transpositions in place: tile shapes, orders of tiles, scratch memory. The measurements of
/// each constant are in benchmarks/results/transpose_in_place_tuning.csv.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/transpose/in_place_pairs.cuh>
#include <gpuopt/host/device.cuh>

#include <cstddef>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// Square matrices, by the SIZE of an element in bytes.
struct SquareTuningSm90 {
  // Rows and columns of a tile whose rows begin at 16-byte boundaries.
  template <std::size_t SIZE>
  static constexpr unsigned TILE = SIZE == 1   ? 256
                                   : SIZE == 2 ? 128
                                   : SIZE <= 8 ? 64
                                               : 32;
  // Threads that move it.
  template <std::size_t SIZE>
  static constexpr unsigned THREADS = SIZE == 1 || SIZE == 8 ? 256 : 128;
  // The size limit of a tile with other rows.
  static constexpr unsigned unalignedTileBytes = 32 << 10;

  // Blocks in squares of 4 x 4 tiles: what one block leaves half written of a sector, another one completes
  // while it is still in L2.
  static constexpr TileOrder sectorOrder{4, 1};
  // Where no sector is shared, blocks from four regions of the matrix in turn: rows 128 KiB apart are in the
  // same DRAM banks, distant tiles in others.
  static constexpr TileOrder bankOrder{1, 4};
  // The smallest elements that take bankOrder.
  static constexpr std::size_t minBankOrderSize = 4;
};
using SquareTuningOther = SquareTuningSm90;  // not measured

// Calls use() with the tuning of the current device.
template <class Use>
void withSquareTuning(Use use) {
  if (computeCapability(currentDevice()) == 90)
    use(SquareTuningSm90{});
  else
    use(SquareTuningOther{});
}

}  // namespace detail
GPUOPT_NAMESPACE_END
