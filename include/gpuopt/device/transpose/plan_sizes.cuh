/// \file
/// How runs, column panels and skinny matrices are divided among blocks.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/access.cuh>
#include <gpuopt/core/fast_divide.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/transpose/shape.cuh>
#include <gpuopt/device/transpose/smem.cuh>
#include <gpuopt/device/transpose/tuning.cuh>
#include <gpuopt/host/grid_config.cuh>

#include <cstddef>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

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
inline std::size_t matricesOfRun(const TransposeFacts& f, const TransposeTuning& tuning, std::size_t bytes) {
  const std::size_t matrixBytes = f.area * f.larger;
  const std::size_t common = f.area * greatestCommonDivisor(f.inBytes, f.outBytes);
  const auto multipleOf = [&](std::size_t boundary) {
    const std::size_t matrices = boundary / greatestCommonDivisor(common, boundary);
    const bool fits = matrices * matrixBytes <= tuning.alignedRunBytes && matrices * f.area <= runMaxElements;
    return fits ? matrices : 0;
  };
  const std::size_t lines = multipleOf(128);
  const std::size_t unit = lines > 0 ? lines : largerOf<std::size_t>(multipleOf(sectorBytes), 1);
  const std::size_t units =
      smallerOf((bytes + unit * matrixBytes / 2) / (unit * matrixBytes), runMaxElements / (unit * f.area));
  return smallerOf(f.batch, largerOf<std::size_t>(units, 1) * unit);
}

// Results of a 4-byte word, if the kernel has to make words.
inline std::size_t wordResults(const TransposeFacts& f) {
  return f.resultBytes < 4 && f.resultIsWord() ? 4 / f.resultBytes : 1;
}

// Elements after which the words of the output have their sources at the same indices again.
inline std::size_t periodElements(const TransposeFacts& f) {
  return f.area * (wordResults(f) / greatestCommonDivisor(f.area * f.atoms, wordResults(f)));
}

// The degree of the bank conflict if each lane of a warp reads the first source of its word.
inline unsigned sourceConflicts(const TransposeFacts& f) {
  const auto wordAddress = [&](unsigned lane) {
    const std::size_t atom = lane * wordResults(f);
    const std::size_t element = atom / f.atoms;
    const std::size_t inside = element % f.area;
    const std::size_t source = element - inside + inside % f.rows * f.cols + inside / f.rows;
    return (source * f.atoms + atom % f.atoms) * f.sourceBytes / 4 * 4;
  };
  return sharedAccess<4>(wordAddress).degree;
}

// A thread reads rows of the next column, too, to complete its last word.
inline bool canGoByColumns(const TransposeFacts& f) { return f.rows >= 2 * wordResults(f); }

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
  const std::size_t pack = wordResults(f);
  const bool isEven = tuning.evenRunBytes % (f.area * f.larger) == 0;
  std::size_t bytes = isEven ? tuning.evenRunBytes : tuning.runBytes;
  const bool byPeriods = pack > 1 && canGoByPeriods(f, tuning) &&
                         (!canGoByColumns(f) || sourceConflicts(f) <= tuning.periodConflicts);
  if (byPeriods) bytes = largerOf(bytes, tuning.runPeriods * periodElements(f) * f.larger);
  RunSizes run{};
  run.matrices = matricesOfRun(f, tuning, bytes);
  const std::size_t elements = run.matrices * f.area;
  run.threads = runThreads(elements * f.larger);
  run.sharedBytes = sharedFor(elements * f.inBytes);
  if (pack > 1) run.sharedBytes += sharedFor(elements * f.outBytes);
  if (byPeriods) {
    run.period = static_cast<unsigned>(periodElements(f) * f.atoms / pack);
    run.threads = periodThreads(run.threads, run.period);
  } else if (pack > 1) {
    const std::size_t parts = ceilDivide(f.rows * f.resultBytes, tuning.columnBytes);
    run.segmentRows = static_cast<unsigned>(ceilDivide(f.rows, parts * pack) * pack);
  }
  return run;
}

inline RunSizes permutedRunSizes(const TransposeFacts& f, const TransposeTuning& tuning) {
  RunSizes run{};
  run.matrices = matricesOfRun(f, tuning, tuning.evenRunBytes);
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
  const std::size_t groupCols = sectorBytes / greatestCommonDivisor(f.inBytes, sectorBytes);
  const std::size_t groups = ceilDivide(f.cols, groupCols);
  const std::size_t wanted = (f.area * f.inBytes + tuning.panelBytes / 2) / tuning.panelBytes;
  const std::size_t panels = clampTo(wanted, std::size_t{1}, groups);
  const std::size_t widest = smallerOf(ceilDivide(groups, panels) * groupCols, f.cols) * f.inBytes;
  return {static_cast<unsigned>(panels), static_cast<unsigned>(groupCols), static_cast<unsigned>(groups),
          static_cast<unsigned>(widest)};
}

// A skinny matrix has a few long lines on one side and many short records on the other. A block keeps an
// image of some records in shared memory.
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
inline std::size_t skinnyTile(const SkinnySizes& sizes, std::size_t tileBytes, std::size_t lineBytes,
                              std::size_t imageBytes, bool hasExtraVector) {
  const std::size_t groupBytes = sizes.lanes * 16;
  const std::size_t sectorElements = sectorBytes / greatestCommonDivisor(sectorBytes, lineBytes);
  const std::size_t most = tileBytes / (sizes.lines * largerOf(lineBytes, imageBytes));
  const std::size_t group = groupBytes / greatestCommonDivisor(groupBytes, lineBytes);
  const std::size_t unit = group <= most ? group : sectorElements;
  const std::size_t units = clampTo(most / unit, std::size_t{1}, ceilDivide(sizes.records, unit));
  // Leaves room for the extra vector of a misaligned line.
  return units * unit - (hasExtraVector && group <= most ? sectorElements : 0);
}

inline SkinnySizes skinnySizes(const TransposeFacts& f, const TransposeTuning& tuning) {
  SkinnySizes sizes{};
  sizes.toRecords = f.rows <= f.cols;
  sizes.records = largerOf(f.rows, f.cols);
  sizes.lines = static_cast<unsigned>(smallerOf(f.rows, f.cols));
  const std::size_t line = sizes.toRecords ? f.sourceBytes : f.resultBytes;
  const std::size_t image = sizes.toRecords ? f.resultBytes : f.sourceBytes;
  const std::size_t imageAlign = sizes.toRecords ? f.outAlign : f.inAlign;
  const bool isWord = sizes.toRecords ? f.sourceIsWord() : f.resultIsWord();
  const bool isAligned = !isWord || (sizes.toRecords ? f.inAligned >= 16 : f.outAligned >= sectorBytes);
  const std::size_t lineBytes = line * f.atoms;
  const std::size_t imageBytes = image * f.atoms;
  sizes.threads = smallerOf(skinnyThreads(sizes.toRecords, isAligned, sizes.lines), tuning.skinnyThreads);
  sizes.lanes = skinnyLanes(image, isAligned);
  const bool hasExtraVector = sizes.toRecords && !isAligned;
  const std::size_t tile =
      skinnyTile(sizes, sizes.threads * tuning.skinnyThreadBytes, lineBytes, imageBytes, hasExtraVector);
  // A tile's stores begin at sectors, its loads at vectors.
  const std::size_t halo = sizes.toRecords || isAligned ? 0 : ceilDivide(sectorBytes - line, lineBytes);
  const std::size_t margin =
      sizes.toRecords && f.onlyMoves ? ceilDivide((16 + imageBytes) * sizes.lines, 128) * 128 : 0;
  const std::size_t vectors = ceilDivide(tile * f.atoms, isWord ? 16 / line : 1) + (hasExtraVector ? 1 : 0);
  sizes.tile = static_cast<unsigned>(tile);
  sizes.halo = static_cast<unsigned>(halo);
  sizes.margin = static_cast<unsigned>(margin);
  sizes.vectors = static_cast<unsigned>(ceilDivide(vectors, sizes.lanes) * sizes.lanes * sizes.lines);
  const std::size_t bytes = (tile + halo) * sizes.lines * imageBytes;
  sizes.sharedBytes = ceilDivide(bytes + largerOf<std::size_t>(imageAlign, 16) + 2 * margin, 128) * 128;
  return sizes;
}

// Log2 of the regions that columns of tiles come from. They gain nothing if part of each row is left out, nor
// if rows are few.
inline unsigned regionBits(const TransposeFacts& f, const TransposeTuning& tuning) {
  const std::size_t power = powerOfTwoIn(f.inLd * f.inBytes);
  unsigned bits = 0;
  while (bits < 4 && tuning.regionBytes << bits < power) ++bits;
  const bool fillsRows = f.inLd - f.cols <= f.inLd / 8;
  return bits < 4 && f.rows >= tuning.regionRows << bits && fillsRows ? bits : 0;
}

}  // namespace detail
GPUOPT_NAMESPACE_END
