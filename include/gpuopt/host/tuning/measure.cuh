/// \file
/// Times of candidates in alternation, and the choice among them.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/error.cuh>
#include <gpuopt/host/event.cuh>

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <utility>
#include <vector>

GPUOPT_NAMESPACE_BEGIN

/// Tells how many microseconds the work takes that a function queues in a stream. It calls the function once, and waits
/// for the work. What is no time, such as NaN, a negative number or infinity, rules the candidate out.
using TuningClock = std::function<double(cudaStream_t stream, const std::function<void()>& work)>;

namespace detail {

/// The clock of the device.
class EventClock {
 public:
  double measure(cudaStream_t stream, const std::function<void()>& work) {
    if (!start_) start_.emplace(cudaEventDefault);
    if (!stop_) stop_.emplace(cudaEventDefault);
    start_->record(stream);
    work();
    stop_->record(stream);
    stop_->wait();
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, *start_, *stop_), "cudaEventElapsedTime");
    return 1e3 * static_cast<double>(milliseconds);
  }

 private:
  std::optional<Event> start_, stop_;
};

/// Microseconds: the median, and the range that holds four samples of five.
struct TimeSpread {
  double median = 0, p10 = 0, p90 = 0;
};

/// Longer than any time: a sample for which a clock gave none.
inline constexpr double noTime = std::numeric_limits<double>::infinity();

/// noTime unless each of the samples is a time.
inline TimeSpread spreadOf(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  if (samples.back() == noTime) return {noTime, noTime, noTime};
  const auto at = [&](double share) {
    return samples[static_cast<std::size_t>(share * static_cast<double>(samples.size() - 1) + 0.5)];
  };
  return {at(0.5), at(0.1), at(0.9)};
}

/// Whole nanoseconds, as the tuning file has them.
inline long long nanosecondsOf(double microseconds) { return static_cast<long long>(1e3 * microseconds + 0.5); }

/// The calls that make a sample of about `microseconds`, if one takes `once`: short ones are timed several at a time.
inline int callsOfSample(double once, double microseconds, int maxCalls) {
  return once * maxCalls <= microseconds ? maxCalls
         : once >= microseconds          ? 1
                                         : static_cast<int>(microseconds / once) + 1;
}

inline constexpr int minRounds = 5, maxRounds = 31;

/// sample(i) gives one time of candidate i. The clock and the temperature of a device drift, so each candidate has one
/// sample in each round; and what ran just before matters, so each round has another order. The first round warms up,
/// and says how many rounds the budget of microseconds allows.
template <class Sample>
std::vector<TimeSpread> measureInTurn(std::size_t candidates, double budget, Sample sample) {
  double round = 0;
  for (std::size_t i = 0; i < candidates; ++i) round += sample(i);
  const int rounds = round * maxRounds <= budget  ? maxRounds
                     : round * minRounds > budget ? minRounds
                                                  : static_cast<int>(budget / round);
  std::vector<std::vector<double>> samples(candidates);
  std::vector<std::size_t> order(candidates);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::minstd_rand generator;
  for (int k = 0; k < rounds; ++k) {
    std::shuffle(order.begin(), order.end(), generator);
    for (const std::size_t i : order) samples[i].push_back(sample(i));
  }
  std::vector<TimeSpread> spreads;
  for (auto& each : samples) spreads.push_back(spreadOf(std::move(each)));
  return spreads;
}

/// The fastest; the first one, which is the default, unless it takes 2 % longer than that. Smaller differences come and
/// go with the next measurement.
inline std::size_t chooseCandidate(const std::vector<TimeSpread>& spreads) {
  constexpr double GAIN = 0.98;
  std::size_t best = 0;
  for (std::size_t i = 1; i < spreads.size(); ++i)
    if (spreads[i].median < spreads[best].median) best = i;
  return spreads[best].median < GAIN * spreads[0].median ? best : 0;
}

struct Comparison {
  std::vector<TimeSpread> times;
  std::size_t chosen;
};

/// Measures all candidates and chooses one, within about `budget` microseconds. The fastest of many is often the
/// luckiest, so it has to beat the first one again, in samples of the two alone; their times are those.
template <class Sample>
Comparison compareCandidates(std::size_t candidates, double budget, Sample sample) {
  Comparison found{measureInTurn(candidates, budget / 2, sample), 0};
  const std::size_t best = chooseCandidate(found.times);
  if (best == 0) return found;
  const auto again = measureInTurn(2, budget / 2, [&](std::size_t i) { return sample(i == 0 ? 0 : best); });
  found.times[0] = again[0];
  found.times[best] = again[1];
  if (chooseCandidate(again) == 1) found.chosen = best;
  return found;
}

}  // namespace detail
GPUOPT_NAMESPACE_END
