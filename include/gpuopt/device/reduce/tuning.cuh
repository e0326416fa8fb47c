/// \file
/// How the reductions are divided among threads and blocks: their policies and thresholds.
///
/// One row serves all architectures: every value here can change the order of operations, and a reduction gives the
/// same bits on every device. Measurements: benchmarks/results/reduce_tuning.csv (H200).
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/reduce_types.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

/// How reduceRows is divided among threads and blocks. All choices follow from shape, types and alignment, never from
/// the device.
struct ReduceRowsPolicy {
  static constexpr int BLOCK = 256;        ///< threads of a block where a warp or a block takes a row
  static constexpr int SHORT_BLOCK = 128;  ///< threads of a block where rows are shorter
  static constexpr int VECTORS = 8;        ///< 16-byte loads in flight per thread
  static constexpr int BLOCK_VECTORS = 4;  ///< 16-byte loads in flight per thread where a block takes a row
  /// Bytes of shared memory in which a block stages short rows that are not aligned vectors throughout.
  static constexpr std::size_t stagedBytes = 16 << 10;
  /// Lanes that add up one of `tileRows` staged rows. A single lane needs no shuffle, and rows of odd length cause no
  /// bank conflicts; few rows need more lanes to keep the block busy.
  static constexpr unsigned stagedLanes(std::size_t tileRows) { return tileRows >= 64 ? 1 : tileRows > 16 ? 2 : 16; }
  /// Lanes that read a row, by its 16-byte vectors: up to 8 vectors each, but full lines at a time.
  static constexpr unsigned rowLanes(std::size_t vectors) {
    return vectors < 2 ? 1 : vectors < 7 ? 2 : vectors <= 32 ? 4 : vectors <= 64 ? 8 : vectors <= 128 ? 16 : 32;
  }
  static constexpr std::size_t warpRowBytes = 2 << 10;    ///< from this length on a warp takes a row
  static constexpr std::size_t blockRowBytes = 16 << 10;  ///< from this length on a block takes a row
  /// The same two for positions of extremes and for moments, whose partial results take long to combine. Only aligned
  /// rows are left to groups of lanes for longer, and to warps if there are enough rows to keep the device busy.
  static constexpr std::size_t slowWarpRowBytes = 4 << 10;
  static constexpr std::size_t slowBlockRowBytes = 64 << 10;  ///< the second of them
  static constexpr std::size_t slowWarpRows = 8192;           ///< that number of rows
  /// Few long rows are split among several blocks, up to this number of blocks in all.
  static constexpr std::size_t splitBlocks = 4096;
  static constexpr std::size_t splitBytes = 32 << 10;  ///< least bytes of a row for each of its blocks
};

/// How reduceColumns is divided among threads and blocks. All choices follow from shape, types and alignment, never
/// from the device.
struct ReduceColumnsPolicy {
  static constexpr int BLOCK = 512;        ///< threads of a block
  static constexpr int FLAT_BLOCK = 1024;  ///< the same where several rows count as one: few threads are left over
  static constexpr int VECTORS = 8;        ///< 16-byte loads in flight per thread
  /// Steps side by side in a tile; more where rows are few. A step has 16 bytes where alignment allows.
  static constexpr unsigned tileSteps = 32;
  /// The same where a step is a single element.
  static constexpr unsigned elementTileSteps = 128;
  /// The same where rows begin between 16-byte boundaries, so that neighbouring tiles overlap by one step; at least 2.
  static constexpr unsigned shiftedTileSteps = 64;
  static constexpr unsigned shiftedTileColumns = 512;  ///< most columns of such a tile
  /// Rows that are not aligned vectors throughout are read by vectors from this many columns on, and element by element
  /// below.
  static constexpr std::size_t shiftedColumns = 160;
  /// Contiguous matrices of up to this many columns are read as flat arrays, whatever their alignment.
  static constexpr std::size_t flatColumns = 512;
  /// From this many columns on, blocks of flat matrices have `FLAT_BLOCK` threads. 8 MiB of 4; 16; 333 columns reach
  /// 0.71; 0.72; 0.50 of a sum with 512 threads, 0.65; 0.68; 0.57 with 1024.
  static constexpr std::size_t flatBlockColumns = 32;
  /// Blocks of `BLOCK` threads that run at the same time on an H100 or H200. Rows are split until the grid has as many,
  /// or up to `waves` times as many.
  static constexpr std::size_t waveBlocks = 264;
  static constexpr std::size_t waves = 4;  ///< see `waveBlocks`; a power of two
  /// Smaller matrices take one wave, larger ones if their rows are aligned, or flat and of `flatBlockColumns`. Of a
  /// sum, four waves and one reach 0.61 and 0.72 for 64 MiB of 33 columns, 0.57 and 0.72 of 515, 0.70 and 0.76 of 1024;
  /// for 1 GiB of 16 0.974 and 0.953, of 515 0.915 and 0.902 (H200, 2026-11-28, a trial program).
  static constexpr std::size_t manyWavesBytes = std::size_t{512} << 20;
  /// From this many partial results per tile on, groups of blocks combine theirs first, then the groups: one block
  /// alone needed as long to combine 256 columns as the grid to read them.
  static constexpr std::size_t groupedResults = 8 << 10;
  /// Most bytes of shared memory for a block's sums; blocks of large accumulators have fewer threads.
  static constexpr std::size_t sharedBytes = 32 << 10;
  /// The same of a flat matrix, of which `FLAT_BLOCK` threads may have a partial result each.
  static constexpr std::size_t flatBytes = (48 << 10) - 128;
};

/// How reduceSegments is divided among warps. No choice depends on the device.
struct ReduceSegmentsPolicy {
  static constexpr int BLOCK = 128;                 ///< threads of a block
  static constexpr int VECTORS = 4;                 ///< 16-byte loads in flight per thread in a long segment
  static constexpr int STAGE_VECTORS = 8;           ///< the same while short segments are staged
  static constexpr unsigned stagedBytes = 4 << 10;  ///< shared memory of a warp for staged elements
  static constexpr unsigned directBytes = 1536;     ///< segments from this size on are not staged
  static constexpr unsigned stagedSegments = 256;   ///< segments whose bounds a warp stages at a time
  static constexpr unsigned laneElements = 32;      ///< elements per lane of an average staged segment
  /// Segments with a mean of up to this many elements, and up to `fewBytes`, are not staged: each lane reads its
  /// own. 1.3 times (4 and 5 floats) and 1.2 times (7) as fast as staged ones; 8 would be 2 % slower, 16 1.75 times
  /// (H200, 2026-11-23). Elements of 1 and 2 bytes are always staged.
  static constexpr unsigned fewElements = 7;
  static constexpr unsigned fewBytes = 32;           ///< see `fewElements`
  static constexpr std::size_t endCost = 8;          ///< what the end of a segment costs, in elements
  static constexpr std::size_t warps = 16384;        ///< warps that share elements and segment ends
  static constexpr std::size_t minWarpShare = 1024;  ///< least elements and end costs for each warp
  /// Segments whose mean length is at least this are reduced by blocks, 1.5 % (16 KiB) to 3 % (256 KiB) faster than by
  /// warps (H200, 2026-11-23).
  static constexpr std::size_t blockBytes = 8 << 10;
};

// Elements of more vectors are loaded by members: 12-byte structs gain 1 % from vectors, 20-byte structs lose 2 %,
// whose lines L1 keeps between the loads of members.
inline constexpr int maxStepVectors = 3;

// Results of up to this size travel as marked words, 292 blocks of them; larger ones take a ticket.
inline constexpr std::size_t maxMarkedBytes = 28;
inline constexpr std::size_t maxMarkedWords = 2048;

GPUOPT_DETAIL_END
