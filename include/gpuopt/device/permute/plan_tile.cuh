/// \file
/// The tile of a permutation: how much of each axis a block takes, and how that is stored in shared memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/permute/plan_lanes.cuh>
#include <gpuopt/device/permute/problem.cuh>
#include <gpuopt/device/permute/tile.cuh>
#include <gpuopt/device/permute/tuning.cuh>
#include <gpuopt/device/transpose/problem.cuh>

#include <cstddef>
#include <cstdint>

GPUOPT_DETAIL_BEGIN

// How much of each axis a block takes: axes along which its rows run, of either tensor, and axes that number its parts.
class PermuteTileParts {
 public:
  explicit PermuteTileParts(const PermuteRequest& request) : r_(request) {
    for (unsigned k = 0; k < r_.rank; ++k) {
      unsigned i = k;
      for (; i > 0 && magnitude(r_.axis[byIn[i - 1]].in) > magnitude(r_.axis[k].in); --i) byIn[i] = byIn[i - 1];
      byIn[i] = k;
      byOut[k] = k;
    }
  }

  // Rows of about `bytes` on both sides.
  void choose(std::size_t bytes, const PermuteTuning& tuning) {
    for (unsigned k = 0; k < r_.rank; ++k) part[k] = 1, isTakenByOut_[k] = false;
    grow(byIn, true, largerOf<std::size_t>(1, bytes / r_.inBytes), largerOf<std::size_t>(1, 32 / r_.inBytes));
    grow(byOut, false, largerOf<std::size_t>(1, bytes / r_.outBytes), largerOf<std::size_t>(1, 32 / r_.outBytes));
    findRuns(tuning);
    addParts(tuning.minTileBytes);
  }

  std::size_t bytes() const { return elements * r_.inBytes; }

  unsigned byIn[permuteRank] = {};  // axes in ascending order of their strides
  unsigned byOut[permuteRank] = {};
  std::size_t part[permuteRank] = {};  // of each axis, in a tile
  bool isInRun[permuteRank] = {};
  bool isOutRun[permuteRank] = {};
  unsigned inRunAxes = 0;
  unsigned outRunAxes = 0;
  std::size_t inRun = 1;  // elements of a row
  std::size_t outRun = 1;
  std::size_t elements = 1;  // of the tile

 private:
  // Takes axes in the order of one tensor until their run has `target` elements; the last one is cut into equal parts
  // of a multiple of `sector` elements.
  void grow(const unsigned (&order)[permuteRank], bool isIn, std::size_t target, std::size_t sector) {
    std::size_t length = 1;
    for (unsigned i = 0; i < r_.rank && length < target; ++i) {
      const PermuteAxis& axis = r_.axis[order[i]];
      const std::ptrdiff_t stride = isIn ? magnitude(axis.in) : axis.out;
      if (stride != static_cast<std::ptrdiff_t>(length)) return;
      std::size_t size = axis.extent;
      if (length * size * 5 > target * 8) {
        if (isIn && axis.in < 0) return;  // a cut run would not begin at its first element
        const std::size_t wanted = ceilDivide(target, length);
        size = ceilDivide(size, ceilDivide(size, wanted));
        if (length == 1) size = smallerOf(axis.extent, roundUp(size, sector));
      }
      part[order[i]] = largerOf(part[order[i]], size);
      isTakenByOut_[order[i]] |= !isIn && size > 1;
      if (size < axis.extent) return;
      length *= size;
    }
  }

  // The axes along which rows run. An axis that both tensors take numbers the rows of one of them, as soon as the other
  // axes of its row fill some sectors: shared memory can then pad the rows so that no banks conflict.
  void findRuns(const PermuteTuning& tuning) {
    inRunAxes = outRunAxes = 0;
    inRun = outRun = elements = 1;
    for (unsigned k = 0; k < r_.rank; ++k) isInRun[k] = isOutRun[k] = false;
    for (unsigned i = 0; i < r_.rank; ++i) {
      const unsigned k = byIn[i];
      if (magnitude(r_.axis[k].in) != static_cast<std::ptrdiff_t>(inRun) || part[k] == 1) break;
      if (isTakenByOut_[k] && tuning.fillsSectors(inRun * r_.inBytes)) break;
      if (r_.axis[k].in < 0 && part[k] < r_.axis[k].extent) break;  // a cut run would not begin at its first element
      isInRun[k] = true;
      ++inRunAxes;
      inRun *= part[k];
      if (part[k] < r_.axis[k].extent) break;
    }
    for (unsigned k = 0; k < r_.rank; ++k) {
      if (r_.axis[k].out != static_cast<std::ptrdiff_t>(outRun) || part[k] == 1) break;
      if (isInRun[k] && tuning.fillsSectors(outRun * r_.outBytes)) break;
      isOutRun[k] = true;
      ++outRunAxes;
      outRun *= part[k];
      if (part[k] < r_.axis[k].extent) break;
    }
    for (unsigned k = 0; k < r_.rank; ++k) {
      if (!isInRun[k] && !isOutRun[k]) part[k] = 1;
      elements *= part[k];
    }
  }

  // Small tiles take several sets of rows.
  void addParts(std::size_t minBytes) {
    for (unsigned k = 0; k < r_.rank && 2 * bytes() <= minBytes; ++k) {
      if (part[k] > 1) continue;
      const std::size_t wanted = minBytes / bytes();
      part[k] = smallerOf(r_.axis[k].extent, wanted);
      elements *= part[k];
      if (part[k] < r_.axis[k].extent) return;
    }
  }

  const PermuteRequest& r_;
  bool isTakenByOut_[permuteRank] = {};
};

// Chooses a tile, and lays it out.
class PermuteTilePlanner {
 public:
  PermuteTilePlanner(const PermuteRequest& request, const PermuteTuning& tuning, const PermuteDevice& device)
      : r_(request),
        tuning_(tuning),
        sharedLimit_(smallerOf(device.sharedLimit, std::size_t{227} << 10)),
        multiprocessors_(device.multiprocessors),
        parts_(request) {}

  // Whether there is a tile.
  bool plan() {
    double best = 0;
    std::size_t bestBytes = 0;
    for (const std::size_t bytes : tuning_.runBytes) {
      parts_.choose(bytes, tuning_);
      if (parts_.inRunAxes == 0 || parts_.outRunAxes == 0) return false;
      if (parts_.bytes() > tuning_.maxTileBytes && bestBytes != 0) break;
      const double cost = costOf();
      if (bestBytes != 0 && cost >= best) continue;
      best = cost;
      bestBytes = bytes;
    }
    parts_.choose(bestBytes, tuning_);
    layOut();
    return sharedBytes() <= sharedLimit_ && blocks_ < maxBlocks;
  }

  const PermuteTilePlan& shape() const { return shape_; }
  std::size_t blocks() const { return blocks_; }
  // Of a block, in shared memory.
  std::size_t sharedBytes() const {
    const std::size_t rows = parts_.elements / parts_.inRun;
    return tableBytes() + rows * pitch() + rows / pack() * skew() + 32;
  }

  // The sectors that the rows of one tensor touch, in per cent of those that their bytes fill.
  std::size_t sectorPercent(bool ofIn) const {
    const std::size_t bytes = ofIn ? parts_.inRun * r_.inBytes : parts_.outRun * r_.outBytes;
    return (ceilDivide(bytes, sectorBytes) + (isAligned(ofIn) ? 0 : 1)) * sectorBytes * 100 / bytes;
  }

  // Bytes from the given first element of the input to the one that the kernel counts from.
  std::ptrdiff_t inOffset() const { return inOffset_; }

 private:
  static constexpr std::size_t maxBlocks = std::size_t{1} << 31;
  static constexpr std::size_t blockReserve = 1024;  // bytes of shared memory that CUDA takes for each block

  // Bytes that take as long as the tile does, over the bytes of the tile.
  double costOf() const {
    const auto bytes = static_cast<double>(parts_.bytes());
    const double inRow = tuning_.rowCost + (isAligned(true) ? 0 : tuning_.misalignedInCost);
    const double outRow = tuning_.rowCost + (isAligned(false) ? 0 : tuning_.misalignedOutCost);
    const double rows = inRow / static_cast<double>(parts_.inRun * r_.inBytes) +
                        outRow / static_cast<double>(parts_.outRun * r_.outBytes);
    double full = 1;  // share of all tiles that have elements
    for (unsigned k = 0; k < r_.rank; ++k) {
      const std::size_t tiles = tilesAlong(k);
      full *= static_cast<double>(r_.axis[k].extent) / static_cast<double>(tiles * parts_.part[k]);
    }
    const auto limit = static_cast<double>(permuteBlocks(r_.outBytes));
    // Until the last blocks end, others have no work: the fewer bytes are under way at a time, the shorter.
    const double underWay = smallerOf(limit, static_cast<double>(sharedLimit_) / (bytes * 1.1 + 2048)) *
                            multiprocessors_ * bytes / static_cast<double>(r_.elements() * r_.inBytes);
    const auto resident = static_cast<double>((sharedLimit_ + blockReserve) / (sharedBytes() + blockReserve));
    return (2 + rows + tuning_.blockCost * (1 + tuning_.smallTileBytes / bytes) / (bytes * full)) *
           (1 + tuning_.tailCost * underWay) /
           smallerOf(1.0, smallerOf(limit, resident) / PermuteTuning::residentBlocks(r_.inBytes));
  }

  // Whether all rows of the tile, and of all tiles, begin at 16-byte boundaries.
  bool isAligned(bool ofIn) const { return alignment(ofIn) % 16 == 0; }

  // A number that only the powers of two divide that divide the addresses of all rows.
  std::uintptr_t alignment(bool ofIn) const {
    const std::size_t bytes = ofIn ? r_.inBytes : r_.outBytes;
    std::uintptr_t begin = ofIn ? r_.in : r_.out;
    std::uintptr_t all = 0;
    for (unsigned k = 0; k < r_.rank; ++k) {
      const auto stride = static_cast<std::uintptr_t>(ofIn ? r_.axis[k].in : r_.axis[k].out) * bytes;
      if (!(ofIn ? parts_.isInRun[k] : parts_.isOutRun[k]))
        all |= stride;
      else if (parts_.part[k] < r_.axis[k].extent)
        all |= stride * parts_.part[k];
      else if (ofIn && r_.axis[k].in < 0)
        begin += stride * (parts_.part[k] - 1);  // rows of the input begin at the last index
    }
    return begin | all;
  }

  void layOut() {
    shape_.inCut = shape_.outCut = shape_.partCut = {permuteRank, 1, 1};
    layOutGrid();
    layOutInput();
    layOutOutput();
    shape_.bufferOffset = static_cast<unsigned>(tableBytes());
  }

  // Blocks that run at a time should take tiles that are neighbours in memory, of both tensors. But torn sectors of the
  // output must soon be filled: then its axes keep their order, and one along which the input has neighbours comes
  // early if it has few tiles.
  void orderGrid(unsigned (&order)[permuteRank]) const {
    const bool isTorn = alignment(false) % sectorBytes != 0;
    const auto distance = [&](unsigned k) {
      const PermuteAxis& axis = r_.axis[k];
      return isTorn ? axis.out : smallerOf(magnitude(axis.in), axis.out);
    };
    for (unsigned k = 0; k < r_.rank; ++k) {
      unsigned i = k;
      for (; i > 0 && distance(order[i - 1]) > distance(k); --i) order[i] = order[i - 1];
      order[i] = k;
    }
    if (isTorn) moveInAxis(order);
  }

  std::size_t tilesAlong(unsigned k) const { return ceilDivide(r_.axis[k].extent, parts_.part[k]); }

  void moveInAxis(unsigned (&order)[permuteRank]) const {
    unsigned first = 0, in = r_.rank;
    while (first < r_.rank && tilesAlong(order[first]) == 1) ++first;
    for (unsigned n = first; n < r_.rank; ++n) {
      if (tilesAlong(order[n]) == 1) continue;
      if (in == r_.rank || magnitude(r_.axis[order[n]].in) < magnitude(r_.axis[order[in]].in)) in = n;
    }
    if (in == r_.rank || in <= first + 1 || tilesAlong(order[in]) > tuning_.fewTiles) return;
    const unsigned axis = order[in];
    for (unsigned n = in; n > first + 1; --n) order[n] = order[n - 1];
    order[first + 1] = axis;
  }

  void layOutGrid() {
    blocks_ = 1;
    unsigned order[permuteRank];
    orderGrid(order);
    for (unsigned n = 0; n < r_.rank; ++n) {
      const unsigned k = order[n];
      const PermuteAxis& axis = r_.axis[k];
      const std::size_t part = parts_.part[k];
      const std::size_t tiles = tilesAlong(k);
      if (tiles == 1) continue;
      const unsigned i = shape_.grid.rank++;
      shape_.grid.axis[i] = {Divisor(static_cast<unsigned>(smallerOf(tiles, maxBlocks - 1))),
                             axis.in * signedOf(part * r_.inBytes), axis.out * signedOf(part * r_.outBytes)};
      blocks_ = blocks_ > maxBlocks / tiles ? maxBlocks : blocks_ * tiles;
      const PermuteCut cut{i, static_cast<unsigned>(part), static_cast<unsigned>(axis.extent - (tiles - 1) * part)};
      if (parts_.isInRun[k]) shape_.inCut = cut;
      if (parts_.isOutRun[k]) shape_.outCut = cut;
      if (part > 1 && !parts_.isInRun[k] && !parts_.isOutRun[k]) shape_.partCut = cut;
      shape_.countCut.out |= parts_.isInRun[k] && !parts_.isOutRun[k];
      shape_.countCut.in |= parts_.isOutRun[k] && !parts_.isInRun[k];
    }
  }

  static std::ptrdiff_t signedOf(std::size_t n) { return static_cast<std::ptrdiff_t>(n); }

  void layOutInput() {
    std::size_t run = r_.inBytes;
    for (unsigned i = 0; i < parts_.inRunAxes; ++i) {
      const unsigned k = parts_.byIn[i];
      shared_[k] = static_cast<int>(run);
      if (r_.axis[k].in < 0) {
        const std::size_t last = parts_.part[k] - 1;
        shared_[k] = -shared_[k];
        shape_.first += static_cast<unsigned>(run * last);
        inOffset_ += r_.axis[k].in * signedOf(last * r_.inBytes);
      }
      run *= parts_.part[k];
    }
    shape_.inRowBytes = static_cast<unsigned>(run);
    shape_.inRows = shape_.parts = 1;
    for (unsigned k = 0; k < r_.rank; ++k) {
      const auto part = static_cast<unsigned>(parts_.part[k]);
      if (parts_.isInRun[k] || part == 1) continue;
      const std::ptrdiff_t in = r_.axis[k].in * signedOf(r_.inBytes), out = r_.axis[k].out * signedOf(r_.outBytes);
      if (parts_.isOutRun[k])
        shape_.inRow[shape_.inRowAxes++] = {Divisor(part), 0, in}, shape_.inRows *= part;
      else
        shape_.part[shape_.partAxes++] = {Divisor(part), in, out}, shape_.parts *= part;
    }
    shape_.inVectors = inVectors();
    shape_.inLines = fillsLines();
    shape_.inLanes = smallerOf(shape_.inVectors, permuteThreads);
    shape_.inRowStep = permuteThreads / shape_.inLanes;
    shape_.byInLanes = Divisor(shape_.inLanes);
    shape_.inPitch = pitch();
    shape_.inSkew.bytes = skew();
    while ((1U << shape_.inSkew.shift) < pack()) ++shape_.inSkew.shift;
    shape_.partBytes = shape_.inRows * shape_.inPitch + (shape_.inRows >> shape_.inSkew.shift) * shape_.inSkew.bytes;
  }

  // Whether lines of 128 bytes are worth fetching whole: rows of the input fill half of one, or have gaps between them
  // that are no longer than they are. (Rows of 32 bytes in every 128 are 1.37 times as fast without, on an H100,
  // 2026-11-28; dense ones lose 1 to 3 %.)
  bool fillsLines() const {
    const std::size_t run = parts_.inRun;
    for (unsigned i = 0; i < r_.rank; ++i) {
      const auto step = static_cast<std::size_t>(magnitude(r_.axis[parts_.byIn[i]].in));
      if (step > 1 && step >= run) return run * r_.inBytes >= 2 * sectorBytes || step <= 2 * run;
    }
    return true;
  }

  bool packs() const { return r_.outBytes < 16 && r_.outAlign == r_.outBytes; }
  unsigned pack() const { return packs() ? 16 / r_.outBytes : 1; }

  // Bytes from input row to input row in shared memory, and more after every pack() rows: the elements of an output
  // vector are in as many rows. Neighbouring vectors of a row then are 16 bytes apart, modulo the 128 bytes of all
  // banks.
  unsigned pitch() const {
    const unsigned bytes = 16 * inVectors() + (isAligned(true) ? 0 : 16);
    return pack() == 1 && bytes % 32 == 0 ? bytes + 16 : bytes;
  }
  unsigned skew() const { return pack() == 1 ? 0 : (16 - pack() * pitch()) % 128; }

  unsigned inVectors() const {
    return ceilDivide32(static_cast<unsigned>(parts_.inRun) * r_.inBytes + (isAligned(true) ? 0 : 30), 16);
  }

  void layOutOutput() {
    shape_.outRows = 1;
    for (unsigned i = 0; i < parts_.inRunAxes; ++i) {
      const unsigned k = parts_.byIn[i];
      if (parts_.isOutRun[k]) continue;
      const auto part = static_cast<unsigned>(parts_.part[k]);
      shape_.outRow[shape_.outRowAxes++] = {Divisor(part), shared_[k], r_.axis[k].out * signedOf(r_.outBytes)};
      shape_.outRows *= part;
    }
    for (unsigned k = 0; k < parts_.outRunAxes; ++k)
      shape_.outElement[shape_.outAxes++] = {Divisor(static_cast<unsigned>(parts_.part[k])),
                                             parts_.isInRun[k] ? shared_[k] : 0, r_.axis[k].in * signedOf(r_.inBytes)};
    shape_.outRowElements = static_cast<unsigned>(parts_.outRun);
    const unsigned bytes = shape_.outRowElements * r_.outBytes;
    shape_.outGroups = fillsWords();
    shape_.outBoundary = packs() && r_.outBytes > 1 && !shape_.outGroups ? sectorBytes : 16;
    const auto step = static_cast<unsigned>(powerOfTwoIn(alignment(false) | shape_.outBoundary));
    shape_.outVectors = packs() ? ceilDivide32(bytes + shape_.outBoundary - step, 16) : shape_.outRowElements;
    layOutThreads();
  }

  // Whether words of shared memory hold elements of as many output rows, of which all begin at 16-byte boundaries.
  bool fillsWords() const {
    if (!r_.onlyMoves || r_.outBytes >= 4 || shape_.outRowAxes == 0) return false;
    const unsigned group = 4 / r_.outBytes;
    const PermuteTileAxis& axis = shape_.outRow[0];
    const unsigned first = parts_.byIn[0];
    const unsigned last = parts_.part[first] < r_.axis[first].extent ? shape_.inCut.last : axis.extent.divisor;
    return axis.shared == static_cast<int>(r_.outBytes) && axis.extent.divisor % group == 0 && last % group == 0 &&
           alignment(true) % 4 == 0 && isAligned(false);
  }

  void layOutThreads() {
    const bool hasRows = shape_.outRowAxes > 0;
    const auto inBytes = signedOf(r_.inBytes), outBytes = signedOf(r_.outBytes);
    const PermuteTileAxis& element = shape_.outElement[0];
    const std::ptrdiff_t outToRow = hasRows ? shape_.outRow[0].global : 0;
    PermuteOutRows rows{shape_.outVectors,
                        largerOf(shape_.outRows * shape_.parts / (shape_.outGroups ? 4 / r_.outBytes : 1), 1u),
                        r_.outBytes,
                        packs(),
                        r_.onlyMoves,
                        periodOf(outToRow, shape_.outBoundary),
                        static_cast<unsigned>((element.shared == 0 ? element.global : element.shared) / inBytes),
                        static_cast<unsigned>(hasRows ? shape_.outRow[0].shared / inBytes : 0),
                        static_cast<unsigned>(outToRow / outBytes)};
    shape_.outLanes = PermuteLanesPlanner(rows).plan();
  }

  static unsigned periodOf(std::ptrdiff_t step, unsigned boundary) {
    return boundary / static_cast<unsigned>(powerOfTwoIn(static_cast<std::uintptr_t>(step) | boundary));
  }

  std::size_t tableBytes() const {
    const std::size_t rows = parts_.elements / parts_.inRun + parts_.elements / parts_.outRun;
    return roundUp(sizeof(PermuteRow) * rows + sizeof(unsigned) * parts_.outRun, 128);
  }

  const PermuteRequest& r_;
  const PermuteTuning& tuning_;
  std::size_t sharedLimit_;
  unsigned multiprocessors_;
  PermuteTileParts parts_;
  int shared_[permuteRank] = {};  // bytes from index to index within an input row in shared memory
  PermuteTilePlan shape_{};
  std::ptrdiff_t inOffset_ = 0;
  std::size_t blocks_ = 0;
};

GPUOPT_DETAIL_END
