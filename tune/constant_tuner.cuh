/// \file
/// Finds the fastest constants of kernels, which are compiled: one source has each set of them.
// SPDX-License-Identifier: MIT
#pragma once

#include "constants.hpp"

#include <gpuopt/host/error.cuh>
#include <gpuopt/host/tuning/candidates.cuh>
#include <gpuopt/host/tuning/entry.cuh>
#include <gpuopt/host/tuning/measure.cuh>
#include <gpuopt/host/tuning/tunable.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace gpuopt::tune {

/// One choice of the constants of a kernel, and work that runs it.
struct ConstantCandidate {
  std::string choice;
  std::function<void(const ConstantInput& input, unsigned char* out, cudaStream_t stream)> call;
};

/// The choices for one kernel and size, the library's own first.
struct ConstantJob {
  std::string name;
  int logSize;
  std::vector<ConstantCandidate> candidates;
};

inline bool hasPrefix(const std::string& name, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const std::string& prefix) { return name.rfind(prefix, 0) == 0; });
}

/// Two kernels that do the same, of which one is for up to `bytes`.
struct LimitJob {
  std::string name;
  int logSize;
  std::size_t bytes;  ///< the library's own limit
  ConstantCandidate below, above;
};

/// The jobs of all limits whose names begin with one of these.
inline std::vector<LimitJob> limitJobs(const std::vector<std::string>& prefixes) {
  std::vector<LimitJob> jobs;
  for (const LimitWork& work : limitWorks())
    if (hasPrefix(work.name, prefixes))
      jobs.push_back({work.name, work.logSize, work.bytes, {"below", work.below}, {"above", work.above}});
  return jobs;
}

/// The jobs of all kernels whose names begin with one of these.
inline std::vector<ConstantJob> constantJobs(const std::vector<std::string>& prefixes) {
  std::vector<ConstantJob> jobs;
  for (const ConstantWork& work : constantWorks0())
    if (hasPrefix(work.name, prefixes)) jobs.push_back({work.name, work.logSize, {{detail::defaultChoice, work.call}}});
  for (const auto& works : {constantWorks1(), constantWorks2(), constantWorks3()})
    for (const ConstantWork& work : works)
      for (ConstantJob& job : jobs)
        if (job.name == work.name && job.logSize == work.logSize) job.candidates.push_back({work.choice, work.call});
  return jobs;
}

/// Random bytes on the device, and indices of all their structures in a random order.
class ConstantMemory {
 public:
  explicit ConstantMemory(std::size_t bytes)
      : bytes_(bytes), data_(bytes), indices_(bytes / ConstantInput::INDEXED_BYTES * sizeof(unsigned) + 1) {
    std::mt19937_64 generator(1);
    std::vector<std::uint64_t> values(bytes / sizeof(std::uint64_t));
    for (std::uint64_t& value : values) value = generator();
    std::vector<unsigned> order(bytes / ConstantInput::INDEXED_BYTES);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), generator);
    copy(data_, values);
    copy(indices_, order);
  }

  ConstantInput input() const { return {data_.data(), reinterpret_cast<const unsigned*>(indices_.data()), bytes_}; }

 private:
  template <class T>
  static void copy(const detail::TuningMemory& target, const std::vector<T>& values) {
    check(cudaMemcpy(target.data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }

  std::size_t bytes_;
  detail::TuningMemory data_, indices_;
};

/// What was found out of a job.
struct ConstantResult {
  std::optional<detail::TuningEntry> entry;  ///< of the tuning file; none if the device cannot launch the default
  std::string leftOut;                       ///< a line for each choice that it cannot launch
};

class ConstantTuner {
 public:
  /// \param bytes of the input in DRAM; an eighth of it should fit into the L2 cache
  /// \param clock another one than the device's
  explicit ConstantTuner(std::size_t bytes, TuningClock clock = {})
      : large_(bytes), small_(bytes / 8), clock_(std::move(clock)) {}

  /// The fastest choice for the large input, unless the library's own is faster for the small one: a program has one
  /// for both. Takes about `seconds`. Throws std::runtime_error if the results of two choices differ.
  ConstantResult run(const ConstantJob& job, double seconds) const {
    return orLeftOut([&] { return measure(job, seconds); });
  }

  /// The limit up to which one kernel is faster than the other, by inputs of each power of two: the library's own
  /// unless the kernel that it takes loses by more than 2 % somewhere, and does not win where the caches are cold.
  /// Takes about `seconds`.
  ConstantResult run(const LimitJob& job, double seconds) const {
    return orLeftOut([&] { return measure(job, seconds); });
  }

 private:
  static constexpr int LEAST_LOG = 18, MOST_LOG = 25;  // of inputs for a limit

  template <class Measure>
  static ConstantResult orLeftOut(const Measure& measure) {
    try {
      return measure();
    } catch (const CudaError& error) {
      return {std::nullopt, problemOf(detail::defaultChoice, error.what())};
    }
  }

  // Moves the limit from the library's own as long as the next size says that it should.
  ConstantResult measure(const LimitJob& job, double seconds) const {
    std::vector<ExperimentReport> reports;  // of the kernel that the library takes, and of the other one
    std::size_t own = 0;                    // sizes below the library's limit
    for (int logSize = LEAST_LOG; logSize <= MOST_LOG && large_.input().bytes >> logSize >= 2; ++logSize) {
      const std::size_t bytes = (std::size_t{3} << logSize) / 2;
      const bool isBelow = bytes <= job.bytes;
      own += isBelow ? 1 : 0;
      const ConstantCandidate &taken = isBelow ? job.below : job.above, &other = isBelow ? job.above : job.below;
      const double share = seconds / (MOST_LOG - LEAST_LOG + 1);
      reports.push_back(compare({job.name, job.logSize, {taken, other}}, large_, share, {bytes, false}));
      if (reports.back().chosen == 1 &&
          compare({job.name, job.logSize, {other, taken}}, large_, share / 4, {bytes, true}).chosen == 1)
        reports.back().chosen = 0;
    }
    if (reports.empty()) return {std::nullopt, problemOf(detail::defaultChoice, "the input is too small")};
    std::size_t sizes = own;
    while (sizes < reports.size() && reports[sizes].chosen == 1) ++sizes;
    while (sizes <= own && sizes > 0 && reports[sizes - 1].chosen == 1) --sizes;
    const std::size_t kib = sizes == 0 ? 1 : std::size_t{1} << (static_cast<std::size_t>(LEAST_LOG) + sizes - 10);
    detail::TuningEntry entry = detail::entryOf({job.name, "", job.logSize});
    entry.choice = sizes == own ? detail::defaultChoice : "KIB " + std::to_string(kib);
    const ExperimentReport& report = reports[sizes > own || own == 0 ? (std::min)(own, reports.size() - 1) : own - 1];
    setTimes(entry, report, sizes == own ? 0 : report.chosen);
    return {entry, {}};
  }

  ConstantResult measure(const ConstantJob& job, double seconds) const {
    const ExperimentReport report = compare(job, large_, seconds, {});
    std::size_t chosen = report.chosen;
    if (chosen != 0) {
      const ConstantJob both{job.name, job.logSize, {job.candidates[chosen], job.candidates[0]}};
      if (compare(both, small_, seconds / 4, {}).chosen == 1) chosen = 0;
    }
    return {entryOf(job, report, chosen), problemsOf(report)};
  }

  // How much of the input, and whether it is in no cache.
  struct Conditions {
    std::size_t bytes = ~std::size_t{0};
    bool isCold = false;
  };

  ExperimentReport compare(const ConstantJob& job, const ConstantMemory& memory, double seconds,
                           Conditions conditions) const {
    ConstantInput input = memory.input();
    input.bytes = (std::min)(input.bytes, conditions.bytes);
    std::vector<detail::TuningCandidate> calls;
    for (const ConstantCandidate& each : job.candidates)
      calls.push_back({each.choice, [&each, input](unsigned char* out) { each.call(input, out, nullptr); }});
    ExperimentOptions options;
    options.seconds = seconds;
    options.clock = clock_;
    options.isCold = conditions.isCold;
    const detail::TuningOutput output{nullptr, input.bytes, 1, {}};
    return detail::CandidateComparison(job.name, output, options, nullptr).run(calls);
  }

  static detail::TuningEntry entryOf(const ConstantJob& job, const ExperimentReport& report, std::size_t chosen) {
    detail::TuningEntry entry = detail::entryOf({job.name, "", job.logSize});
    entry.choice = report.rows[chosen].candidate;
    setTimes(entry, report, chosen);
    return entry;
  }

  static void setTimes(detail::TuningEntry& entry, const ExperimentReport& report, std::size_t chosen) {
    const ExperimentRow& row = report.rows[chosen];
    entry.choiceTime = detail::nanosecondsOf(row.microseconds);
    entry.firstTime = detail::nanosecondsOf(report.rows[0].microseconds);
    entry.spread = detail::nanosecondsOf(row.p90 - row.p10);
  }

  static std::string problemOf(const std::string& choice, const std::string& problem) {
    return "  " + choice + " is left out: " + problem + "\n";
  }

  static std::string problemsOf(const ExperimentReport& report) {
    std::string lines;
    for (const ExperimentRow& row : report.rows)
      if (!row.problem.empty()) lines += problemOf(row.candidate, row.problem);
    return lines;
  }

  ConstantMemory large_, small_;
  TuningClock clock_;
};

}  // namespace gpuopt::tune
