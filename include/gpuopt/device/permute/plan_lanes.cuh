/// \file
/// How the threads of a permutation's tile share the vectors of its output rows. Pure host code.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/permute/lanes.cuh>

GPUOPT_DETAIL_BEGIN

// The output rows of a tile. Steps count elements and may be negative: only their remainders modulo 4 are used.
struct PermuteOutRows {
  unsigned vectors;       // of a row
  unsigned rows;          // or groups of rows that threads take together
  unsigned elementBytes;  // of the output
  bool packs;             // vectors have several elements
  bool onlyMoves;
  unsigned period;    // rows after which their misalignment returns
  unsigned inStep;    // in the input, from one element of a row to the next
  unsigned inToRow;   // in the input, from one row to the next
  unsigned outToRow;  // in the output, from one row to the next
};

// Chooses lanes that need few turns, and store long runs. The shares were measured on an H100.
class PermuteLanesPlanner {
 public:
  explicit PermuteLanesPlanner(const PermuteOutRows& rows) : r_(rows) {}

  PermuteLanes plan() {
    if (r_.packs && r_.vectors >= 8)
      for (unsigned lanes = widest(); lanes >= narrowest(); lanes /= 2) consider(lanes, warpsFor(lanes), 80);
    if (turns_ == 0 || r_.elementBytes >= 4) consider(smallerOf(r_.vectors, permuteThreads), 0, 85);
    finish();
    return lanes_;
  }

 private:
  // The more, the longer are the runs that a warp stores, but the fewer are its rows, whose neighbouring elements use
  // all banks of shared memory. Small elements, of which a vector takes many accesses, need the banks; words of rows
  // that differ in alignment use all of them along a single row, too.
  unsigned widest() const {
    if (r_.elementBytes < 4) return 8;
    return r_.elementBytes == 8 || (r_.onlyMoves && r_.inStep % 2 != 0) ? 32 : 16;
  }

  // Words in runs of 128 bytes, which begin within lines, would store most lines in two halves, at two times: rows of
  // 280 bytes take 1069 us instead of 860 (H200, 2026-11-28).
  unsigned narrowest() const { return r_.elementBytes < 4 ? 8 : 16; }

  // Rows that all threads take at a time; without warps along a row, lanes go on from warp to warp.
  static unsigned rowStep(unsigned lanes, unsigned warps) {
    return warps == 0 ? permuteThreads / lanes : permuteThreads / 32 / warps * (32 / lanes);
  }

  unsigned turns(unsigned lanes, unsigned warps) const {
    return ceilDivide32(r_.vectors, lanes * largerOf(warps, 1U)) * ceilDivide32(r_.rows, rowStep(lanes, warps));
  }

  // The most warps along a row that need the fewest turns.
  unsigned warpsFor(unsigned lanes) const {
    unsigned best = permuteThreads / 32;
    for (unsigned warps = best / 2; warps > 0; warps /= 2)
      if (turns(lanes, warps) < turns(lanes, best)) best = warps;
    return best;
  }

  // Takes these lanes if they need less than a share of the turns of those before, in per cent.
  void consider(unsigned lanes, unsigned warps, unsigned share) {
    const unsigned needed = turns(lanes, warps);
    if (turns_ != 0 && needed * 100 >= turns_ * share) return;
    turns_ = needed;
    const unsigned along = largerOf(warps, 1U), step = rowStep(lanes, warps);
    lanes_ = {Divisor(lanes), warps == 0 ? 1 : 32 / lanes, along, lanes * along, step, step, 0};
  }

  void finish() {
    const unsigned common = smallerOf(static_cast<unsigned>(powerOfTwoIn(lanes_.rowStep)), r_.period);
    lanes_.rowCycle = lanes_.rowStep * (r_.period / common);
    if (r_.inStep % 2 == 0) return;
    for (unsigned group = 0; group < 4; ++group) {
      const unsigned row = group * 8 / largerOf(lanes_.lanes.divisor, 8U);
      lanes_.rotations |= r_.inStep * (group - row * (r_.inToRow - r_.inStep * r_.outToRow)) % 4 << (2 * group);
    }
  }

  const PermuteOutRows& r_;
  PermuteLanes lanes_{};
  unsigned turns_ = 0;  // 0: no lanes yet
};

GPUOPT_DETAIL_END
