/// How the threads of a tile share the vectors of its output rows: pure host code.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"

#include <gpuopt/device/permute/plan_lanes.cuh>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <vector>

namespace gpuopt::test::lanes_test {
namespace {

using detail::PermuteLanes;
using detail::PermuteOutRows;
using detail::permuteThreads;

// How often the threads take each vector of each row, in the order of the kernel.
std::vector<int> takenBy(const PermuteLanes& by, const PermuteOutRows& rows) {
  std::vector<int> taken(std::size_t{rows.rows} * rows.vectors);
  for (unsigned thread = 0; thread < permuteThreads; ++thread) {
    const detail::PermuteStart start = detail::permuteStart(by, thread);
    if (start.row >= by.rowStep) continue;
    for (unsigned v = start.vector; v < rows.vectors; v += by.vectors)
      for (unsigned r = start.row; r < by.rowCycle; r += by.rowStep)
        for (unsigned q = r; q < rows.rows; q += by.rowCycle) ++taken[q * rows.vectors + v];
  }
  return taken;
}

TEST_CASE("Every vector of every row is taken once", "[permute]") {
  int wrong = 0;
  for (const unsigned bytes : {1U, 2U, 4U, 8U, 12U, 16U})
    for (const unsigned rowCount : {1U, 2U, 3U, 7U, 8U, 31U, 120U, 500U})
      for (unsigned vectors = 1; vectors < 300; vectors += vectors < 70 ? 1 : 23)
        for (const unsigned period : {1U, 2U, 8U, 32U})
          for (const unsigned inStep : {4U, 15U}) {
            const PermuteOutRows rows{vectors, rowCount, bytes, bytes <= 8, true, period, inStep, 1, 225};
            const std::vector<int> taken = takenBy(detail::PermuteLanesPlanner(rows).plan(), rows);
            wrong += std::any_of(taken.begin(), taken.end(), [](int times) { return times != 1; }) ? 1 : 0;
          }
  CHECK(wrong == 0);
}

// The most words of one bank that the lanes of a warp read at a time when each gathers the i-th element of its first
// vector. Input rows begin at their misalignment, and every 4 of them 16 bytes further: layOutBanks() sees to that.
int conflicts(const PermuteLanes& by, const PermuteOutRows& rows, unsigned i) {
  std::map<unsigned, std::set<unsigned>> banks;
  for (unsigned thread = 0; thread < 32; ++thread) {
    const detail::PermuteStart start = detail::permuteStart(by, thread);
    if (start.row >= std::min(by.rowStep, rows.rows) || start.vector >= rows.vectors) continue;
    const unsigned element = (i + detail::permuteRotation(by, thread)) % 4;
    const unsigned misaligned = start.row * rows.outToRow % 4;
    if (start.vector == 0 && element < misaligned) continue;  // in front of the row
    const unsigned inRow = start.vector * 4 + element - misaligned;
    const unsigned word = inRow / 4 * 4 + inRow % 4 * 1024 + inRow * rows.inStep % 4 + start.row * rows.inToRow;
    banks[word % 32].insert(word);
  }
  std::size_t most = 0;
  for (const auto& bank : banks) most = std::max(most, bank.second.size());
  return static_cast<int>(most);
}

TEST_CASE("Lanes that gather words have few bank conflicts along rows of one axis", "[permute]") {
  for (const unsigned inStep : {4U, 15U, 17U, 3375U})
    for (const unsigned outToRow : {4U, 15U, 17U, 3375U}) {
      if (inStep % 2 == 0 && outToRow % 2 != 0) continue;  // rows of the output alone differ in alignment
      const PermuteOutRows rows{32, 120, 4, true, true, 1, inStep, 1, outToRow};
      const PermuteLanes by = detail::PermuteLanesPlanner(rows).plan();
      for (unsigned i = 0; i < 4; ++i) {
        CAPTURE(inStep, outToRow, i, by.lanes.divisor, by.rotations);
        CHECK(conflicts(by, rows, i) <= (inStep % 2 == 0 ? 2 : 1));
      }
    }
}

TEST_CASE("Words are stored in runs of more than a line", "[permute]") {
  for (const unsigned bytes : {4U, 8U})
    for (const unsigned rowCount : {1U, 64U, 160U, 500U})
      for (unsigned vectors = 1; vectors < 300; ++vectors) {
        const PermuteOutRows rows{vectors, rowCount, bytes, true, true, 1, 4, 1, 225};
        CAPTURE(bytes, rowCount, vectors);
        CHECK(detail::PermuteLanesPlanner(rows).plan().lanes.divisor >= std::min(vectors, 16U));
      }
}

TEST_CASE("Rows of equal misalignment follow one another", "[permute]") {
  const PermuteOutRows rows{31, 120, 4, true, true, 8, 15, 1, 225};
  const PermuteLanes by = detail::PermuteLanesPlanner(rows).plan();
  CHECK(by.rowCycle % 8 == 0);
  CHECK(by.rowCycle % by.rowStep == 0);
}

}  // namespace
}  // namespace gpuopt::test::lanes_test
