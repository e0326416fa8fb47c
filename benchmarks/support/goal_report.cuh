/// \file
/// What was measured against goals: every case beside the best copy of its bytes, or another reference.
// SPDX-License-Identifier: MIT
#pragma once

#include "report.cuh"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// Medians in microseconds: of the candidates in their order, and of the fastest reference, in most cases a
/// copy.
struct CaseTimes {
  std::vector<double> candidates;
  double copy;

  double shareOfCopy() const { return copy / candidates.front(); }
};

/// What a case should reach, and how its figure comes from the times. 0: nothing was set.
struct Goal {
  double figure = 0;
  bool isUpperBound = false;  ///< at most that, rather than at least
  std::function<double(const CaseTimes&)> of = [](const CaseTimes& times) { return times.shareOfCopy(); };

  bool isMissedBy(double reached) const { return figure > 0 && (isUpperBound ? reached > figure : reached < figure); }
};

/// So much of the speed of the fastest reference.
inline Goal atLeast(double share) {
  Goal goal;
  goal.figure = share;
  return goal;
}

/// At most so many microseconds more than the fastest reference.
inline Goal atMostOver(double microseconds) {
  Goal goal;
  goal.figure = microseconds;
  goal.isUpperBound = true;
  goal.of = [](const CaseTimes& times) { return times.candidates.front() - times.copy; };
  return goal;
}

/// Several ways to do the same work. The first is gpuopt's.
struct GoalCase {
  std::string group;
  std::string element;  ///< its bytes, or what a function makes of it
  std::string subject;  ///< what is worked on, for the terminal
  std::string columns;  ///< the same for the CSV file
  std::size_t bytes;    ///< useful ones, read and written
  Goal goal;
  std::vector<Candidate> candidates;
  std::vector<Candidate> references;  ///< the fastest of them is what the first candidate is compared with
  Mode mode = Mode::coldWrite;
};

/// Checks and times cases, and writes what comes out.
class GoalReport {
 public:
  /// \param columns names of a case's own columns
  /// \param copy bandwidth of large copies in bytes a second, for the header
  GoalReport(Timer& timer, const Options& options, const std::string& columns, double copy)
      : timer_(timer), files_(resultFiles(options, copy)) {
    files_.csv() << "case,element," << columns << ",bytes,candidate,mode,us,us_p10,us_p90,gbps,ratio,figure,goal\n";
  }

  /// Checks every candidate, then measures those that are right, and the references. Prints one line. Returns
  /// no times where the first one's result is wrong: then nothing is measured.
  CaseTimes run(GoalCase work) {
    const std::string first = work.candidates.front().name;
    wrong_ += removeWrong(work.candidates, titleOf(work));
    if (work.candidates.empty() || work.candidates.front().name != first) return {{}, 0};
    std::vector<Candidate> all = work.candidates;
    all.insert(all.end(), work.references.begin(), work.references.end());
    const auto spreads = timer_.measure(work.mode, all, work.bytes);
    const CaseTimes times = timesOf(spreads, work.candidates.size());
    const double figure = work.goal.of(times);
    for (std::size_t i = 0; i < all.size(); ++i) write(work, all[i].name, spreads[i], times.copy, figure, i == 0);
    print(work, times, figure);
    remember(work, times, figure);
    return times;
  }

  /// Of every group and peer: the peer's time over gpuopt's, where it comes closest.
  const ReportLines& peers() const { return peers_; }

  /// Prints what missed its goal, where a peer is faster, the worst figures, and more. Returns the exit
  /// status.
  int finish(const ReportLines& more = {}) {
    for (const std::string& line : missed_) fmt::print("MISSED: {}\n", line);
    for (const std::string& line : slower_) fmt::print("SLOWER: {}\n", line);
    fmt::print("{} goals missed, {} times slower than a peer\n", missed_.size(), slower_.size());
    ReportLines summary = worst_;
    summary.insert(summary.end(), more.begin(), more.end());
    return files_.finish(summary, wrong_);
  }

 private:
  // The references come last.
  static CaseTimes timesOf(const std::vector<Spread>& spreads, std::size_t candidates) {
    CaseTimes times{{}, 0};
    for (const Spread& spread : spreads)
      if (times.candidates.size() < candidates)
        times.candidates.push_back(spread.median);
      else
        times.copy = times.copy == 0 ? spread.median : (std::min)(times.copy, spread.median);
    return times;
  }

  static std::string titleOf(const GoalCase& work) {
    return fmt::format("{:<9} {:<13} {:<34}", work.group, work.element, work.subject);
  }

  void write(const GoalCase& work, const std::string& candidate, const Spread& us, double copy, double figure,
             bool isFirst) {
    files_.csv() << fmt::format("{},{},{},{},{},{},{:.3f},{:.3f},{:.3f},{:.1f},{:.4f},", work.group, work.element,
                                work.columns, work.bytes, candidate, nameOf(work.mode), us.median, us.p10, us.p90,
                                static_cast<double>(work.bytes) / us.median / 1e3, copy / us.median)
                 << (isFirst ? fmt::format("{:.4f},{:.4g}\n", figure, work.goal.figure) : ",\n");
    files_.csv().flush();
  }

  static void print(const GoalCase& work, const CaseTimes& times, double figure) {
    std::string line =
        titleOf(work) + fmt::format(" {:9.2f} us {:5.0f} GB/s  copy {:9.2f} us | {:6.3f}", times.candidates[0],
                                    static_cast<double>(work.bytes) / times.candidates[0] / 1e3, times.copy, figure);
    if (work.goal.figure > 0) line += fmt::format(" of {:.2f}", work.goal.figure);
    if (work.goal.isMissedBy(figure)) line += " MISSED";
    for (std::size_t i = 1; i < work.candidates.size(); ++i)
      line += fmt::format(" | {} {:.2f}x", work.candidates[i].name, times.candidates[i] / times.candidates[0]);
    fmt::print("{}\n", line);
    std::fflush(stdout);
  }

  void remember(const GoalCase& work, const CaseTimes& times, double figure) {
    if (work.goal.isMissedBy(figure))
      missed_.push_back(titleOf(work) + fmt::format(" {:6.3f} of {:.2f}", figure, work.goal.figure));
    if (work.goal.figure > 0) {
      const std::string name = fmt::format("{}, {}, goal {:.2f}, worst", work.group, work.element, work.goal.figure);
      keepWorst(worst_, name, figure, work.goal.isUpperBound);
    }
    for (std::size_t i = 1; i < work.candidates.size(); ++i)
      if (work.candidates[i].isPeer) compare(work, work.candidates[i].name, times.candidates[i] / times.candidates[0]);
  }

  void compare(const GoalCase& work, const std::string& peer, double ratio) {
    if (ratio < 1) slower_.push_back(titleOf(work) + " " + peer + fmt::format(" {:.3f}x", ratio));
    keepWorst(peers_, work.group + ": " + peer + " over gpuopt, worst", ratio, false);
  }

  static void keepWorst(ReportLines& lines, const std::string& name, double value, bool greatest) {
    const auto found = std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return line.first == name; });
    if (found == lines.end())
      lines.emplace_back(name, value);
    else
      found->second = greatest ? (std::max)(found->second, value) : (std::min)(found->second, value);
  }

  Timer& timer_;
  ResultFiles files_;
  std::vector<std::string> missed_;
  ReportLines worst_;
  std::vector<std::string> slower_;
  ReportLines peers_;
  int wrong_ = 0;
};

}  // namespace bench
