/// \file
/// Which kernel transposes a matrix out of place, and why: the only place that decides. Pure host code.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/explain.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/transpose/plan_sizes.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/device/transpose/tuning.cuh>
#include <gpuopt/soa/equality.cuh>

#include <cstddef>
#include <iterator>
#include <string>

GPUOPT_DETAIL_BEGIN

enum class TransposeAlgorithm {
  nothing,        // no elements
  copy,           // vectors
  smallTile,      // one small matrix, element by element
  permutedRun,    // batch of small dense matrices of 1 or 2 bytes: 4 x 4 by byte permutation
  run,            // batch of other small dense matrices
  columnPanel,    // batch of dense matrices of which few fit into shared memory
  skinny,         // few rows or few columns
  registers,      // aligned rows, in the L2 cache: squares of vectors in registers
  sectorTile,     // aligned rows, output rows begin within sectors: tiles shifted to full sectors
  tile,           // aligned rows: vectors through shared memory
  threeByteTile,  // aligned rows of elements of 3 bytes
  stagedTile,     // everything
};

// Two numbers that were compared, if any were.
struct TransposeReason {
  enum class Unit { none, bytes, elements, rows, columns, tiles };
  enum class Relation { isAtMost, exceeds, isAtLeast };

  const char* text;
  Unit unit = Unit::none;
  std::size_t value = 0;
  Relation relation = Relation::isAtMost;
  std::size_t limit = 0;
  const char* also = nullptr;  // a second reason
};

struct TransposePlan {
  TransposeAlgorithm algorithm;
  TransposeReason reason;
  std::size_t word;       // the alignment at which elements move; of no meaning with a function
  unsigned tileRows = 0;  // of a block; of a run: of a matrix
  unsigned tileCols = 0;
  unsigned threads = 0;
  unsigned regionBits = 0;  // columns of tiles come from 2^regionBits regions in turn
  bool isWide = false;      // the wide tile for any alignment
  RunSizes run{};
  PanelSizes panel{};
  SkinnySizes skinny{};
  TransposeRequest request{};
};
template <>
inline constexpr bool isPlan<TransposePlan> = true;

class TransposePlanner {
  using Algorithm = TransposeAlgorithm;
  using Unit = TransposeReason::Unit;
  using Relation = TransposeReason::Relation;

 public:
  TransposePlanner(const TransposeRequest& request, const TransposeTuning& tuning, TransposePlan& plan)
      : f_(request), tuning_(tuning), plan_(plan) {}

  // A small matrix is divided among many blocks, whatever its shape. A batch of tiny matrices may look skinny, but is
  // one long array to a run.
  void plan() {
    if (f_.area * f_.batch == 0) return choose(Algorithm::nothing, {0, 0, 0}, {"no elements"});
    plan_.word = f_.inAlign;
    if (isCopy())
      return choose(Algorithm::copy, {0, 0, copyThreads}, {"vectors without gaps, both sides equally aligned"});
    const bool isSkinny = fitsSkinny();
    if (isSmall(isSkinny)) return smallTile();
    const bool hasManyLines = !isSkinny && fitsManyLines();
    if (fitsPanels()) {
      if (!suitsTiles())
        return f_.inBytes == 16 && fillsMoreThanHalfOf(vectorTileShape(16, 16)) ? alignedRows() : columnPanel();
    } else if (fitsRun() && !(hasManyLines && isLargeRun())) {
      return canPermute() ? permutedRun() : run();
    }
    if (isSkinny) return skinny(tuning_.skinnyLines);
    if (hasManyLines) return skinny(manyLinesLimit(), "records without gaps");
    if (hasTiles() && f_.aligned >= 16) return alignedRows();
    return stagedTile();
  }

 private:
  void choose(Algorithm algorithm, const TransposeTileShape& tile, const TransposeReason& reason) {
    plan_.algorithm = algorithm;
    plan_.tileRows = tile.rows;
    plan_.tileCols = tile.cols;
    plan_.threads = tile.threads;
    plan_.reason = reason;
  }

  bool fillsVectors() const { return hasVectorTile(f_.inBytes) && hasVectorTile(f_.outBytes); }
  bool hasThreeBytes() const { return f_.onlyMoves && f_.inBytes == 3; }
  bool hasTiles() const { return fillsVectors() || hasThreeBytes(); }

  // --- One row or one column.

  bool isCopy() const {
    const bool isDenseBatch = f_.batch == 1 || (f_.inStride == f_.area && f_.outStride == f_.area);
    return f_.onlyMoves && (f_.rows == 1 ? f_.outLd == 1 : f_.cols == 1 && f_.inLd == 1) && isDenseBatch &&
           (f_.in - f_.out) % 16 == 0;
  }

  // --- One small matrix.

  bool isSmall(bool isSkinny) {
    constexpr std::size_t maxCols = 65535 * 16;  // blocks along y, times columns of one
    if (f_.batch != 1 || f_.larger > 16 || f_.cols > maxCols) return false;
    const unsigned reads =
        largerOf(TransposeFacts::partsOf(f_.inBytes, f_.inAlign), TransposeFacts::partsOf(f_.outBytes, f_.outAlign));
    const auto limitOf = [this](unsigned bytes) {
      return bytes == 2 || bytes == 4 ? tuning_.smallElementsOf2Or4Bytes : tuning_.smallElements;
    };
    smallElements_ = isSkinny ? roundUp(f_.rows, 32) * roundUp(f_.cols, 32) : f_.area;
    const bool hasVectors = !isSkinny && hasTiles() && f_.aligned >= 16;
    smallReads_ = hasVectors ? 1 : reads;
    if (isSkinny)
      smallLimit_ = tuning_.smallSkinnyElements;
    else if (hasVectors)
      smallLimit_ = f_.smaller < 4     ? tuning_.smallAlignedElements
                    : f_.smaller == 16 ? tuning_.smallElementsOf16Bytes
                                       : limitOf(f_.smaller);
    else
      smallLimit_ = limitOf(f_.larger);
    return reads <= 8 && smallElements_ * smallReads_ <= smallLimit_;
  }

  void smallTile() {
    choose(Algorithm::smallTile, smallTileShape(f_.larger, f_.area > tuning_.tallElements),
           {smallElements_ > f_.area ? "one skinny matrix, in full tiles" : "one matrix", Unit::elements,
            smallElements_, Relation::isAtMost, smallLimit_ / smallReads_});
  }

  // --- Batches of dense matrices.

  bool suitsTiles() const {
    return f_.area * f_.larger >= tuning_.tiledMatrixBytes && f_.rows % 64 == 0 && f_.cols % 64 == 0 &&
           f_.aligned >= 16;
  }

  bool fitsPanels() const {
    if (!f_.onlyMoves || f_.sourceBytes < 4 || f_.inBytes < 8 || f_.inBytes > 16) return false;
    if (f_.batch < tuning_.minBatch || !f_.isDense()) return false;
    const std::size_t bytes = f_.area * f_.inBytes;
    return smallerOf(f_.rows, f_.cols) >= tuning_.panelSide && bytes > tuning_.panelMinBytes &&
           bytes <= tuning_.panelMatrixBytes && f_.in % 16 == 0 && f_.out % 16 == 0 && f_.cols * f_.inBytes % 16 == 0;
  }

  void columnPanel() {
    plan_.panel = panelSizes(f_, tuning_);
    const TransposeTileShape tile{static_cast<unsigned>(f_.rows), plan_.panel.widestBytes / f_.inBytes, panelThreads};
    return choose(Algorithm::columnPanel, tile,
                  {"a dense batch, input rows begin at 16-byte boundaries", Unit::bytes, f_.area * f_.inBytes,
                   Relation::exceeds, tuning_.panelMinBytes});
  }

  bool makesWords() const { return f_.wordResults > 1; }

  std::size_t runLimit() const { return makesWords() ? tuning_.subwordMatrixBytes : tuning_.runMatrixBytes; }

  bool fitsRun() const {
    const std::size_t bytes = f_.area * f_.larger;
    if (!f_.isDense() || bytes > runLimit() || f_.area > runMaxElements) return false;
    if (bytes > tuning_.evenRunBytes && f_.batch < tuning_.minBatch) return false;
    if (makesWords() ? !canGoByColumns(f_) && !canGoByPeriods(f_, tuning_) : suitsTiles()) return false;
    const std::size_t shared = sharedFor(f_.area * f_.inBytes) + (makesWords() ? sharedFor(f_.area * f_.outBytes) : 0);
    return shared <= largerOf(f_.sharedLimit, std::size_t{48} << 10);
  }

  bool isLargeRun() const {
    return !makesWords() && hasAlignedLines(f_) && (f_.inBytes == f_.outBytes || f_.rows <= f_.cols) &&
           f_.area * f_.larger > tuning_.manyLinesRunBytes;
  }

  // All squares of 4 x 4 are full, and their rows aligned.
  bool canPermute() const {
    const std::size_t side = tuning_.permutedSide;
    return f_.onlyMoves && f_.inBytes <= 2 && f_.atoms == 1 && f_.rows >= side && f_.cols >= side && f_.rows % 4 == 0 &&
           f_.cols % 4 == 0 && f_.aligned >= 4 * f_.inBytes;
  }

  void permutedRun() {
    plan_.run = permutedRunSizes(f_, tuning_);
    return chooseRun(Algorithm::permutedRun, "a dense batch, squares of 4 x 4 are full and aligned");
  }

  void run() {
    plan_.run = runSizes(f_, tuning_);
    return chooseRun(Algorithm::run, !makesWords()          ? "a dense batch"
                                     : plan_.run.period > 0 ? "a dense batch, the sources of words repeat"
                                                            : "a dense batch, words column by column");
  }

  void chooseRun(Algorithm algorithm, const char* text) {
    const TransposeTileShape matrix{static_cast<unsigned>(f_.rows), static_cast<unsigned>(f_.cols), plan_.run.threads};
    return choose(algorithm, matrix, {text, Unit::bytes, f_.area * f_.larger, Relation::isAtMost, runLimit()});
  }

  // --- Few rows or few columns.

  bool fitsSkinny() {
    if (smallerOf(f_.rows, f_.cols) > tuning_.skinnyLines) return false;
    // Vectors of shorter lines may begin before the input or end after it, and not only those of the first and the last
    // line.
    if (f_.rows > 1 && f_.rows <= f_.cols && f_.inLd * f_.inBytes < 16) return false;
    plan_.skinny = skinnySizes(f_, tuning_);
    return plan_.skinny.sharedBytes <= tuning_.skinnySharedBytes;
  }

  // The most lines that are still faster than tiles and runs.
  std::size_t manyLinesLimit() const {
    const bool areRows = f_.rows <= f_.cols;
    const bool isAligned = hasAlignedLines(f_);
    if (f_.inBytes != f_.outBytes) return !isAligned ? 0 : areRows ? tuning_.manyCastRows : tuning_.manyCastColumns;
    if (!isAligned) return areRows || f_.inBytes < 8 ? tuning_.manyOddLines : tuning_.manyCastColumns;
    return f_.inBytes == 1 ? tuning_.manyLines : areRows ? tuning_.manyRows : tuning_.manyColumns;
  }

  bool fitsManyLines() {
    const std::size_t lines = smallerOf(f_.rows, f_.cols);
    const std::size_t records = largerOf(f_.rows, f_.cols);
    const bool areRows = f_.rows <= f_.cols;
    if (lines <= tuning_.skinnyLines || lines > manyLinesLimit() || records < 2 * lines) return false;
    if ((areRows ? f_.outLd : f_.inLd) != lines || !fillsVectors() || f_.atoms != 1) return false;
    if (f_.aligned >= 16 ? !beatsAlignedTiles(lines) : suitsStagedTiles()) return false;
    plan_.skinny = skinnySizes(f_, tuning_);
    const unsigned tile = plan_.skinny.tile;
    return records >= 2 * tile && records / tile * f_.batch >= tuning_.manyLinesBlocks &&
           2 * plan_.skinny.sharedBytes <= f_.sharedLimit;
  }

  // Lines of large elements would leave more than a fifth of an aligned tile empty. Rows of 4-byte elements would
  // become records that begin within sectors.
  bool beatsAlignedTiles(std::size_t lines) const {
    const std::size_t bytes = f_.area * f_.batch * f_.larger;
    const bool isLarge = bytes >= tuning_.manyLinesTileBytes;
    if (f_.smaller == 4) return f_.larger == 4 && isLarge && f_.rows <= f_.cols && f_.outAligned < sectorBytes;
    return f_.smaller >= 8 && (isLarge || (lines <= tuning_.manyLinesOfTiles && bytes > tuning_.registerBytes)) &&
           5 * lines <= 4 * roundUp(lines, vectorTileShape(f_.inBytes, f_.outBytes).rows);
  }

  // Lines that are not aligned, columns of bytes and columns that become larger elements are slow in the L2 cache; and
  // columns of a tile that become aligned records need no shift.
  bool suitsStagedTiles() const {
    const std::size_t bytes = f_.area * f_.batch * f_.larger;
    const bool areRows = f_.rows <= f_.cols;
    if (hasAlignedLines(f_) && (areRows || f_.inBytes == f_.outBytes))
      return !areRows && f_.inBytes == 1 && f_.cols > tuning_.manyByteColumns && bytes < tuning_.manyByteColumnsBytes;
    return bytes < tuning_.manyOddBytes || (areRows && f_.inBytes > 1 && f_.outAligned >= 16);
  }

  void skinny(std::size_t limit, const char* also = nullptr) {
    const SkinnySizes& sizes = plan_.skinny;
    const TransposeTileShape tile{sizes.toRecords ? sizes.lines : sizes.tile,
                                  sizes.toRecords ? sizes.tile : sizes.lines, sizes.threads};
    return choose(Algorithm::skinny, tile,
                  {sizes.toRecords ? "few rows" : "few columns", sizes.toRecords ? Unit::rows : Unit::columns,
                   sizes.lines, Relation::isAtMost, limit, also});
  }

  // --- Rows of both sides begin at 16-byte boundaries.

  bool fillsMoreThanHalfOf(const TransposeTileShape& tile) const {
    return roundUpTo<std::size_t>(f_.rows, tile.rows) * roundUpTo<std::size_t>(f_.cols, tile.cols) < 2 * f_.area;
  }

  void alignedRows() {
    constexpr const char* aligned = "rows of both sides begin at 16-byte boundaries";
    plan_.regionBits = regionBits(f_, tuning_);
    if (hasThreeBytes()) return choose(Algorithm::threeByteTile, threeByteTileShape, {aligned});
    const TransposeTileShape tile = vectorTileShape(f_.inBytes, f_.outBytes);
    const std::size_t bytes = f_.area * f_.batch * f_.larger;
    const std::size_t cached = registerLimit(f_.smaller, tuning_);
    if (bytes <= cached)
      return choose(Algorithm::registers, registerTileShape(f_.inBytes, f_.outBytes),
                    {aligned, Unit::bytes, bytes, Relation::isAtMost, cached});
    // As in batches of matrices smaller than a tile.
    if (!fillsMoreThanHalfOf(tile))
      return choose(Algorithm::registers, registerTileShape(f_.inBytes, f_.outBytes),
                    {aligned, Unit::none, 0, Relation::exceeds, 0, "half of all tiles would be empty"});
    if (suitsSectorTiles())
      return choose(
          Algorithm::sectorTile, sectorTileShape(f_.inBytes),
          {aligned, Unit::tiles, sectorTiles_, Relation::isAtLeast, tuning_.sectorTiles, "output rows within sectors"});
    const bool isHalfBlock = f_.onlyMoves && f_.inBytes == 4 && bytes <= tuning_.halfBlockBytes;
    return choose(Algorithm::tile,
                  isHalfBlock  ? halfBlockTileShape
                  : isNarrow() ? narrowTileShape
                               : tile,
                  {aligned, Unit::bytes, bytes, Relation::exceeds, cached});
  }

  bool isNarrow() const {
    return f_.onlyMoves && f_.inBytes == 16 && f_.aligned >= sectorBytes &&
           f_.inLd * f_.inBytes <= tuning_.narrowRowBytes;
  }

  // Tiles at the edges of the matrix shift less well. The halo takes shared memory.
  bool suitsSectorTiles() {
    if (!f_.onlyMoves || f_.inBytes == 16 || f_.outAligned >= sectorBytes || !givesMuchShared()) return false;
    const std::size_t tile = sectorTileShape(f_.inBytes).rows;
    const std::size_t between = largerOf(ceilDivide(f_.rows, tile), std::size_t{2}) - 2;
    sectorTiles_ = between * (f_.cols / tile) * f_.batch;
    return sectorTiles_ >= tuning_.sectorTiles;
  }

  // --- Everything else.

  // As since sm_80.
  bool givesMuchShared() const { return f_.sharedLimit > std::size_t{64} << 10; }

  void stagedTile() {
    const std::size_t bytes = f_.area * f_.batch * f_.inBytes;
    const std::size_t wideBytes = f_.inBytes == 2 ? tuning_.wideBytesOf2Bytes : tuning_.wideBytes;
    const RowsTileShape tile = rowsTileShape(f_.inBytes, f_.outBytes, false);
    const RowsTileShape wide = rowsTileShape(f_.inBytes, f_.outBytes, true);
    const char* const text =
        hasTiles() ? "rows do not begin at 16-byte boundaries" : "elements do not fill 16-byte vectors";
    plan_.isWide = wide != tile && bytes >= wideBytes && f_.inLd * f_.inBytes % sectorBytes != 0 && givesMuchShared();
    if (!plan_.isWide) return choose(Algorithm::stagedTile, tile, {text});
    return choose(Algorithm::stagedTile, wide, {text, Unit::bytes, bytes, Relation::isAtLeast, wideBytes});
  }

  TransposeFacts f_;
  const TransposeTuning& tuning_;
  TransposePlan& plan_;
  std::size_t smallElements_ = 0;
  std::size_t smallLimit_ = 0;
  unsigned smallReads_ = 1;
  std::size_t sectorTiles_ = 0;
};

inline TransposePlan planTranspose(const TransposeRequest& request, const TransposeTuning& tuning) {
  TransposePlan plan{};
  plan.request = request;
  TransposePlanner(request, tuning, plan).plan();
  return plan;
}

// Of the device that the request is for, and of the tuning file.
inline TransposeTuning tuningOf(const TransposeRequest& request) {
  TransposeTuning tuning = request.multiprocessors == 0
                               ? TransposeTuning{}
                               : modelledTuning(static_cast<std::size_t>(request.multiprocessors), request.l2Bytes);
  if (request.registerBytes != 0) tuning.registerBytes = tuning.registerBytesOf1Or2Bytes = request.registerBytes;
  return tuning;
}

inline TransposePlan planTranspose(const TransposeRequest& request) {
  return planTranspose(request, tuningOf(request));
}

// 4 MiB, 1.5 GiB, 100 bytes: rounded down to a tenth.
inline std::string bytesInWords(std::size_t bytes) {
  const char* const units[] = {" bytes", " KiB", " MiB", " GiB", " TiB"};
  unsigned unit = 0;
  while (unit < 4 && bytes >> 10 * (unit + 1) > 0) ++unit;
  const std::size_t tenths = unit == 0 ? 0 : (bytes >> 10 * (unit - 1)) % 1024 * 10 / 1024;
  const std::size_t whole = bytes >> 10 * unit;
  return tenths == 0 ? message({whole, units[unit]}) : message({whole, ".", tenths, units[unit]});
}

inline std::string reasonInWords(const TransposeReason& reason) {
  using Unit = TransposeReason::Unit;
  using Relation = TransposeReason::Relation;
  const std::string text = reason.also == nullptr ? reason.text : message({reason.text, ", ", reason.also});
  if (reason.unit == Unit::none) return text;
  const char* const relation = reason.relation == Relation::exceeds    ? " exceeds "
                               : reason.relation == Relation::isAtMost ? " at most "
                                                                       : " at least ";
  if (reason.unit == Unit::bytes)
    return message({text, ", ", bytesInWords(reason.value), relation, bytesInWords(reason.limit)});
  const char* const unit = reason.unit == Unit::elements  ? " elements"
                           : reason.unit == Unit::rows    ? " rows"
                           : reason.unit == Unit::columns ? " columns"
                                                          : " full tiles";
  return message({text, ", ", reason.value, unit, relation, reason.limit});
}

inline const char* nameOf(TransposeAlgorithm algorithm) {
  constexpr const char* names[] = {// in the order of TransposeAlgorithm
                                   "nothing",     "copy",          "small tile",      "permuted runs",
                                   "runs",        "column panels", "skinny tile",     "registers",
                                   "sector tile", "tile",          "three-byte tile", "staged tile"};
  static_assert(std::size(names) == static_cast<std::size_t>(TransposeAlgorithm::stagedTile) + 1);
  return names[static_cast<std::size_t>(algorithm)];
}

// The kernel with what a block takes, the reason, and the bytes to move.
inline std::string planInWords(const TransposePlan& plan) {
  const TransposeRequest& r = plan.request;
  std::string kernel = nameOf(plan.algorithm);
  if (plan.run.matrices > 0)
    kernel += message({" of ", plan.run.matrices, " matrices"});
  else if (plan.tileCols > 0)
    kernel += message({" ", plan.tileRows, " x ", plan.tileCols});
  const std::size_t elements = r.rows * r.cols * r.batch;
  return inWords({kernel, reasonInWords(plan.reason), 0, plan.threads, elements * r.inBytes, elements * r.outBytes});
}

GPUOPT_DETAIL_END
