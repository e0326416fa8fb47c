/// \file
/// How a matrix is divided into tiles and splits where its columns are reduced: the only place that decides. Pure host
/// code. A plan follows from shape, types and alignment, never from the device.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/explain.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/reduce/plan.cuh>
#include <gpuopt/host/workspace.cuh>
#include <gpuopt/soa/equality.cuh>

#include <cstddef>
#include <string>

GPUOPT_DETAIL_BEGIN

// How a matrix is divided. A block takes one tile of one split:
//
//              tile 0    tile 1    tile 2        in a block, tileSteps threads read steps side by side, and
//     split 0  block 0   block 1   block 2       rowThreads of them one below the other, each every
//     split 1  block 3   block 4   block 5       rowThreads-th row
//
// Rows may begin at any element. Every rowPeriod-th row has the same misalignment, and a thread takes such rows alone,
// so that its steps cover the same columns in all of them. Between rows of different misalignment the steps are
// shifted; a tile therefore has one step more than its columns fill, and drops the columns of its neighbour. So do
// steps that two rows share, where there is no gap between rows.
//
// A narrow contiguous matrix is flat: as many rows as fill full steps count as one row of `rowElements`, from the first
// 16-byte boundary on.
struct ColumnTiles {
  std::size_t rows;
  std::size_t ld;            // elements from row to row
  std::size_t misalignment;  // elements from the start of step -1 to the first row
  std::size_t rowElements;   // of a row
  std::size_t cols;          // of the matrix
  std::size_t elements;      // of a flat matrix, which may have some before its first and after its last row
  std::size_t splitRows;     // of a block
  unsigned tiles;
  unsigned splits;
  unsigned groupSplits;  // whose results are combined first
  unsigned tileSteps;
  unsigned tileElements;  // of a row in a tile
  unsigned rowThreads;    // a multiple of rowPeriod
  unsigned tileColumns;   // results of a tile: tileElements, or fewer in a flat matrix
  unsigned rowPeriod;     // rows until the misalignment repeats
  bool isFlat;
  bool hasGaps;       // between rows, which are not read
  bool hasEdges;      // rows may begin or end within a step, the rest of which is in a gap
  std::size_t steps;  // full steps of a matrix without gaps
};

struct ReduceColumnsRequest {
  MatrixShape matrix{};
  std::size_t elementBytes = 1;
  std::size_t stepElements = 1;  // of a vector; 1 if the input is read element by element
  std::size_t partialBytes = 1;
  std::size_t resultBytes = 0;
  std::size_t head = 0;      // elements before the first 16-byte boundary
  std::size_t flatHead = 0;  // elements before the first step of the matrix as an array
  bool areAligned = false;   // whether all rows consist of full steps
};
template <>
inline constexpr bool isPlan<ReduceColumnsRequest> = true;

enum class ReduceColumnsAlgorithm {
  nothing,
  flat,      // several rows count as one
  steps,     // tiles of vectors, or of an iterator's elements
  elements,  // tiles of the elements of an array
};

struct ReduceColumnsPlan {
  ReduceColumnsAlgorithm algorithm = ReduceColumnsAlgorithm::nothing;
  const char* reason = "no columns";
  ReduceColumnsRequest request{};
  ColumnTiles tiles{};
  ReduceGrid grid{};
};
template <>
inline constexpr bool isPlan<ReduceColumnsPlan> = true;

// Threads of a block, whose partial results fit into shared memory.
template <class Policy>
constexpr int columnsBlock(std::size_t stepElements, std::size_t partialBytes) {
  int block = Policy::BLOCK;
  while (block > 32 && static_cast<unsigned>(block) * stepElements * partialBytes > Policy::sharedBytes) block /= 2;
  return block;
}

// The same where a matrix is flat, and read by vectors: a row of odd length has as many steps as columns, and leaves
// fewer threads of a large block without any.
template <class Policy>
constexpr int flatBlock(std::size_t stepElements, std::size_t partialBytes) {
  const std::size_t bytes = static_cast<std::size_t>(Policy::FLAT_BLOCK) * stepElements * partialBytes;
  const bool fits = stepElements > 1 && bytes <= roundUp(Policy::flatBytes, 1024);
  return fits ? Policy::FLAT_BLOCK : columnsBlock<Policy>(stepElements, partialBytes);
}

template <class Policy>
class ReduceColumnsPlanner {
  using Algorithm = ReduceColumnsAlgorithm;

 public:
  explicit ReduceColumnsPlanner(const ReduceColumnsRequest& request)
      : r_(request), matrix_(request.matrix), step_(request.stepElements) {
    plan_.request = request;
  }

  ReduceColumnsPlan plan() {
    const auto [rows, cols, ld] = matrix_;
    if (cols == 0) return plan_;
    const std::size_t widest = r_.areAligned ? Policy::tileSteps * step_ : Policy::flatColumns;
    const auto flatSteps = static_cast<std::size_t>(flatBlock<Policy>(step_, r_.partialBytes));
    if (ld == cols && leastCommonMultiple(cols, step_) / step_ <= flatSteps && cols <= widest) {
      choose(Algorithm::flat, "rows are short, without gaps");
      flatTiles();
    } else if (r_.areAligned || readsShiftedSteps()) {
      choose(Algorithm::steps, step_ == 1      ? "the input is read element by element"
                               : r_.areAligned ? "rows consist of vectors"
                                               : "rows are long enough for vectors that they do not begin with");
      tiles(r_.head);
    } else {
      choose(Algorithm::elements, "rows do not consist of vectors, and are few or short");
      step_ = 1;
      tiles(0);
    }
    splitRows();
    return plan_;
  }

 private:
  void choose(Algorithm algorithm, const char* reason) {
    plan_.algorithm = algorithm;
    plan_.reason = reason;
  }

  bool hasWideBlock() const { return plan_.algorithm == Algorithm::flat && matrix_.cols >= Policy::flatBlockColumns; }

  unsigned block() const {
    return static_cast<unsigned>(hasWideBlock() ? flatBlock<Policy>(step_, r_.partialBytes)
                                                : columnsBlock<Policy>(step_, r_.partialBytes));
  }

  // Steps in flight per thread.
  std::size_t items() const {
    return clampTo(Policy::VECTORS * 16 / (step_ * r_.elementBytes), std::size_t{1}, std::size_t{16});
  }

  // Rows until one begins at the same distance from a 16-byte boundary as the first.
  unsigned rowPeriod() const { return static_cast<unsigned>(step_ / greatestCommonDivisor(matrix_.ld, step_)); }

  // Whether to read unaligned rows by vectors. The block needs threads for the edge columns of rowPeriod rows.
  bool readsShiftedSteps() const {
    const std::size_t period = rowPeriod(), edgeColumns = 2 * step_;
    return period <= matrix_.rows && matrix_.cols >= largerOf(Policy::shiftedColumns, edgeColumns) &&
           period * edgeColumns <= block();
  }

  // Steps side by side in a tile.
  std::size_t tileSteps(bool isShifted) const {
    if (isShifted) return smallerOf<std::size_t>(Policy::shiftedTileSteps, Policy::shiftedTileColumns / step_);
    return step_ == 1 ? Policy::elementTileSteps : Policy::tileSteps;
  }

  // Tiles side by side, the last perhaps narrower.
  void tiles(std::size_t head) {
    ColumnTiles& t = plan_.tiles;
    t.rows = matrix_.rows;
    t.cols = matrix_.cols;
    t.ld = matrix_.ld;
    t.misalignment = step_ - head;
    t.rowElements = matrix_.cols;
    t.rowPeriod = rowPeriod();
    const bool isShifted = head > 0 || t.rowPeriod > 1;
    t.hasGaps = matrix_.ld != matrix_.cols;
    t.hasEdges = t.hasGaps && (isShifted || matrix_.cols % step_ != 0);
    t.elements = matrix_.rows * matrix_.cols;
    t.steps = t.elements < head ? 0 : (t.elements - head) / step_;
    const std::size_t width = smallerOf<std::size_t>(tileSteps(isShifted), block() / t.rowPeriod);
    // If there are few rows, fewer threads one below the other and more side by side keep all loads in flight.
    const std::size_t batches = matrix_.rows / items();
    const std::size_t rowThreads =
        clampTo(batches / t.rowPeriod * t.rowPeriod, std::size_t{t.rowPeriod}, block() / width);
    const std::size_t rowSteps = ceilDivide(matrix_.cols, step_), max = block() / rowThreads - isShifted;
    const std::size_t steps = isShifted ? ceilDivide(rowSteps, ceilDivide(rowSteps, max)) : smallerOf(rowSteps, max);
    t.tiles = static_cast<unsigned>(ceilDivide(rowSteps, steps));
    t.tileSteps = static_cast<unsigned>(steps + isShifted);
    t.tileElements = static_cast<unsigned>(steps * step_);
    t.tileColumns = t.tileElements;
  }

  // One tile of a narrow contiguous matrix, in which several rows count as one.
  void flatTiles() {
    ColumnTiles& t = plan_.tiles;
    t.isFlat = true;
    t.cols = matrix_.cols;
    t.elements = matrix_.rows * matrix_.cols;
    t.rowElements = leastCommonMultiple(matrix_.cols, step_);
    t.ld = t.rowElements;
    t.misalignment = step_;
    t.rows = (t.elements - r_.flatHead) / t.rowElements;
    t.steps = t.rows * t.rowElements / step_;
    t.tileElements = static_cast<unsigned>(t.rowElements);
    t.tileSteps = static_cast<unsigned>(t.rowElements / step_);
    t.tiles = 1;
    t.rowPeriod = 1;
    t.tileColumns = static_cast<unsigned>(matrix_.cols);
  }

  // Blocks that run at the same time on an H100 or H200.
  std::size_t wave() const { return Policy::waveBlocks * Policy::BLOCK / block(); }

  // Whether one wave of blocks is as fast as more: loads then never pause between two blocks of a multiprocessor. Large
  // matrices of very short rows, or of vectors that rows do not begin with, need more.
  bool takesOneWave() const {
    if (step_ == 1) return false;
    const bool isFlat = plan_.algorithm == Algorithm::flat;
    return (isFlat ? hasWideBlock() : r_.areAligned) ||
           matrix_.rows * matrix_.cols * r_.elementBytes < Policy::manyWavesBytes;
  }

  // How many blocks a grid should have: one wave, or more where the splits of the tiles would leave a twentieth of it
  // idle.
  std::size_t wantedBlocks() const {
    const std::size_t tiles = plan_.tiles.tiles, max = Policy::waves * wave();
    std::size_t blocks = takesOneWave() ? wave() : max;
    while (blocks < max && 20 * (blocks / tiles * tiles) < 19 * blocks) blocks *= 2;
    return blocks;
  }

  // The splits that scratch memory allows, or fewer if their blocks fill the device better by a tenth: some more blocks
  // than run at the same time leave most of it idle while they run alone.
  std::size_t storedSplits() const {
    const std::size_t tiles = plan_.tiles.tiles;
    const std::size_t splits = Workspace::capacity / r_.partialBytes / plan_.tiles.cols, blocks = splits * tiles;
    const std::size_t fewer = blocks / wave() * wave() / tiles;
    if (blocks >= wantedBlocks() || fewer == 0) return splits;
    const std::size_t waves = ceilDivide(blocks, wave()), fewerWaves = ceilDivide(fewer * tiles, wave());
    return 10 * fewer * waves > 11 * splits * fewerWaves ? fewer : splits;
  }

  // Splits the rows among blocks, for as many blocks as the policy and the scratch memory allow.
  void splitRows() {
    ColumnTiles& t = plan_.tiles;
    t.rowThreads = block() / t.tileSteps / t.rowPeriod * t.rowPeriod;
    const std::size_t rowBytes = t.tileElements * r_.partialBytes;
    if (t.isFlat) t.rowThreads = smallerOf(t.rowThreads, static_cast<unsigned>(Policy::flatBytes / rowBytes));
    const std::size_t batchRows = t.rowThreads * items();
    const std::size_t wanted = smallerOf(smallerOf(wantedBlocks() / t.tiles, Workspace::counterCount / 2 / t.tiles),
                                         smallerOf(ceilDivide(t.rows, batchRows), storedSplits()));
    t.splitRows = largerOf(ceilDivide(t.rows, largerOf(wanted, std::size_t{1})), std::size_t{1});
    t.splits = static_cast<unsigned>(largerOf(ceilDivide(t.rows, t.splitRows), std::size_t{1}));
    t.groupSplits = 1;
    if (std::size_t{t.splits} * t.tileColumns > Policy::groupedResults)
      while (t.groupSplits * t.groupSplits < t.splits) ++t.groupSplits;
    plan_.grid = {block(), std::size_t{t.tiles} * t.splits, t.splits > 1};
  }

  const ReduceColumnsRequest& r_;
  const MatrixShape& matrix_;
  std::size_t step_;  // elements that a thread reads at once
  ReduceColumnsPlan plan_;
};

template <class Policy>
ReduceColumnsPlan planReduceColumns(const ReduceColumnsRequest& request) {
  return ReduceColumnsPlanner<Policy>(request).plan();
}

inline std::string planInWords(const ReduceColumnsPlan& plan) {
  const ReduceColumnsRequest& r = plan.request;
  const ColumnTiles& t = plan.tiles;
  const bool areVectors = plan.algorithm != ReduceColumnsAlgorithm::elements && r.stepElements > 1;
  return inWords({message({t.isFlat ? "flat rows of " : "tiles of ", t.tileElements, " columns",
                           areVectors ? " by vectors, " : ", ", t.tiles, " across, ", t.splits, " down"}),
                  plan.reason, plan.grid.blocks, plan.grid.threads, r.matrix.rows * r.matrix.cols * r.elementBytes,
                  r.matrix.cols * r.resultBytes});
}

GPUOPT_DETAIL_END
