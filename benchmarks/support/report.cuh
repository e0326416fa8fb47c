/// \file
/// What was measured: one CSV row a candidate and mode, a JSON summary, and lines for the terminal.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../examples/support/run_header.cuh"
#include "../../examples/support/text.hpp"
#include "results.hpp"
#include "timing.cuh"

#include <fmt/core.h>
#include <cuda/version>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// Several ways to do the same work. The first candidate is the one that the others are compared with.
struct Case {
  std::string name;
  std::string type;
  std::size_t n;
  std::size_t bytes;  ///< useful bytes of one call
  std::vector<Candidate> candidates;
};

/// One line of the results.
struct Row {
  std::string name;
  std::string type;
  std::size_t n;
  std::size_t bytes;
  std::string candidate;
  Mode mode;
  Spread us;
  double ratio;  ///< this candidate's time over the first one's: above 1 the first is faster

  double gbps() const { return static_cast<double>(bytes) / us.median / 1e3; }
};

namespace detail {

inline double geometricMean(const std::vector<double>& values) {
  double logs = 0;
  for (const double value : values) logs += std::log(value);
  return values.empty() ? 0 : std::exp(logs / static_cast<double>(values.size()));
}

// Copies as the fastest known kernel does: one 16-byte vector a thread.
__global__ void copyVectors(const uint4* in, uint4* out) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  out[i] = in[i];
}

}  // namespace detail

/// The ways to copy bytes, a multiple of 4096.
inline std::vector<Candidate> copies(const void* from, void* to, std::size_t bytes, cudaStream_t stream) {
  const auto runtime = [=] {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
  };
  const auto vectors = [=] {
    detail::copyVectors<<<static_cast<unsigned>(bytes / 4096), 256, 0, stream>>>(static_cast<const uint4*>(from),
                                                                                 static_cast<uint4*>(to));
    check(cudaGetLastError(), "copyVectors");
  };
  return {{"cudaMemcpyAsync", runtime, nullptr}, {"vector copy", vectors, nullptr}};
}

/// Bytes read and written per second by the fastest copy of `most` bytes, or of 2 GiB if that is less.
inline double copyBandwidth(Timer& timer, const void* from, void* to, std::size_t most) {
  const std::size_t bytes = (std::min)(most, std::size_t{2} << 30) / 4096 * 4096;
  const auto spreads = timer.measure(Mode::coldWrite, copies(from, to, bytes, timer.stream()), 2 * bytes);
  return 2 * static_cast<double>(bytes) / (std::min)(spreads[0].median, spreads[1].median) * 1e6;
}

/// The same from one half of `memory` to the other.
inline double copyBandwidth(Timer& timer, const DeviceMemory& memory) {
  const std::size_t half = memory.bytes() / 2 / 4096 * 4096;
  auto* data = memory.as<unsigned char>();
  return copyBandwidth(timer, data, data + half, half);
}

/// What the files of a benchmark begin with: the run, and the CCCL that it was compiled with.
inline HeaderLines benchmarkHeader(const Options& options) {
  HeaderLines header = headerLines(options.program, options.command);
  const int version = CCCL_VERSION;
  header.emplace_back("cccl", fmt::format("{}.{}.{}", version / 1000000, version / 1000 % 1000, version % 1000));
  return header;
}

/// The files of a benchmark whose header names the speed of the best copy, in bytes a second.
inline ResultFiles resultFiles(const Options& options, double copy) {
  HeaderLines header = benchmarkHeader(options);
  header.emplace_back("copy_gbps", fmt::format("{:.0f}", copy / 1e9));
  return {options, std::move(header)};
}

/// Checks and times cases, and writes what comes out.
class Report {
 public:
  /// `copy` is the device's copy bandwidth in bytes a second.
  Report(Timer& timer, std::vector<Mode> modes, const Options& options, double copy)
      : timer_(timer), modes_(std::move(modes)), copy_(copy), files_(resultFiles(options, copy)) {
    files_.csv() << "case,type,n,bytes,candidate,mode,us,us_p10,us_p90,gbps,copy_share,ratio\n";
  }

  /// Checks every candidate, then measures those that are right in every mode that they have. Prints one
  /// line. Where the first is wrong there is nothing to compare with.
  void run(Case work) {
    const std::string first = work.candidates.front().name;
    wrong_ += removeWrong(work.candidates, work.name + " " + work.type + ", n = " + std::to_string(work.n));
    if (work.candidates.empty() || work.candidates.front().name != first) return;
    std::string line =
        fmt::format("{:<12} {:<9} {:>10} {:>9}", work.name, work.type, work.n, readableBytes(work.bytes));
    for (const Mode mode : modes_) {
      const auto able = ableTo(mode, work.candidates);
      if (!able.empty()) line += record(work, mode, able, timer_.measure(mode, able, work.bytes));
    }
    fmt::print("{}\n", line);
    std::fflush(stdout);
  }

  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<Mode>& modes() const { return modes_; }

  /// Writes and prints what the program makes of the rows. Returns the exit status.
  int finish(const ReportLines& summary) { return files_.finish(summary, wrong_); }

 private:
  static std::vector<Candidate> ableTo(Mode mode, const std::vector<Candidate>& candidates) {
    std::vector<Candidate> able;
    for (const Candidate& each : candidates)
      if (isHostTime(mode) || !each.waits) able.push_back(each);
    return able;
  }

  // Returns for the terminal: the first candidate's time, and how many times as long the others took.
  std::string record(const Case& work, Mode mode, const std::vector<Candidate>& able,
                     const std::vector<Spread>& spreads) {
    std::string text = fmt::format(" | {} {:.2f} us", nameOf(mode), spreads[0].median);
    for (std::size_t i = 0; i < able.size(); ++i) {
      const Spread us = spreads[i];
      const std::size_t bytes = able[i].bytes > 0 ? able[i].bytes : work.bytes;
      const Row row{work.name, work.type, work.n, bytes, able[i].name, mode, us, us.median / spreads[0].median};
      rows_.push_back(row);
      files_.csv() << fmt::format("{},{},{},{},{},{},{:.3f},{:.3f},{:.3f},{:.1f},{:.4f},{:.4f}\n", row.name, row.type,
                                  row.n, row.bytes, row.candidate, nameOf(mode), us.median, us.p10, us.p90, row.gbps(),
                                  1e9 * row.gbps() / copy_, row.ratio);
      text += i == 0 ? fmt::format(" {:.0f} GB/s", row.gbps()) : fmt::format(" {} {:.2f}x", row.candidate, row.ratio);
    }
    files_.csv().flush();
    return text;
  }

  Timer& timer_;
  std::vector<Mode> modes_;
  double copy_;
  ResultFiles files_;
  std::vector<Row> rows_;
  int wrong_ = 0;
};

/// The lowest ratio of every case, candidate and mode: where the first candidate does worst.
inline ReportLines worstRatios(const std::vector<Row>& rows) {
  ReportLines lines;
  for (const Row& row : rows) {
    const std::string name = row.name + ": " + row.candidate + " over gpuopt, " + nameOf(row.mode) + ", worst";
    const auto found = std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return line.first == name; });
    if (found != lines.end())
      found->second = (std::min)(found->second, row.ratio);
    else if (row.candidate != "gpuopt")
      lines.emplace_back(name, row.ratio);
  }
  return lines;
}

inline Names allModes() {
  Names names;
  for (const ModeName& each : modeNames) names.push_back(each.name);
  return names;
}

/// The modes that have these names.
inline std::vector<Mode> modesOf(const Names& names) {
  std::vector<Mode> modes;
  for (const std::string& name : names)
    modes.push_back(
        std::find_if(std::begin(modeNames), std::end(modeNames), [&](ModeName m) { return name == m.name; })->mode);
  return modes;
}

}  // namespace bench
