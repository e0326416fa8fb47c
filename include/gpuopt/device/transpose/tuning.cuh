/// \file
/// Every threshold and tile shape of the out-of-place transposition. The measurements behind them are in
/// benchmarks/results/transpose_tuning.csv.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/core/integers.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Skinny matrices: most threads of a block, threads of a multiprocessor (2048 would spill registers) and 16-byte loads
// in flight of a thread.
constexpr unsigned skinnyMaxThreads = 512;
constexpr unsigned skinnyMinThreadsPerSm = 1536;
constexpr unsigned skinnyLoadsInFlight = 4;

// What the plan compares with. The defaults are those of sm_90.
struct TransposeTuning {
  // Small tiles: one matrix of at most this many elements, divided by the reads of an element; counted by the larger of
  // the two elements.
  std::size_t smallElements = 4 << 20;
  std::size_t smallElementsOf2Or4Bytes = 2 << 20;
  // The same if all rows are 16-byte aligned and elements have 16 bytes.
  std::size_t smallElementsOf16Bytes = 2 << 20;
  // The same if all rows are 16-byte aligned and the smaller element has less than 4 bytes: vectors move several such
  // elements at once.
  std::size_t smallAlignedElements = 1 << 19;
  // The same for skinny matrices; counts the elements of full tiles.
  std::size_t smallSkinnyElements = 1 << 18;
  // Above this, elements of 16 bytes take tall tiles: one wave of blocks instead of two.
  std::size_t tallElements = 1 << 19;

  // Runs: dense batches of matrices of up to this size in the larger element; a sub-word run keeps input and output in
  // shared memory.
  std::size_t runMatrixBytes = 128 << 10;
  std::size_t subwordMatrixBytes = 48 << 10;
  // Smaller batches, of matrices larger than `evenRunBytes`, leave multiprocessors idle.
  std::size_t minBatch = 256;
  // From here on, matrices made of full aligned tiles are faster as tiles.
  std::size_t tiledMatrixBytes = 32 << 10;
  // A block's run: this size if matrices fill it exactly, else about `runBytes`, or up to `alignedRunBytes` if all
  // blocks then begin at 128-byte or 32-byte boundaries. Runs of 2 KiB gain 1 % on an H100 for words of 4 and 8 bytes,
  // and lose 6 to 15 % on an H200 (2026-11-28).
  std::size_t evenRunBytes = 4 << 10;
  std::size_t runBytes = 8 << 10;
  std::size_t alignedRunBytes = 16 << 10;
  // Words of a sub-word run: gathered by periods if the sources repeat after at most `periodBytes` and have at most
  // this degree of bank conflict, else column by column, `columnBytes` a thread.
  std::size_t periodBytes = 5 << 10;
  std::size_t runPeriods = 4;
  unsigned periodConflicts = 3;
  std::size_t columnBytes = 128;
  // Least rows and columns of matrices that are transposed by 4 x 4 byte permutations.
  std::size_t permutedSide = 16;

  // Column panels: matrices of this size with at least `panelSide` rows and columns, in panels of about `panelBytes`.
  std::size_t panelMinBytes = 60 << 10;
  std::size_t panelMatrixBytes = 160 << 10;
  std::size_t panelSide = 64;
  std::size_t panelBytes = 16 << 10;

  // Skinny matrices: the most rows or columns, and shared memory of a block. A thread moves `skinnyThreadBytes`.
  std::size_t skinnyLines = 32;
  std::size_t skinnySharedBytes = 48 << 10;
  unsigned skinnyThreadBytes = 64;
  unsigned skinnyThreads = skinnyMaxThreads;  // of a block, at most
  // More lines, such as 49 x 2048, if records have no gaps: the most lines of bytes, and of larger elements as rows or
  // as columns of the input. Shares of the best copy, H200, 2026-11-23: 49 lines of bytes 0.97 (staged tiles: 0.31 and
  // 0.24), of 4 bytes 0.97 to 0.99 (0.77 and 0.57); 255 lines of 8 bytes as columns 0.97 (0.98).
  std::size_t manyLines = 256;
  std::size_t manyRows = 200;
  std::size_t manyColumns = 170;
  // The same if lines begin within vectors (loads) or sectors (stores), from `manyOddBytes` on: 33 to 112 lines of 1001
  // bytes 0.57 to 0.85 (staged tiles: 0.13 to 0.83), 128 lines 0.57 and 0.81 (0.65 and 0.91); 4 MiB of 4097 x 63 bytes
  // take 1.2 times as long as by staged tiles.
  std::size_t manyOddLines = 112;
  std::size_t manyOddBytes = 16 << 20;
  // More aligned columns of bytes than that are faster from 32 MiB on: 7 MiB of 960 x 189 0.50 (staged tiles: 0.65), 6
  // MiB of 28576 x 114 0.60 (0.63), 31 MiB of 1024 x 196 0.90 (0.83).
  std::size_t manyByteColumns = 72;
  std::size_t manyByteColumnsBytes = 32 << 20;
  // The same for functions that change the size of an element: 49 rows of bytes to floats 0.92 (staged tiles: 0.48),
  // 100 rows 0.77 (0.86); 49 columns 0.73 (0.57), 63 columns 0.66 (0.69).
  std::size_t manyCastRows = 64;
  std::size_t manyCastColumns = 56;  // and of unaligned lines of 8 bytes: 49 lines 0.96 (0.90), 63 lines 0.95 (0.96)
  // Fewer blocks leave multiprocessors idle: 2 MiB of 3000 x 35 of 4 bytes, 184 blocks, 0.81 (staged tiles: 0.87).
  std::size_t manyLinesBlocks = 192;
  // From here on, dense matrices that would be runs: 49 x 256 to 640 of 4 and 8 bytes gain 0.03 to 0.07.
  std::size_t manyLinesRunBytes = 48 << 10;
  // Aligned tiles that would be filled by less than four fifths: the most lines, and for inputs from
  // `manyLinesTileBytes` on, any number. 49 lines of 16 bytes 0.98 to 1.0 (tiles: 0.96); 100 x 1000 of 8 bytes 0.97
  // (0.92), 8 MiB of them 0.68 (0.78).
  // Rows of 4 bytes that become records at odd multiples of 16 bytes, as of 196 x 1024, are faster from there on, too:
  // 0.97 (sector-aligned tiles: 0.94).
  std::size_t manyLinesOfTiles = 80;
  std::size_t manyLinesTileBytes = 64 << 20;

  // Registers: aligned matrices of at most this size, all of a batch together, are in the L2 cache.
  std::size_t registerBytes = 4 << 20;
  std::size_t registerBytesOf1Or2Bytes = 16 << 20;
  // Tiles of 4-byte elements: those of half the threads up to here.
  std::size_t halfBlockBytes = 16 << 20;
  // Sector-aligned tiles: the least number of full ones with neighbours above and below.
  std::size_t sectorTiles = 900;
  // Blocks take columns of tiles from 2^k regions in turn, k = 1 to 3, if 2^k times this is the largest power of two
  // that divides the pitch of the input, and each region has `regionRows`.
  std::size_t regionBytes = 64 << 10;
  std::size_t regionRows = 256;

  // Elements of 16 bytes in rows of up to this pitch take narrow tiles: batches of 128 x 128 and 256 x 256 1.02 times
  // as fast, of 100 x 100 1.09, of 192 x 192 0.997 (H200, 2026-11-28).
  std::size_t narrowRowBytes = 4 << 10;

  // Any alignment: inputs from here on take the wide tile.
  std::size_t wideBytes = 32 << 20;
  std::size_t wideBytesOf2Bytes = 256 << 20;
};

// Where it was measured, as in sm_90.
inline constexpr int transposeArchitecture = 90;

// The tuning of a device of another architecture. This is a model, and unmeasured: limits that keep a matrix within
// the L2 cache are the same share of it as of an H200's, 50 MiB, and limits that keep multiprocessors busy the same
// number of blocks for each of them, of which an H200 has 132. All others stay as on an H200.
constexpr TransposeTuning modelledTuning(std::size_t multiprocessors, std::size_t l2Bytes) {
  constexpr std::size_t MEASURED_MULTIPROCESSORS = 132, MEASURED_L2_BYTES = std::size_t{50} << 20;
  const auto byL2 = [=](std::size_t& limit) { limit = limit / 1024 * l2Bytes / (MEASURED_L2_BYTES / 1024); };
  const auto byBlocks = [=](std::size_t& limit) { limit = limit * multiprocessors / MEASURED_MULTIPROCESSORS; };
  TransposeTuning tuning;
  byL2(tuning.registerBytes);
  byL2(tuning.registerBytesOf1Or2Bytes);
  byL2(tuning.manyOddBytes);
  byL2(tuning.manyByteColumnsBytes);
  byBlocks(tuning.minBatch);
  byBlocks(tuning.manyLinesBlocks);
  return tuning;
}

// The largest matrices, all of a batch together, that registers transpose; by the bytes of the smaller element.
constexpr std::size_t registerLimit(unsigned bytes, const TransposeTuning& tuning) {
  return bytes <= 2 ? tuning.registerBytesOf1Or2Bytes : tuning.registerBytes;
}

// --- Tile shapes. They are template arguments: one set for all architectures.

// Rows, columns and threads of a block.
struct TransposeTileShape {
  unsigned rows;
  unsigned cols;
  unsigned threads;
};

// Tiles of aligned rows by the bytes of an element: `tile` x `side` threads move `tile` x `tile` elements. Tiles of
// matrices whose output rows begin within sectors have their own shape; 16-byte elements have none. Registers must
// suffice for minThreadsPerSm.
struct VectorTileTuning {
  unsigned bytes;
  int tile;
  int side;
  int sectorTile;
  int sectorSide;
  int minThreadsPerSm;
};

GPUOPT_HIDDEN inline constexpr VectorTileTuning vectorTiles[] = {
    {1, 256, 1, 256, 1, 640}, {2, 128, 2, 128, 2, 768}, {4, 64, 4, 64, 4, 1280},
    {8, 32, 8, 64, 8, 1536},  {16, 32, 16, 0, 0, 2048},
};

// Rows are in the order of powers of two.
constexpr const VectorTileTuning& vectorTile(std::size_t bytes) {
  const VectorTileTuning* row = vectorTiles;
  while (row->bytes < bytes) ++row;
  return *row;
}

constexpr bool hasVectorTile(std::size_t bytes) { return bytes <= 16 && (bytes & (bytes - 1)) == 0; }

// The blocks that a multiprocessor should hold. Tiles in more than 144 KiB would leave the L1 cache too little for
// loads in flight.
template <std::size_t SIZE>
constexpr int residentTiles(unsigned threads, std::size_t tileBytes) {
  const int byMemory = static_cast<int>((std::size_t{144} << 10) / tileBytes);
  return clampTo(vectorTile(SIZE).minThreadsPerSm / static_cast<int>(threads), 1, largerOf(byMemory, 1));
}

// A function that changes the size of an element needs registers for both.
constexpr int residentCastTiles(unsigned threads) {
  return largerOf(vectorTile(2).minThreadsPerSm / static_cast<int>(threads), 1);
}

// As many bytes of a row on both sides, if a function changes the size of an element.
constexpr TransposeTileShape castTileShape(std::size_t inBytes, std::size_t outBytes) {
  const VectorTileTuning& smaller = vectorTile(smallerOf(inBytes, outBytes));
  return {static_cast<unsigned>(vectorTile(outBytes).tile), static_cast<unsigned>(vectorTile(inBytes).tile),
          static_cast<unsigned>(smaller.tile * smaller.side)};
}

constexpr TransposeTileShape vectorTileShape(std::size_t inBytes, std::size_t outBytes) {
  if (inBytes != outBytes) return castTileShape(inBytes, outBytes);
  const VectorTileTuning& row = vectorTile(inBytes);
  return {static_cast<unsigned>(row.tile), static_cast<unsigned>(row.tile), static_cast<unsigned>(row.tile * row.side)};
}

// A warp more brings the halo.
constexpr TransposeTileShape sectorTileShape(std::size_t bytes) {
  const VectorTileTuning& row = vectorTile(bytes);
  return {static_cast<unsigned>(row.sectorTile), static_cast<unsigned>(row.sectorTile),
          static_cast<unsigned>(row.sectorTile * row.sectorSide + 32)};
}

GPUOPT_HIDDEN inline constexpr TransposeTileShape threeByteTileShape{128, 128, 256};

// Elements of 4 bytes, by half the threads: blocks start and end sooner.
GPUOPT_HIDDEN inline constexpr TransposeTileShape halfBlockTileShape{64, 64, 128};

// Elements of 16 bytes in short rows.
GPUOPT_HIDDEN inline constexpr TransposeTileShape narrowTileShape{32, 16, 256};

// Warps of 8 x 4 threads, one square of vectors a thread: fewer bytes a thread take more threads.
struct RegisterWarps {
  unsigned down;
  unsigned across;
};

constexpr RegisterWarps registerWarps(std::size_t smallerBytes) {
  return {smallerBytes < 8 ? 1U : 2U, smallerBytes < 16 ? 2U : 4U};
}

// The largest power of two of elements that fits.
constexpr unsigned elementsIn(std::size_t bytes, std::size_t elementBytes) {
  unsigned elements = 1;
  while (2 * elements * elementBytes <= bytes) elements *= 2;
  return elements;
}

constexpr TransposeTileShape registerTileShape(std::size_t inBytes, std::size_t outBytes) {
  const RegisterWarps warps = registerWarps(smallerOf(inBytes, outBytes));
  return {8 * warps.down * elementsIn(16, outBytes), 4 * warps.across * elementsIn(16, inBytes),
          32 * warps.down * warps.across};
}

constexpr unsigned copyThreads = 256;

constexpr TransposeTileShape smallTileShape(std::size_t largerBytes, bool isTall) {
  return largerBytes < 16 ? TransposeTileShape{32, 32, 256} : TransposeTileShape{isTall ? 32U : 16U, 16, 128};
}

constexpr unsigned runThreads(std::size_t bytes) {
  return bytes <= (10 << 10) ? 128 : bytes <= (20 << 10) ? 256 : bytes <= (50 << 10) ? 512 : 1024;
}

constexpr unsigned panelThreads = 256;

// Small blocks are fastest for aligned lines, as long as each gets 256 bytes.
constexpr unsigned skinnyThreads(bool toRecords, bool isAligned, std::size_t lines) {
  if (toRecords) return isAligned || lines < 16 ? 256 : 512;
  if (isAligned) return lines <= 16 ? 64 : 128;
  return lines < 8 ? 128 : 512;
}

// Neighbouring lanes that take neighbouring vectors of a line, 8, 16 or 32. Bytes of several unaligned lines have bank
// conflicts of degree 4; a warp on one line has none.
constexpr unsigned skinnyLanes(std::size_t imageBytes, bool isAligned) {
  return imageBytes == 1 && !isAligned ? 32 : 16;
}

// More than 32 lines: the bytes of each that a tile has, two lines of memory or one. 196 rows, H200, 2026-11-23: 256
// bytes 0.96 to 0.98, 128 bytes 0.96 to 0.985, and from 1 to 64 MiB 0.02 to 0.23 more.
constexpr unsigned manyLinesBytes(bool toRecords, bool isAligned, std::size_t lines, unsigned elementBytes) {
  if (toRecords) return lines <= 170 || elementBytes == 1 ? 256 : 128;
  return isAligned && lines <= 170 ? 256 : 128;
}

// Rows of the input, H200, 2026-11-23: 49 of bytes, 128 threads 0.97, 256 threads 0.95; 112 of 1 to 8 bytes, 256
// threads 0.91 to 0.97, 512 threads 0.96 to 0.99.
constexpr unsigned manyLinesThreads(bool toRecords, std::size_t lines, std::size_t tileBytes, unsigned elementBytes) {
  if (toRecords) return lines <= (elementBytes == 1 ? 50 : 40) ? 128 : lines <= 104 ? 256 : 512;
  return tileBytes <= (9 << 10) ? 128 : tileBytes <= (18 << 10) ? 256 : 512;
}

// Any alignment: stores have `storeBytes`.
struct RowsTileShape : TransposeTileShape {
  unsigned storeBytes;

  constexpr bool operator!=(const RowsTileShape& other) const {
    return rows != other.rows || cols != other.cols || threads != other.threads || storeBytes != other.storeBytes;
  }
};

constexpr RowsTileShape rowsMoveTile(std::size_t bytes, bool isWide) {
  if (bytes == 1) return isWide ? RowsTileShape{{128, 384, 1024}, 4} : RowsTileShape{{128, 256, 512}, 4};
  if (bytes == 2) return {{isWide ? 128U : 64U, 256, 512}, 4};
  if (bytes == 3) return {{64, 128, 512}, 4};
  if (bytes == 4) return {{96, 128, 1024}, 4};
  if (bytes == 6) return {{64, 64, 512}, 4};
  if (bytes == 8) return {{32, 64, 512}, 4};
  if (bytes == 16) return {{32, 32, 512}, 4};
  return {{32, elementsIn(1024, bytes), 512}, 4};
}

// Stores are words, or four elements where these become wider.
constexpr RowsTileShape rowsCastTile(std::size_t inBytes, std::size_t outBytes, bool isWide) {
  const bool widens = inBytes < outBytes;
  const unsigned rows = outBytes == 1 || (inBytes == 1 && outBytes <= 4) ? 128 : outBytes <= 8 ? 64 : 32;
  const unsigned wanted =
      widens ? elementsIn(outBytes < 8 * inBytes ? 256 : 128, inBytes) : smallerOf(elementsIn(512, inBytes), 128U);
  const unsigned fitting = elementsIn(std::size_t{isWide ? 128U : 64U} << 10, 2 * inBytes * rows);
  const auto vector = static_cast<unsigned>(smallerOf<std::size_t>(4 * outBytes, 16));
  return {{rows, smallerOf(fitting, wanted), inBytes == 1 ? 1024U : 512U}, widens ? vector : 4};
}

// The wide tile needs 70 to 90 KiB of shared memory.
constexpr RowsTileShape rowsTileShape(std::size_t inBytes, std::size_t outBytes, bool isWide) {
  return inBytes == outBytes ? rowsMoveTile(inBytes, isWide) : rowsCastTile(inBytes, outBytes, isWide);
}

GPUOPT_DETAIL_END
