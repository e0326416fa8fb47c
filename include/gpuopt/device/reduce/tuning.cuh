/// \file
/// How the reductions are divided among threads and blocks: their policies and thresholds.
///
/// One row serves all architectures: every value here can change the order of operations, and a reduction gives the
/// same bits on every device. Measurements: benchmarks/results/reduce_tuning.csv (H200).
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cstddef>

GPUOPT_NAMESPACE_BEGIN

/// How a device-wide reduction is divided among threads and blocks. To change a value, derive a type and pass it as the
/// second template argument. All choices follow from the number of bytes, never from the device.
struct ReducePolicy {
  static constexpr int BLOCK = 512;  ///< most threads of a block
  static constexpr int VECTORS = 8;  ///< 16-byte loads in flight per thread
  /// Whether a load of an array takes 32 bytes: one instruction from sm_100 on, two before. Unmeasured. Without effect
  /// on pairs of arrays, and on policies whose order is the same at every alignment.
  static constexpr bool WIDE_LOADS = false;
  static constexpr bool BY_LENGTH = false;  ///< whether the order is the same at every alignment
  static constexpr bool IN_ORDER = false;   ///< whether operands are combined in the order of the input

  /// Most elements per thread where each block takes one tile. More would unroll into more instructions, and a cold
  /// cache loads those from memory.
  static constexpr int TILE_ELEMENTS = 32;
  /// Elements per thread of a single block, as long as it has no more than 256 threads.
  static constexpr std::size_t oneBlockElements = 32;
  /// Largest input for which each block takes one tile. Above, blocks loop over tiles.
  static constexpr std::size_t tileBytes = 16 << 20;
  /// Largest input whose loads bypass L1 and are evicted from L2 first. Above, each block reads one contiguous range
  /// with plain loads, 3 to 5 % faster.
  static constexpr std::size_t streamedBytes = std::size_t{384} << 20;

  /// Threads of each of several blocks that take one tile, by the bytes of the input.
  static constexpr int tileThreads(std::size_t bytes) {
    return bytes <= (256 << 10) ? 128 : bytes <= (4 << 20) ? 256 : 512;
  }
  /// Number of blocks that loop over tiles. 256 divides inputs of 2^k bytes evenly. Above `streamedBytes` there are
  /// seven for each one that runs at the same time on an H100 or H200, so that slow multiprocessors take fewer of them.
  static constexpr unsigned loopBlocks(std::size_t bytes) { return bytes <= streamedBytes ? 256 : 7 * waveBlocks; }
  /// Two blocks for each multiprocessor of an H100 or H200. Where the results of `loopBlocks` blocks are too large to
  /// be combined, there are a multiple of this number.
  static constexpr unsigned waveBlocks = 264;
};

/// The policy of results that depend on n and the types alone: the order of ReducePolicy also depends on where the
/// input begins relative to a 128-byte boundary. The price: misaligned input is read element by element.
struct ByLength : ReducePolicy {
  static constexpr bool BY_LENGTH = true;  ///< the order is the same at every alignment
};

/// The policy of operations that are associative but not commutative: operands are combined in the order of the input.
struct InOrder : ByLength {
  static constexpr bool IN_ORDER = true;  ///< operands are combined in the order of the input
  /// Number of blocks, each of which takes one range.
  static constexpr unsigned loopBlocks(std::size_t bytes) { return bytes <= streamedBytes ? 256 : waveBlocks; }
  /// Rows of 32 steps that a warp has in flight, 2, 4 or 8. Fewer rows spread small inputs over more warps.
  static constexpr int orderedRows(std::size_t bytes) { return bytes <= (4 << 20) ? 2 : bytes <= (16 << 20) ? 4 : 8; }
};

namespace detail {

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
  static constexpr int BLOCK = 512;  ///< threads of a block
  static constexpr int VECTORS = 8;  ///< 16-byte loads in flight per thread
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
  /// Rows are split among blocks until the grid has this many.
  static constexpr std::size_t blocks = 1056;
  /// Blocks of `BLOCK` threads that run at the same time on an H100 or H200.
  static constexpr std::size_t waveBlocks = 264;
  /// From this many partial results per tile on, groups of blocks combine theirs first, then the groups: one block
  /// alone needed as long to combine 256 columns as the grid to read them.
  static constexpr std::size_t groupedResults = 8 << 10;
  /// Most bytes of shared memory for a block's sums; blocks of large accumulators have fewer threads.
  static constexpr std::size_t sharedBytes = 32 << 10;
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
inline constexpr int mostStepVectors = 3;

// Results of up to this size travel as marked words, 292 blocks of them; larger ones take a ticket.
inline constexpr std::size_t mostMarkedBytes = 28;
inline constexpr std::size_t mostMarkedWords = 2048;

}  // namespace detail

/// How rows are divided; for the library alone.
using ReduceRowsPolicy [[deprecated("gpuopt: the library's own; ReducePolicy is for reduce()")]] =
    detail::ReduceRowsPolicy;
/// How columns are divided; for the library alone.
using ReduceColumnsPolicy [[deprecated("gpuopt: the library's own; ReducePolicy is for reduce()")]] =
    detail::ReduceColumnsPolicy;
/// How segments are divided; for the library alone.
using ReduceSegmentsPolicy [[deprecated("gpuopt: the library's own; ReducePolicy is for reduce()")]] =
    detail::ReduceSegmentsPolicy;

GPUOPT_NAMESPACE_END
