/// \file
/// Finds the size up to which one of two kernels that do the same is the faster one.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/error.cuh>
#include <gpuopt/host/tuning/candidates.cuh>
#include <gpuopt/host/tuning/entry.cuh>
#include <gpuopt/host/tuning/measure.cuh>
#include <gpuopt/host/tuning/tunable.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <utility>
#include <vector>

namespace gpuopt::tune {

/// Queues work that reads `bytes` and writes up to as many.
using LimitCall =
    std::function<void(const unsigned char* in, std::size_t bytes, unsigned char* out, cudaStream_t stream)>;

/// Two kernels, of which one is for up to `bytes`.
struct LimitJob {
  detail::Tunable constant;
  int logSize;        ///< of the size that the limit depends on
  std::size_t bytes;  ///< the library's own limit
  LimitCall below, above;
};

class LimitTuner {
 public:
  /// \param bytes of the largest input, at least 512 KiB
  /// \param clock another one than the device's
  explicit LimitTuner(std::size_t bytes, TuningClock clock = {})
      : bytes_(bytes), data_(bytes), clock_(std::move(clock)) {
    std::mt19937_64 generator(1);
    std::vector<std::uint64_t> values(bytes / sizeof(std::uint64_t));
    for (std::uint64_t& value : values) value = generator();
    check(cudaMemcpy(data_.data(), values.data(), values.size() * sizeof values[0], cudaMemcpyHostToDevice),
          "cudaMemcpy");
  }

  /// The entry of the limit, by inputs of each power of two: the library's own unless the kernel that it takes loses by
  /// more than 2 % there, and does not win where the caches are cold. The limit moves as long as the next size says
  /// that it should. Takes about `seconds`. Throws std::runtime_error if the results differ.
  detail::TuningEntry run(const LimitJob& job, double seconds) const {
    std::vector<ExperimentReport> reports;  // of the kernel that the library takes, and of the other one
    std::size_t own = 0;                    // sizes below the library's limit
    for (int logSize = MIN_LOG; logSize <= MAX_LOG && bytes_ >> logSize >= 2; ++logSize) {
      const std::size_t bytes = (std::size_t{3} << logSize) / 2;
      own += bytes <= job.bytes ? 1 : 0;
      reports.push_back(compareAt(job, bytes, seconds / (MAX_LOG - MIN_LOG + 1)));
    }
    std::size_t sizes = own;
    while (sizes < reports.size() && reports[sizes].chosen == 1) ++sizes;
    while (sizes <= own && sizes > 0 && reports[sizes - 1].chosen == 1) --sizes;
    const ExperimentReport& report = reports[sizes > own || own == 0 ? (std::min)(own, reports.size() - 1) : own - 1];
    return entryOf(job, report, sizes == own, std::size_t{1} << (sizes == 0 ? 10 : MIN_LOG + static_cast<int>(sizes)));
  }

 private:
  static constexpr int MIN_LOG = 18, MAX_LOG = 25;  // of inputs

  struct Candidate {
    const char* name;
    const LimitCall& call;
  };

  ExperimentReport compareAt(const LimitJob& job, std::size_t bytes, double seconds) const {
    const bool isBelow = bytes <= job.bytes;
    const Candidate taken{isBelow ? "below" : "above", isBelow ? job.below : job.above};
    const Candidate other{isBelow ? "above" : "below", isBelow ? job.above : job.below};
    ExperimentReport report = compare(job, {taken, other}, bytes, seconds, false);
    if (report.chosen == 1 && compare(job, {other, taken}, bytes, seconds / 4, true).chosen == 1) report.chosen = 0;
    return report;
  }

  ExperimentReport compare(const LimitJob& job, const std::vector<Candidate>& candidates, std::size_t bytes,
                           double seconds, bool isCold) const {
    std::vector<detail::TuningCandidate> calls;
    for (const Candidate& each : candidates)
      calls.push_back({each.name, [=](unsigned char* out) { each.call(data_.data(), bytes, out, nullptr); }});
    ExperimentOptions options;
    options.seconds = seconds;
    options.clock = clock_;
    options.isCold = isCold;
    const detail::TuningOutput output{nullptr, bytes, 1, {}};
    return detail::CandidateComparison(detail::formOf(job.constant).name, output, options, nullptr).run(calls);
  }

  static detail::TuningEntry entryOf(const LimitJob& job, const ExperimentReport& report, bool isDefault,
                                     std::size_t limit) {
    detail::TuningEntry entry = detail::entryOf({detail::formOf(job.constant).name, "", job.logSize});
    entry.choice = isDefault ? detail::defaultChoice : detail::textOf(job.constant, {0, limit});
    const ExperimentRow& row = report.rows[isDefault ? 0 : report.chosen];
    entry.choiceTime = detail::nanosecondsOf(row.microseconds);
    entry.firstTime = detail::nanosecondsOf(report.rows[0].microseconds);
    entry.spread = detail::nanosecondsOf(row.p90 - row.p10);
    return entry;
  }

  std::size_t bytes_;
  detail::TuningMemory data_;
  TuningClock clock_;
};

}  // namespace gpuopt::tune
