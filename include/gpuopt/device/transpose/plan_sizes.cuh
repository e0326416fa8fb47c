/// \file
/// How runs, column panels and skinny matrices are divided among blocks.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/access.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/transpose/byte_run.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/device/transpose/tuning.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Indices within a run are divided by a ShortDivisor.
constexpr std::size_t runMaxElements = std::size_t{1} << ShortDivisor::BITS;

// A block's share of a batch of dense matrices.
struct RunSizes {
  std::size_t matrices;
  unsigned threads;
  std::size_t sharedBytes;
  unsigned period;       // words after which their sources repeat; 0 if words are made column by column
  unsigned segmentRows;  // rows that a thread then takes at a time
};

// Whole matrices of about this size: if possible as many as let all blocks begin at lines, or at sectors.
inline std::size_t matricesOfRun(const TransposeFacts& f, std::size_t bytes, const TransposeTuning& tuning) {
  const auto area = static_cast<unsigned>(f.area);
  const unsigned matrixBytes = area * f.larger;
  const auto multipleOf = [&](unsigned boundary) {
    const auto common = static_cast<unsigned>(powerOfTwoIn(area * f.inBytes | area * f.outBytes | boundary));
    const unsigned matrices = boundary / common;
    const bool fits = matrices * matrixBytes <= tuning.alignedRunBytes && matrices * area <= runMaxElements;
    return fits ? matrices : 0;
  };
  const unsigned lines = multipleOf(128);
  const unsigned unit = lines > 0 ? lines : largerOf(multipleOf(sectorBytes), 1U);
  const unsigned wanted = (static_cast<unsigned>(bytes) + unit * matrixBytes / 2) / (unit * matrixBytes);
  const unsigned units = smallerOf(wanted, static_cast<unsigned>(runMaxElements) / (unit * area));
  return smallerOf<std::size_t>(f.batch, largerOf(units, 1U) * unit);
}

// Elements after which the words of the output have their sources at the same indices again.
inline std::size_t periodElements(const TransposeFacts& f) {
  return f.area * (f.wordResults / powerOfTwoIn(f.area * f.atoms | f.wordResults));
}

// The degree of the bank conflict if each lane of a warp reads the first source of its word.
inline unsigned sourceConflicts(const TransposeFacts& f) {
  const auto area = static_cast<unsigned>(f.area);
  const auto rows = static_cast<unsigned>(f.rows);
  const auto cols = static_cast<unsigned>(f.cols);
  const auto wordAddress = [&](unsigned lane) {
    const unsigned atom = lane * f.wordResults;
    const unsigned element = atom / f.atoms;
    const unsigned inside = element % area;
    const unsigned source = element - inside + inside % rows * cols + inside / rows;
    return (source * f.atoms + atom % f.atoms) * f.sourceBytes / 4 * 4;
  };
  return sharedAccess<4>(wordAddress).degree;
}

// A thread reads rows of the next column, too, to complete its last word.
inline bool canGoByColumns(const TransposeFacts& f) { return f.rows >= 2 * f.wordResults; }

inline bool canGoByPeriods(const TransposeFacts& f, const TransposeTuning& tuning) {
  return periodElements(f) * f.larger <= tuning.periodBytes;
}

// Rounds the block up by at most 25 % if more than 20 % of its threads would idle.
inline unsigned periodThreads(unsigned threads, unsigned period) {
  const unsigned busy = threads / period * period;
  const auto more = static_cast<unsigned>(roundUp(busy + period, 32));
  return busy > 0 && busy * 5 < threads * 4 && more * 4 <= threads * 5 ? more : threads;
}

inline RunSizes runSizes(const TransposeFacts& f, const TransposeTuning& tuning) {
  const unsigned pack = f.wordResults;
  const bool isEven = tuning.evenRunBytes % static_cast<unsigned>(f.area * f.larger) == 0;
  std::size_t bytes = isEven ? tuning.evenRunBytes : tuning.runBytes;
  const bool byPeriods =
      pack > 1 && canGoByPeriods(f, tuning) && (!canGoByColumns(f) || sourceConflicts(f) <= tuning.periodConflicts);
  if (byPeriods) bytes = largerOf(bytes, tuning.runPeriods * periodElements(f) * f.larger);
  RunSizes run{};
  run.matrices = matricesOfRun(f, bytes, tuning);
  const std::size_t elements = run.matrices * f.area;
  run.threads = runThreads(elements * f.larger);
  run.sharedBytes = sharedFor(elements * f.inBytes);
  if (pack > 1) run.sharedBytes += sharedFor(elements * f.outBytes);
  if (byPeriods) {
    run.period = static_cast<unsigned>(periodElements(f)) * f.atoms / pack;
    run.threads = periodThreads(run.threads, run.period);
  } else if (pack > 1) {
    const std::size_t parts = ceilDivide(f.rows * f.resultBytes, tuning.columnBytes);
    run.segmentRows = static_cast<unsigned>(ceilDivide(f.rows, parts * pack) * pack);
  }
  return run;
}

inline RunSizes permutedRunSizes(const TransposeFacts& f, const TransposeTuning& tuning) {
  RunSizes run{};
  run.matrices = matricesOfRun(f, tuning.evenRunBytes, tuning);
  const std::size_t bytes = run.matrices * f.area * f.larger;
  run.threads = runThreads(bytes);
  run.sharedBytes = 2 * sharedFor(bytes);
  return run;
}

// How the columns of a matrix are divided among blocks: in groups that are full sectors on both sides.
struct PanelSizes {
  unsigned panels;       // of a matrix
  unsigned groupCols;    // columns of a group
  unsigned groups;       // of a matrix
  unsigned widestBytes;  // of a row of the widest panel
};

inline PanelSizes panelSizes(const TransposeFacts& f, const TransposeTuning& tuning) {
  const std::size_t groupCols = sectorBytes / powerOfTwoIn(f.inBytes | sectorBytes);
  const std::size_t groups = ceilDivide(f.cols, groupCols);
  const std::size_t wanted = (f.area * f.inBytes + tuning.panelBytes / 2) / tuning.panelBytes;
  const std::size_t panels = clampTo(wanted, std::size_t{1}, groups);
  const std::size_t widest = smallerOf(ceilDivide(groups, panels) * groupCols, f.cols) * f.inBytes;
  return {static_cast<unsigned>(panels), static_cast<unsigned>(groupCols), static_cast<unsigned>(groups),
          static_cast<unsigned>(widest)};
}

// A skinny matrix has a few long lines on one side and many short records on the other. A block keeps an image of some
// records in shared memory.
struct SkinnySizes {
  bool toRecords;  // the lines are rows of the input
  std::size_t records;
  unsigned lines;
  unsigned tile;     // records of a block
  unsigned halo;     // records that a tile shares with the one before
  unsigned margin;   // bytes on both sides of the image
  unsigned lanes;    // that take neighbouring vectors of a line
  unsigned vectors;  // of all lines of a tile
  unsigned threads;
  std::size_t sharedBytes;
};

// The records of a tile: lines of full groups of vectors if they fit, else of full sectors.
inline unsigned skinnyTile(const SkinnySizes& sizes, unsigned tileBytes, unsigned lineBytes, unsigned imageBytes,
                           bool hasExtraVector) {
  const auto elementsOf = [lineBytes](unsigned power) {
    return power / static_cast<unsigned>(powerOfTwoIn(power | lineBytes));
  };
  const unsigned sectorElements = elementsOf(sectorBytes);
  const unsigned maxRecords = tileBytes / (sizes.lines * largerOf(lineBytes, imageBytes));
  const unsigned group = elementsOf(sizes.lanes * 16);
  const unsigned unit = group <= maxRecords ? group : sectorElements;
  const auto records = static_cast<unsigned>(smallerOf<std::size_t>(sizes.records, maxRecords));
  const unsigned units = clampTo(maxRecords / unit, 1U, ceilDivide32(records, unit));
  // Leaves room for the extra vector of a misaligned line.
  return units * unit - (hasExtraVector && group <= maxRecords ? sectorElements : 0);
}

// Vectors of a line are loaded from 16-byte boundaries and stored to sector boundaries.
inline bool hasAlignedLines(const TransposeFacts& f) {
  if (f.rows <= f.cols) return !f.sourceIsWord() || f.inAligned >= 16;
  return !f.resultIsWord() || f.outAligned >= sectorBytes;
}

inline SkinnySizes skinnySizes(const TransposeFacts& f, const TransposeTuning& tuning) {
  SkinnySizes sizes{};
  sizes.toRecords = f.rows <= f.cols;
  sizes.records = largerOf(f.rows, f.cols);
  sizes.lines = static_cast<unsigned>(smallerOf(f.rows, f.cols));
  const unsigned line = sizes.toRecords ? f.sourceBytes : f.resultBytes;
  const unsigned image = sizes.toRecords ? f.resultBytes : f.sourceBytes;
  const unsigned imageAlign = sizes.toRecords ? f.outAlign : f.inAlign;
  const bool isWord = sizes.toRecords ? f.sourceIsWord() : f.resultIsWord();
  const bool isAligned = hasAlignedLines(f);
  const bool hasExtraVector = sizes.toRecords && !isAligned;
  const unsigned lineBytes = line * f.atoms;
  const unsigned imageBytes = image * f.atoms;
  if (sizes.lines <= tuning.skinnyLines) {
    sizes.threads = smallerOf(skinnyThreads(sizes.toRecords, isAligned, sizes.lines), tuning.skinnyThreads);
    sizes.lanes = skinnyLanes(image, isAligned);
    sizes.tile = skinnyTile(sizes, sizes.threads * tuning.skinnyThreadBytes, lineBytes, imageBytes, hasExtraVector);
  } else {
    const unsigned bytes = manyLinesBytes(sizes.toRecords, isAligned, sizes.lines, line);
    sizes.threads = manyLinesThreads(sizes.toRecords, sizes.lines, sizes.lines * bytes, line);
    sizes.lanes = bytes / 16;
    sizes.tile = (bytes - (hasExtraVector ? sectorBytes : 0)) / lineBytes;
  }
  // A tile's stores begin at sectors, its loads at vectors.
  if (!sizes.toRecords && !isAligned) sizes.halo = ceilDivide32(sectorBytes - line, lineBytes);
  if (sizes.toRecords && f.onlyMoves) sizes.margin = roundUpTo((16 + imageBytes) * sizes.lines, 128U);
  const unsigned pack = isWord ? 16 / line : 1;
  const unsigned vectors = ceilDivide32(sizes.tile * f.atoms, pack) + (hasExtraVector ? 1 : 0);
  sizes.vectors = roundUpTo(vectors, sizes.lanes) * sizes.lines;
  const unsigned bytes = (sizes.tile + sizes.halo) * sizes.lines * imageBytes;
  sizes.sharedBytes = roundUpTo(bytes + largerOf(imageAlign, 16U) + 2 * sizes.margin, 128U);
  return sizes;
}

// Log2 of the regions that columns of tiles come from. They gain nothing if part of each row is left out, nor if rows
// are few.
inline unsigned regionBits(const TransposeFacts& f, const TransposeTuning& tuning) {
  const std::size_t power = powerOfTwoIn(f.inLd * f.inBytes);
  unsigned bits = 0;
  while (bits < 4 && tuning.regionBytes << bits < power) ++bits;
  const bool fillsRows = f.inLd - f.cols <= f.inLd / 8;
  return bits < 4 && f.rows >= tuning.regionRows << bits && fillsRows ? bits : 0;
}

GPUOPT_DETAIL_END
