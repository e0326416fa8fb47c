/// \file
/// What was measured of permutations: every case beside the best copy of its bytes, and means of sets of cases against
/// their goals.
// SPDX-License-Identifier: MIT
#pragma once

#include "buffers.cuh"
#include "goal_report.cuh"
#include "permute_cases.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// What the cases of some sets should reach of the speed of the best copy: their geometric mean, and each of them. 0:
/// nothing was set.
struct PermuteGoal {
  const char* name;
  std::vector<std::string> sets;
  std::size_t elementBytes;  ///< 0: all
  double mean;
  double worst;

  bool covers(const std::string& set, std::size_t bytes) const {
    return std::find(sets.begin(), sets.end(), set) != sets.end() && (elementBytes == 0 || elementBytes == bytes);
  }
};

/// Checks and times permutations, and sums up sets of them.
class PermuteReport : public GoalReport {
 public:
  PermuteReport(Timer& timer, const Buffers& buffers, const Options& options, std::vector<PermuteGoal> goals)
      : GoalReport(timer, options, "name", copyBandwidth(timer, buffers)),
        buffers_(buffers),
        goals_(std::move(goals)) {}

  /// gpuopt's candidate comes first, a peer second. Cases below 1 MiB are timed in a graph.
  void run(const PermuteCase& work, std::size_t elementBytes, std::vector<Candidate> candidates) {
    const std::size_t bytes = work.axes.elements() * elementBytes;
    Goal goal;
    for (const PermuteGoal& each : goals_)
      if (each.covers(work.set, elementBytes)) goal = atLeast(each.worst);
    const CaseTimes times =
        GoalReport::run({work.set, std::to_string(elementBytes), work.name, work.name, 2 * bytes, goal,
                         std::move(candidates), buffers_.copies((std::max)(bytes / 4096, std::size_t{1}) * 4096),
                         bytes < std::size_t{1} << 20 ? Mode::graph : Mode::coldWrite});
    if (!times.candidates.empty()) remember(work, elementBytes, times);
  }

  /// Prints a line for each set and element size after everything else. Returns the exit status.
  int finish(ReportLines lines) {
    for (const PermuteGoal& goal : goals_) addMean(goal, lines);
    const int status = GoalReport::finish(lines);
    for (const Set& set : sets_) print(set);
    return status;
  }

 private:
  struct Set {
    std::string name;
    std::size_t elementBytes;
    std::vector<double> shares;      // of the best copy's speed
    std::vector<double> peerShares;  // of the cases that the peer takes
    std::string worst;               // the case
    int behind = 0;                  // cases in which the peer is faster
  };

  void remember(const PermuteCase& work, std::size_t elementBytes, const CaseTimes& times) {
    auto found = std::find_if(sets_.begin(), sets_.end(),
                              [&](const Set& set) { return set.name == work.set && set.elementBytes == elementBytes; });
    if (found == sets_.end()) found = sets_.insert(found, {work.set, elementBytes, {}, {}, {}});
    const double share = times.shareOfCopy();
    if (found->shares.empty() || share < *std::min_element(found->shares.begin(), found->shares.end()))
      found->worst = work.name;
    found->shares.push_back(share);
    if (times.candidates.size() < 2) return;
    found->peerShares.push_back(times.copy / times.candidates[1]);
    found->behind += times.candidates[1] < times.candidates[0] ? 1 : 0;
  }

  void addMean(const PermuteGoal& goal, ReportLines& lines) const {
    std::vector<double> shares;
    for (const Set& set : sets_)
      if (goal.covers(set.name, set.elementBytes)) shares.insert(shares.end(), set.shares.begin(), set.shares.end());
    if (shares.empty()) return;
    const double mean = detail::geometricMean(shares);
    const std::string name = fmt::format("{}, goal {:.2f}, geometric mean", goal.name, goal.mean);
    lines.emplace_back(name, mean);
    if (mean < goal.mean) fmt::print("MISSED: {} {:.3f}\n", name, mean);
  }

  static void print(const Set& set) {
    std::string line =
        fmt::format("{:<12} {:>2} bytes: {:>3} cases, geometric mean {:.3f} of the best copy, worst {:.3f} ({})",
                    set.name, set.elementBytes, set.shares.size(), detail::geometricMean(set.shares),
                    *std::min_element(set.shares.begin(), set.shares.end()), set.worst);
    if (!set.peerShares.empty())
      line += fmt::format("; cuTENSOR {:.3f}, faster in {} of {}", detail::geometricMean(set.peerShares), set.behind,
                          set.peerShares.size());
    fmt::print("{}\n", line);
  }

  const Buffers& buffers_;
  std::vector<PermuteGoal> goals_;
  std::vector<Set> sets_;
};

}  // namespace bench
