/// \file
/// What the benchmarks of groups of cases, each on buffers of 1 GiB, begin and end with.
// SPDX-License-Identifier: MIT
#pragma once

#include "buffers.cuh"
#include "goal_report.cuh"
#include "options.hpp"

#include <cstddef>

namespace bench {

/// The run() of such a benchmark; with --quick the buffers have 256 MiB.
/// \param columns names of a case's own columns
/// \param spare bytes of a buffer beyond those that a case works on
template <class Bench, std::size_t COUNT>
int runGoalGroups(Options& options, const Group<Bench> (&groups)[COUNT], const char* columns, std::size_t spare = 0) {
  Names rows = namesOf(groups);
  options.choice("--rows", rows, "groups of cases");
  options.parse(11, 7);
  Timer timer(options.repetitions);

  const std::size_t bytes = std::size_t{options.isQuick ? 256u : 1024u} << 20;
  const Buffers buffers(bytes + spare, timer.stream());
  GoalReport report(timer, options, columns, copyBandwidth(timer, buffers));
  Bench bench(timer, buffers, report, bytes);
  measureChosen(groups, rows, bench);
  return report.finish(report.peers());
}

}  // namespace bench
