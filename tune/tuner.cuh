/// \file
/// Finds the fastest value of one constant for one size, by calls as a program makes them.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/tuning/entry.cuh>
#include <gpuopt/host/tuning/measure.cuh>
#include <gpuopt/host/tuning/store.cuh>
#include <gpuopt/host/tuning/tunable.cuh>

#include <chrono>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace gpuopt::tune {

/// One constant for one size, and the values to try. The default comes before them.
struct Job {
  detail::Tunable constant;
  std::size_t bytes;
  std::vector<detail::TunedValue> values;
  std::function<void()> call;  ///< returns when its work is done

  /// Does call() on poisoned output, and looks at what came out.
  std::function<bool(const std::function<void()>& call)> isCorrect;
};

/// How many microseconds a function takes.
using HostClock = std::function<double(const std::function<void()>&)>;

inline double hostTime(const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

inline std::string nameOf(const Job& job) { return detail::formOf(job.constant).name; }

/// As "gpuopt.upload, 98304 bytes: 4 threads, 65536 bytes: 12.3 us, default 15.1 us".
inline std::string inWords(const detail::TuningEntry& entry, std::size_t bytes) {
  const auto tenths = [](long long nanoseconds) {
    return std::to_string(nanoseconds / 1000) + "." + std::to_string(nanoseconds / 100 % 10) + " us";
  };
  const std::string start = entry.key.name + ", " + std::to_string(bytes) + " bytes: " + entry.choice + ": ";
  if (entry.choice == detail::defaultChoice) return start + tenths(entry.choiceTime);
  return start + tenths(entry.choiceTime) + ", default " + tenths(entry.firstTime);
}

class Tuner {
 public:
  explicit Tuner(HostClock clock = hostTime) : clock_(std::move(clock)) {}

  /// The entry of the fastest value, by measurements of about `seconds`. Throws std::runtime_error if a value makes a
  /// call wrong.
  detail::TuningEntry run(const Job& job, double seconds) const {
    std::vector<detail::TuningEntry> candidates{entryOf(job, detail::defaultChoice)};
    for (const detail::TunedValue& value : job.values)
      candidates.push_back(entryOf(job, detail::textOf(job.constant, value)));
    for (const detail::TuningEntry& candidate : candidates) {
      assume(candidate);
      if (!job.isCorrect(job.call))
        throw std::runtime_error(nameOf(job) + ", " + std::to_string(job.bytes) + " bytes: wrong result with " +
                                 candidate.choice);
    }
    const int calls = callsFor(job, candidates[0]);
    const auto [times, chosen] =
        detail::compareCandidates(candidates.size(), 1e6 * seconds / (calls + 1), [&](std::size_t i) {
          assume(candidates[i]);
          std::this_thread::sleep_for(idleTime);
          const double asleep = time(job, 1);
          return (asleep + time(job, calls)) / 2;
        });
    return withTimes(candidates[chosen], times[chosen], times[0]);
  }

 private:
  // The helper threads are asleep by then, as they are in a program that does something else between transfers.
  static constexpr std::chrono::microseconds idleTime{200};

  static detail::TuningEntry entryOf(const Job& job, const std::string& choice) {
    detail::TuningEntry entry = detail::entryOf({nameOf(job), "", detail::logSizeOf(job.bytes)});
    entry.choice = choice;
    return entry;
  }

  double time(const Job& job, int calls) const {
    return clock_([&] {
             for (int i = 0; i < calls; ++i) job.call();
           }) /
           calls;
  }

  int callsFor(const Job& job, const detail::TuningEntry& first) const {
    constexpr double MICROSECONDS = 200;
    constexpr int MAX_CALLS = 32;
    assume(first);
    return detail::callsOfSample(time(job, 1), MICROSECONDS, MAX_CALLS);
  }

  // Calls find the candidate as they find the choice of a file.
  static void assume(const detail::TuningEntry& candidate) { detail::TuningStore::instance().replace({candidate}); }

  static detail::TuningEntry withTimes(detail::TuningEntry entry, const detail::TimeSpread& choice,
                                       const detail::TimeSpread& first) {
    entry.choiceTime = detail::nanosecondsOf(choice.median);
    entry.firstTime = detail::nanosecondsOf(first.median);
    entry.spread = detail::nanosecondsOf(choice.p90 - choice.p10);
    return entry;
  }

  HostClock clock_;
};

}  // namespace gpuopt::tune
