/// \file
/// Permutations of the cases of benchmarks/permute_cases.txt, beside the best copy of as many bytes and cuTENSOR; and
/// the host time of a plan.
// SPDX-License-Identifier: MIT
#include "support/cutensor.cuh"
#include "support/options.hpp"
#include "support/permute_report.cuh"

#include <gpuopt/permute.cuh>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace bench;

constexpr std::size_t MiB = std::size_t{1} << 20;

std::vector<PermuteGoal> goals() {
  return {{"ttc, 1 byte", {"ttc"}, 1, 0.80, 0},
          {"ttc, 2 bytes", {"ttc"}, 2, 0.88, 0},
          {"ttc, 4 bytes", {"ttc"}, 4, 0.93, 0.85},
          {"ttc, 8 bytes", {"ttc"}, 8, 0.95, 0.85},
          {"ttc, 16 bytes", {"ttc"}, 16, 0.95, 0.85},
          {"15^6", {"15^6"}, 4, 0.85, 0.70},
          {"16^6", {"16^6"}, 4, 0.93, 0.70},
          {"17^6", {"17^6"}, 4, 0.85, 0.70},
          {"cutt", {"cutt bench5", "cutt bench7"}, 0, 0.88, 0},
          {"cudax and nvmath", {"cudax", "nvmath"}, 0, 0.80, 0.60},
          {"ml", {"ml"}, 0, 0.96, 0}};
}

/// Finds the elements of index i, counted in the order of the output's axes, in both tensors.
template <class T>
struct IsPermuted {
  const T* in;
  const T* out;
  gpuopt::AxisNumbers extents;
  gpuopt::AxisNumbers inStrides;
  gpuopt::AxisNumbers outStrides;

  __device__ bool operator()(std::size_t i) const {
    std::ptrdiff_t from = 0, to = 0;
    for (std::size_t k = extents.rank; k-- > 0;) {
      const auto extent = static_cast<std::size_t>(extents.value[k]);
      const auto index = static_cast<std::ptrdiff_t>(i % extent);
      i /= extent;
      from += index * inStrides.value[k];
      to += index * outStrides.value[k];
    }
    return detail::sameBytes(in[from], out[to]);
  }
};

/// A tensor in a buffer: the index of the element whose indices are all 0, at a boundary of 256 bytes, and the elements
/// of the buffer up to the tensor's end.
struct Extent {
  std::size_t first = 0;
  std::size_t end = 1;
};

Extent extentOf(const TensorAxes& axes, const std::vector<std::ptrdiff_t>& strides, std::size_t elementBytes) {
  Extent extent;
  for (std::size_t k = 0; k < strides.size(); ++k) {
    const std::ptrdiff_t reach = (axes.extents[k] - 1) * strides[k];
    (reach < 0 ? extent.first : extent.end) += static_cast<std::size_t>(reach < 0 ? -reach : reach);
  }
  const std::size_t line = 256 / elementBytes;
  extent.first = (extent.first + line - 1) / line * line;
  extent.end += extent.first;
  return extent;
}

template <class Call>
double hostMicroseconds(const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

class Bench {
 public:
  Bench(Timer& timer, const Buffers& buffers, PermuteReport& report)
      : stream_(timer.stream()), buffers_(buffers), report_(report), cutensor_(timer.stream()) {}

  void measure(const PermuteCase& work, std::ptrdiff_t elementBytes) {
    switch (elementBytes) {
      case 1:
        return measure<std::uint8_t>(work);
      case 2:
        return measure<std::uint16_t>(work);
      case 4:
        return measure<float>(work);
      case 8:
        return measure<double>(work);
      case 16:
        return measure<double2>(work);
      default:
        throw std::runtime_error(work.name + ": no elements have " + std::to_string(elementBytes) + " bytes");
    }
  }

  /// Medians over the cases, in microseconds.
  ReportLines planTimes() const {
    ReportLines lines;
    const auto add = [&](const char* name, const std::vector<double>& times) {
      if (times.empty()) return;
      lines.emplace_back(std::string(name) + ", host us, median", spreadOf(times).median);
      lines.emplace_back(std::string(name) + ", host us, nine of ten below", spreadOf(times).p90);
    };
    add("plan of gpuopt", plans_);
    add("plan of cutensorPermute", peerPlans_);
    return lines;
  }

 private:
  template <class T>
  void measure(const PermuteCase& work) {
    const TensorAxes& axes = work.axes;
    const Extent inExtent = extentOf(axes, axes.inStrides, sizeof(T));
    const Extent outExtent = extentOf(axes, axes.outStrides, sizeof(T));
    if ((std::max)(inExtent.end, outExtent.end) * sizeof(T) > buffers_.bytes()) {
      std::printf("SKIPPED, too large: %s, %s of %zu bytes\n", work.set.c_str(), work.name.c_str(), sizeof(T));
      return;
    }
    const gpuopt::TensorView<const T> in(buffers_.in<T>() + inExtent.first, axes.extents, axes.inStrides);
    const gpuopt::TensorView<T> out(buffers_.out<T>() + outExtent.first, axes.extents, axes.outStrides);
    gpuopt::AxisNumbers order;
    for (std::size_t k = 0; k < axes.extents.size(); ++k) order.add(static_cast<std::ptrdiff_t>(k));

    const auto checked = [&](Candidate candidate) { return withCheck(std::move(candidate), in, out, outExtent.end); };
    std::vector<Candidate> candidates{
        checked({"gpuopt", [=, stream = stream_] { gpuopt::permute(in, out, order, stream); }, nullptr})};
    for (Candidate& peer : peers(in, out, work)) candidates.push_back(checked(std::move(peer)));
    timePlan(in, out);
    report_.run(work, sizeof(T), std::move(candidates));
  }

  // The plan alone: a call also checks its arguments, and launches.
  template <class T>
  void timePlan(const gpuopt::TensorView<const T>& in, const gpuopt::TensorView<T>& out) {
    constexpr int WARM_UP = 3, SAMPLES = 21;
    std::vector<double> times;
    volatile std::size_t blocks = 0;  // so that nothing of the plan is left out
    for (int i = -WARM_UP; i < SAMPLES; ++i) {
      const double time = hostMicroseconds([&] { blocks = gpuopt::detail::permutePlan(in, out, true).blocks; });
      if (i >= 0) times.push_back(time);
    }
    plans_.push_back(spreadOf(times).median);
  }

  template <class T>
  std::vector<Candidate> peers(const gpuopt::TensorView<const T>& in, const gpuopt::TensorView<T>& out,
                               const PermuteCase& work) {
    std::vector<Candidate> found;
    const double time = hostMicroseconds(
        [&] { found = cutensor_.permutations(in.data, out.data, work.axes, work.set + ", " + work.name); });
    if (!found.empty()) peerPlans_.push_back(time);
    return found;
  }

  // What throws at its first call counts as wrong, and the others are measured.
  template <class T>
  Candidate withCheck(Candidate candidate, const gpuopt::TensorView<const T>& in, const gpuopt::TensorView<T>& out,
                      std::size_t outEnd) const {
    std::size_t elements = 1;
    for (std::size_t k = 0; k < in.rank(); ++k) elements *= static_cast<std::size_t>(in.extents[k]);
    candidate.correct = [=, call = candidate.call, &buffers = buffers_] {
      buffers.poison(outEnd * sizeof(T));
      try {
        call();
      } catch (const std::exception& error) {
        std::printf("%s\n", error.what());
        return false;
      }
      return buffers.areRight(elements, IsPermuted<T>{in.data, out.data, in.extents, in.strides, out.strides});
    };
    return candidate;
  }

  cudaStream_t stream_;
  const Buffers& buffers_;
  PermuteReport& report_;
  Cutensor cutensor_;
  std::vector<double> plans_;
  std::vector<double> peerPlans_;
};

bool isChosen(const Names& chosen, const std::string& name) { return chosen.empty() || contains(chosen, name); }

// Room for the largest case on a device that has it.
std::size_t bufferBytes() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return (std::min)(2560 * MiB, free * 2 / 5 / 4096 * 4096);
}

int run(Options& options) {
  Names files{"benchmarks/permute_cases.txt"}, sets, elements;
  options.list("--cases", files, "files of cases");
  options.list("--sets", sets, "sets of cases (all)");
  options.list("--elements", elements, "bytes of the elements (all)");
  options.parse(11, 7);
  std::vector<PermuteCase> cases;
  for (const std::string& file : files)
    for (PermuteCase& each : readPermuteCases(file)) cases.push_back(std::move(each));
  Timer timer(options.repetitions);

  const Buffers buffers(bufferBytes(), timer.stream());
  PermuteReport report(timer, buffers, options, goals());
  Bench bench(timer, buffers, report);
  for (std::size_t i = 0; i < cases.size(); i += options.isQuick ? 7 : 1)
    for (const std::ptrdiff_t bytes : cases[i].elementBytes)
      if (isChosen(sets, cases[i].set) && isChosen(elements, std::to_string(bytes))) bench.measure(cases[i], bytes);
  ReportLines lines = report.peers();
  const ReportLines plans = bench.planTimes();
  lines.insert(lines.end(), plans.begin(), plans.end());
  return report.finish(std::move(lines));
}

}  // namespace

int main(int count, char** words) {
  return runBenchmark(count, words, "permute_bench", "Permutations, beside the best copy and cuTENSOR.", run);
}
