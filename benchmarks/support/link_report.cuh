/// \file
/// Times on the host of what moves data between host and device, beside copies of pinned memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../examples/support/run_header.cuh"
#include "options.hpp"
#include "results.hpp"

#include <gpuopt/host/error.cuh>
#include <gpuopt/pipeline_types.cuh>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace bench {

/// One way to do the work of a case, which waits until it is done.
struct LinkCandidate {
  std::string name;
  std::function<void()> call;
  std::function<bool()> isRight;  ///< of the last call; none: nothing to check
};

struct LinkCase {
  std::string name, memory;
  std::size_t bytes, moved;  ///< of the data; through the link, both ways added
  std::vector<LinkCandidate> candidates;
};

/// What became of the frames of a camera.
struct FrameFigures {
  gpuopt::FrameLatency latency;
  std::size_t lost = 0, wrong = 0;
};

/// Runs cases, candidates in alternation, and writes a line for each.
class LinkReport {
 public:
  explicit LinkReport(const Options& options)
      : isQuick_(options.isQuick),
        repetitions_(options.repetitions),
        folder_(options.folder),
        header_(headerLines(options.program, options.command)),
        files_(options, header_) {
    files_.csv() << "case,memory,n,candidate,mode,us,us_low,us_high,gbps,share,lost\n";
  }

  /// GB/s one way and both ways, of which later cases are shares.
  void setLink(double one, double both) {
    one_ = one;
    both_ = both;
  }

  /// The best median of the case in GB/s.
  double run(const LinkCase& measured) {
    std::vector<std::vector<double>> times(measured.candidates.size());
    for (const LinkCandidate& each : measured.candidates) checkOnce(measured, each);
    for (int i = 0; i < repetitions_; ++i)
      for (std::size_t k = 0; k < times.size(); ++k) times[k].push_back(timeOf(measured.candidates[k].call));
    double best = 0;
    for (std::size_t k = 0; k < times.size(); ++k)
      best = std::max(best, write(measured, measured.candidates[k], times[k]));
    return best;
  }

  /// Latencies of frames: those of the median and of the slowest of a thousand.
  void frames(const std::string& name, const FrameFigures& figures) {
    const double median = microseconds(figures.latency.percentile(0.5));
    const double slow = microseconds(figures.latency.percentile(0.999));
    wrong_ += static_cast<int>(figures.wrong);
    files_.csv() << "frames,," << figures.latency.count() << ",\"" << name << "\",latency," << median << ",," << slow
                 << ",,," << figures.lost << "\n";
    std::fflush(stdout);
    std::printf("frames     %-22s %zu: p50 %.0f us, p99.9 %.0f us, longest %.0f us, %zu lost, %zu wrong\n",
                name.c_str(), figures.latency.count(), median, slow, microseconds(figures.latency.longest()),
                figures.lost, figures.wrong);
  }

  bool isQuick() const { return isQuick_; }
  const std::string& folder() const { return folder_; }
  const HeaderLines& header() const { return header_; }

  int finish() { return files_.finish(summary_, wrong_); }

 private:
  static double timeOf(const std::function<void()>& call) {
    const auto begin = std::chrono::steady_clock::now();
    call();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  static double microseconds(std::chrono::nanoseconds time) { return 1e-3 * static_cast<double>(time.count()); }

  void checkOnce(const LinkCase& measured, const LinkCandidate& candidate) {
    candidate.call();
    if (candidate.isRight == nullptr || candidate.isRight()) return;
    ++wrong_;
    std::printf("WRONG RESULT: %s %s %zu, %s\n", measured.name.c_str(), measured.memory.c_str(), measured.bytes,
                candidate.name.c_str());
  }

  double write(const LinkCase& measured, const LinkCandidate& candidate, std::vector<double>& seconds) {
    std::sort(seconds.begin(), seconds.end());
    const std::size_t tenth = seconds.size() / 10;
    const double median = seconds[seconds.size() / 2];
    const double speed = 1e-9 * static_cast<double>(measured.moved) / median;
    const double link = measured.moved > measured.bytes ? both_ : one_;
    const double share = link > 0 ? speed / link : 1;
    files_.csv() << measured.name << ',' << measured.memory << ',' << measured.bytes << ",\"" << candidate.name << "\","
                 << "wall," << 1e6 * median << ',' << 1e6 * seconds[tenth] << ','
                 << 1e6 * seconds[seconds.size() - 1 - tenth] << ',' << speed << ',' << share << ",\n";
    std::printf("%-10s %-9s %11zu  %-22s %9.3f ms %7.2f GB/s  %.3f\n", measured.name.c_str(), measured.memory.c_str(),
                measured.bytes, candidate.name.c_str(), 1e3 * median, speed, share);
    if (candidate.name == "gpuopt")
      summary_.push_back({measured.name + ", " + measured.memory + ", " + std::to_string(measured.bytes), share});
    return speed;
  }

  bool isQuick_;
  int repetitions_;
  std::string folder_;
  HeaderLines header_;
  double one_ = 0, both_ = 0;
  ReportLines summary_;
  int wrong_ = 0;
  ResultFiles files_;
};

}  // namespace bench
