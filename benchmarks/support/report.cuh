/// \file
/// What was measured: one CSV row a candidate and mode, a JSON summary, and lines for the terminal.
// SPDX-License-Identifier: MIT
#pragma once

#include "run_header.cuh"
#include "timing.cuh"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
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
    detail::copyVectors<<<static_cast<unsigned>(bytes / 4096), 256, 0, stream>>>(
        static_cast<const uint4*>(from), static_cast<uint4*>(to));
    check(cudaGetLastError(), "copyVectors");
  };
  return {{"cudaMemcpyAsync", runtime, nullptr}, {"vector copy", vectors, nullptr}};
}

/// Bytes read and written a second by the fastest copy of so many bytes, up to 2 GiB.
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

/// The files of one program's results, <folder>/<program>.csv and .json, which say how they came about.
class ResultFiles {
 public:
  ResultFiles(const std::string& program, const std::string& command, const std::string& folder,
              const HeaderLines& more = {})
      : header_(headerLines(program, command)) {
    header_.insert(header_.end(), more.begin(), more.end());
    std::filesystem::create_directories(folder);
    const std::string path = (std::filesystem::path(folder) / program).string();
    csv_.open(path + ".csv");
    json_.open(path + ".json");
    if (!csv_ || !json_) throw std::runtime_error("cannot write to " + folder);
    writeCsvHeader(csv_, header_);
    for (const auto& [name, value] : header_) std::printf("%s: %s\n", name.c_str(), value.c_str());
  }

  std::ofstream& csv() { return csv_; }

  /// Writes and prints the summary. Returns the exit status.
  int finish(const std::vector<std::pair<std::string, double>>& summary, int wrong) {
    writeJsonHeader(json_, header_, wrong);
    json_ << "  \"summary\": {";
    writeJsonList(json_, summary, 4, [&](const auto& line) {
      json_ << detail::quoted(line.first) << ": " << detail::format("%.4f", line.second);
      std::printf("%-58s %10.3f\n", line.first.c_str(), line.second);
    });
    json_ << "\n  }\n}\n";
    std::printf("%d wrong results\n", wrong);
    return wrong == 0 ? 0 : 1;
  }

 private:
  HeaderLines header_;
  std::ofstream csv_;
  std::ofstream json_;
};

/// Checks and times cases, and writes what comes out.
class Report {
 public:
  /// `copy` is the device's copy bandwidth in bytes a second.
  Report(Timer& timer, std::vector<Mode> modes, const std::string& program, const std::string& command,
         const std::string& folder, double copy)
      : timer_(timer),
        modes_(std::move(modes)),
        copy_(copy),
        files_(program, command, folder, {{"copy_gbps", detail::format("%.0f", copy / 1e9)}}) {
    files_.csv() << "case,type,n,bytes,candidate,mode,us,us_p10,us_p90,gbps,copy_share,ratio\n";
  }

  /// Checks every candidate, then measures those that are right in every mode that they have. Prints one
  /// line. Where the first is wrong there is nothing to compare with.
  void run(Case work) {
    const std::string first = work.candidates.front().name;
    wrong_ += removeWrong(work.candidates, work.name + " " + work.type + ", n = " + std::to_string(work.n));
    if (work.candidates.empty() || work.candidates.front().name != first) return;
    std::string line = detail::format("%-12s %-9s %10zu %9s", work.name.c_str(), work.type.c_str(), work.n,
                                      readableBytes(work.bytes).c_str());
    for (const Mode mode : modes_) {
      const auto able = ableTo(mode, work.candidates);
      if (!able.empty()) line += record(work, mode, able, timer_.measure(mode, able, work.bytes));
    }
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  }

  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<Mode>& modes() const { return modes_; }

  /// Writes and prints what the program makes of the rows. Returns the exit status.
  int finish(const std::vector<std::pair<std::string, double>>& summary) {
    return files_.finish(summary, wrong_);
  }

 private:
  static std::vector<Candidate> ableTo(Mode mode, const std::vector<Candidate>& candidates) {
    std::vector<Candidate> able;
    for (const Candidate& each : candidates)
      if (mode == Mode::wall || !each.waits) able.push_back(each);
    return able;
  }

  // Returns for the terminal: the first candidate's time, and how many times as long the others took.
  std::string record(const Case& work, Mode mode, const std::vector<Candidate>& able,
                     const std::vector<Spread>& spreads) {
    std::string text = detail::format(" | %s %.2f us", nameOf(mode), spreads[0].median);
    for (std::size_t i = 0; i < able.size(); ++i) {
      const Spread us = spreads[i];
      const std::size_t bytes = able[i].bytes > 0 ? able[i].bytes : work.bytes;
      const Row row{work.name,    work.type, work.n, bytes,
                    able[i].name, mode,      us,     us.median / spreads[0].median};
      rows_.push_back(row);
      files_.csv() << row.name << ',' << row.type << ',' << row.n << ',' << row.bytes << ',' << row.candidate
                   << ',' << nameOf(mode)
                   << detail::format(",%.3f,%.3f,%.3f,%.1f,%.4f,%.4f\n", us.median, us.p10, us.p90,
                                     row.gbps(), 1e9 * row.gbps() / copy_, row.ratio);
      text += i == 0 ? detail::format(" %.0f GB/s", row.gbps())
                     : detail::format(" %s %.2fx", row.candidate.c_str(), row.ratio);
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
inline std::vector<std::pair<std::string, double>> worstRatios(const std::vector<Row>& rows) {
  std::vector<std::pair<std::string, double>> lines;
  for (const Row& row : rows) {
    const std::string name =
        row.name + ": " + row.candidate + " over gpuopt, " + nameOf(row.mode) + ", worst";
    const auto found =
        std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return line.first == name; });
    if (found != lines.end())
      found->second = (std::min)(found->second, row.ratio);
    else if (row.candidate != "gpuopt")
      lines.emplace_back(name, row.ratio);
  }
  return lines;
}

/// Modes by name; throws std::invalid_argument for others.
inline std::vector<Mode> modesOf(const std::vector<std::string>& names) {
  std::vector<Mode> modes;
  for (const std::string& name : names) {
    const auto found =
        std::find_if(std::begin(modeNames), std::end(modeNames), [&](ModeName m) { return name == m.name; });
    if (found == std::end(modeNames)) throw std::invalid_argument("unknown mode " + name);
    modes.push_back(found->mode);
  }
  return modes;
}

}  // namespace bench
