/// \file
/// What was measured of transpositions: every case beside the best copy of its bytes, and against its goal.
// SPDX-License-Identifier: MIT
#pragma once

#include "goal_report.cuh"
#include "transpose_data.cuh"

#include <fmt/core.h>

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

/// Several ways to transpose. The first is gpuopt's.
struct TransposeCase {
  std::string group;
  std::string element;  ///< its bytes, or what a function makes of it
  Shape shape;
  std::size_t bytes;  ///< useful ones, read and written
  Goal goal;
  std::vector<Candidate> candidates;
  Mode mode = Mode::coldWrite;
};

/// Checks and times transpositions beside copies.
class TransposeReport : public GoalReport {
 public:
  TransposeReport(Timer& timer, const Buffers& buffers, const Options& options)
      : GoalReport(timer, options, "rows,cols,in_ld,out_ld,batch", copyBandwidth(timer, buffers)), buffers_(buffers) {}

  /// Returns gpuopt's microseconds, 0 where its result is wrong.
  double run(const TransposeCase& work) {
    const Shape& s = work.shape;
    const CaseTimes times = GoalReport::run(
        {work.group, work.element, s.text(), fmt::format("{},{},{},{},{}", s.rows, s.cols, s.inLd, s.outLd, s.batch),
         work.bytes, work.goal, work.candidates, buffers_.copies(work.bytes / 2), work.mode});
    return times.candidates.empty() ? 0 : times.candidates.front();
  }

 private:
  const Buffers& buffers_;
};

}  // namespace bench
