/// \file
/// Climbs the reduction ladder: runs every step on the same array, checks it, and times it on a GPU.
// SPDX-License-Identifier: MIT
#include "data.cuh"
#include "exit_status.hpp"
#include "measure.cuh"
#include "reduction_steps.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace ladders;

namespace {

// 2^22 elements are what the published figures are for; 2^28 are beyond every cache.
const std::vector<std::uint64_t> usualSizes =
    emulated ? std::vector<std::uint64_t>{10007} : std::vector<std::uint64_t>{1 << 22, 1 << 28};

unsigned sumOnHost(std::size_t n) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += elementAt<unsigned>(i);
  return sum;
}

// Runs a step on poisoned results and adds up what it leaves.
bool isRight(const ReductionStep& step, const DeviceArray<unsigned>& out, unsigned expected) {
  out.poison();
  step.run(1);
  std::vector<unsigned> partials(step.count);
  gpuopt::check(cudaMemcpy(partials.data(), step.partials, step.count * sizeof(unsigned), cudaMemcpyDeviceToHost),
                "cudaMemcpy");
  unsigned sum = 0;
  for (const unsigned each : partials) sum += each;
  return sum == expected;
}

void climb(Report& report, const Options& options, std::size_t n, bool isFirst) {
  const std::size_t bytes = n * sizeof(unsigned);
  const std::size_t half = (n + 7) / 8 * 4;  // a copy of half the array moves as many bytes as a sum reads
  const DeviceArray<unsigned> in(2 * half), out((std::max)(half, partialsOf(n)));
  fill(in.data(), n);

  const std::vector<ReductionStep> steps = reductionSteps({in.data(), n, out.data()});
  if (isFirst) Report::explain({steps.begin(), steps.end()});
  const double copy = emulated ? 0 : copySpeed(in.data(), out.data(), half * sizeof(unsigned), options.repeats);
  report.begin({std::to_string(n) + " elements of 4 bytes", bytes, copy}, steps.size());
  const unsigned expected = sumOnHost(n);
  for (const ReductionStep& step : steps) {
    report.announce(step);
    const bool right = isRight(step, out, expected);
    report.add(step, {right, emulated ? Speeds{} : speedsOf(step, bytes, options.repeats)});
  }
}

int run(int count, char** words) {
  std::vector<std::uint64_t> sizes = usualSizes;
  const Options options = reductionOptions(count, words, sizes);
  return climbAll("reduction_ladder", "Harris 2007, 2^22 elements, GeForce 8800 GTX (86.4 GB/s)", options, sizes,
                  climb);
}

}  // namespace

int main(int count, char** words) {
  return exitStatusOf("reduction_ladder", [&] { return run(count, words) == 0; });
}
