/// \file
/// What an Experiment does without types: checks the results of candidates, times them, and makes a report.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/tuning/measure.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

GPUOPT_NAMESPACE_BEGIN

/// How an Experiment measures.
struct ExperimentOptions {
  double seconds = 0.5;    ///< about the time to measure all candidates for one size, after checking them; 0 or more
  bool isCold = false;     ///< whether each timed call finds the L2 cache full of other data
  bool updates = false;    ///< whether candidates change their output instead of writing it: `out` is read, too
  TuningClock clock = {};  ///< another clock than the device's
};

/// What an Experiment has found out about one candidate.
struct ExperimentRow {
  std::string candidate;    ///< its name
  double microseconds = 0;  ///< the median
  double p10 = 0;           ///< nine samples of ten take longer
  double p90 = 0;           ///< nine samples of ten are shorter
  std::string problem;      ///< why it cannot be used on this device, or has no time; else empty
};

/// What an Experiment has found out.
struct ExperimentReport {
  std::vector<ExperimentRow> rows;  ///< of the candidates, in their order
  std::size_t chosen = 0;           ///< the row of the choice

  /// A line for each candidate: "* TILE 64, SIDE 4: 12.3 us (12.1 to 12.9)", with a star at the choice.
  [[nodiscard]] std::string text() const {
    std::string lines;
    for (std::size_t i = 0; i < rows.size(); ++i) lines += line(rows[i], i == chosen);
    return lines;
  }

 private:
  static std::string line(const ExperimentRow& row, bool isChosen) {
    const std::string start = (isChosen ? "* " : "  ") + row.candidate + ": ";
    if (!row.problem.empty()) return start + "not used: " + row.problem + "\n";
    return start + decimal(row.microseconds) + " us (" + decimal(row.p10) + " to " + decimal(row.p90) + ")\n";
  }

  // With one digit after the point, which no locale changes.
  static std::string decimal(double value) {
    const auto tenths = static_cast<long long>(10 * value + 0.5);
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
  }
};

namespace detail {

/// Memory for an experiment alone. Not from the library's pool, which would keep it.
class TuningMemory {
 public:
  explicit TuningMemory(std::size_t bytes) { check(cudaMalloc(&data_, bytes), "cudaMalloc"); }
  ~TuningMemory() { forgetError(cudaFree(data_)); }
  TuningMemory(const TuningMemory&) = delete;
  TuningMemory& operator=(const TuningMemory&) = delete;

  unsigned char* data() const { return static_cast<unsigned char*>(data_); }

 private:
  void* data_ = nullptr;
};

/// The output of the call for which candidates are compared.
struct TuningOutput {
  unsigned char* data;
  std::size_t n;
  std::size_t elementBytes;
  std::function<bool(const void*, const void*)> agree;  // of two elements; without it, their bits are compared

  std::size_t bytes() const { return n * elementBytes; }
};

struct TuningCandidate {
  std::string name;
  std::function<void(unsigned char* out)> call;
};

/// Compares candidates that write to memory as aligned as the user's, which is not touched.
class CandidateComparison {
 public:
  CandidateComparison(const std::string& experiment, const TuningOutput& output, const ExperimentOptions& options,
                      cudaStream_t stream)
      : experiment_(experiment),
        output_(output),
        options_(options),
        stream_(stream),
        memory_(output.bytes() + ALIGNMENT),
        out_(memory_.data() + reinterpret_cast<std::uintptr_t>(output.data) % ALIGNMENT) {
    if (options.isCold) flushed_.emplace(flushBytes());
  }

  ExperimentReport run(const std::vector<TuningCandidate>& candidates) {
    ExperimentReport report;
    std::vector<std::size_t> usable;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      report.rows.push_back({candidates[i].name, 0, 0, 0, problemOf(candidates[i], i == 0)});
      if (report.rows[i].problem.empty()) usable.push_back(i);
    }
    expected_ = {};
    const auto [times, chosen] = measure(candidates, usable);
    if (times[chosen].median == noTime)
      throwInvalid({"gpuopt::Experiment ", experiment_, ": options.clock gives no time of any candidate"});
    for (std::size_t k = 0; k < usable.size(); ++k) {
      ExperimentRow& row = report.rows[usable[k]];
      if (times[k].median == noTime) {
        row.problem = "options.clock gives no time of it";
        continue;
      }
      row.microseconds = times[k].median;
      row.p10 = times[k].p10;
      row.p90 = times[k].p90;
    }
    report.chosen = usable[chosen];
    return report;
  }

 private:
  static constexpr std::size_t ALIGNMENT = 256;
  static constexpr int POISON = 0xA5;

  // Events have a resolution of half a microsecond.
  static constexpr double sampleMicroseconds = 100;
  static constexpr int maxCalls = 64;
  static constexpr double longestMicroseconds = 1e15;  // in nanoseconds still an integer

  /// Why a candidate cannot be used: this device does not launch it. Other errors, and a wrong result, are thrown.
  std::string problemOf(const TuningCandidate& candidate, bool isFirst) {
    try {
      prepare(false);
      candidate.call(out_);
      check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    } catch (const CudaError& error) {
      if (isFirst || cudaStreamSynchronize(stream_) != cudaSuccess) throw;
      return error.what();
    } catch (const std::invalid_argument& error) {
      if (isFirst) throw;
      return error.what();
    }
    std::vector<unsigned char> result(output_.bytes());
    check(cudaMemcpyAsync(result.data(), out_, result.size(), cudaMemcpyDeviceToHost, stream_), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    if (isFirst)
      expected_ = std::move(result);
    else
      requireAgreement(result, candidate.name);
    firstName_ = isFirst ? candidate.name : firstName_;
    return {};
  }

  void requireAgreement(const std::vector<unsigned char>& result, const std::string& name) const {
    if (!output_.agree && result == expected_) return;
    for (std::size_t i = 0; i < output_.n; ++i) {
      const unsigned char *a = expected_.data() + i * output_.elementBytes,
                          *b = result.data() + i * output_.elementBytes;
      if (output_.agree ? output_.agree(a, b) : std::memcmp(a, b, output_.elementBytes) == 0) continue;
      throw std::runtime_error(message({"gpuopt::Experiment ", experiment_, ": candidates ", firstName_, " and ", name,
                                        " differ in element ", i, " of ", output_.n}));
    }
  }

  // What a candidate finds in its output: what the user's has, or what no candidate wrote.
  void prepare(bool isTimed) {
    if (options_.updates)
      check(cudaMemcpyAsync(out_, output_.data, output_.bytes(), cudaMemcpyDeviceToDevice, stream_), "cudaMemcpyAsync");
    else if (!isTimed)
      check(cudaMemsetAsync(out_, POISON, output_.bytes(), stream_), "cudaMemsetAsync");
  }

  static std::size_t flushBytes() {
    return 2 * static_cast<std::size_t>(deviceAttribute(cudaDevAttrL2CacheSize, currentDevice()));
  }

  double time(const TuningCandidate& candidate, int calls) {
    prepare(true);
    if (flushed_) check(cudaMemsetAsync(flushed_->data(), POISON, flushBytes(), stream_), "cudaMemsetAsync");
    const auto work = [&] {
      for (int i = 0; i < calls; ++i) candidate.call(out_);
    };
    const double all = options_.clock ? options_.clock(stream_, work) : clock_.measure(stream_, work);
    return all >= 0 && all < longestMicroseconds ? all / calls : noTime;
  }

  int callsOf(const TuningCandidate& candidate) {
    if (options_.updates || options_.isCold) return 1;
    return callsOfSample(time(candidate, 1), sampleMicroseconds, maxCalls);
  }

  Comparison measure(const std::vector<TuningCandidate>& candidates, const std::vector<std::size_t>& usable) {
    const int calls = callsOf(candidates[0]);
    return compareCandidates(usable.size(), 1e6 * options_.seconds / calls,
                             [&](std::size_t k) { return time(candidates[usable[k]], calls); });
  }

  const std::string& experiment_;
  const TuningOutput& output_;
  const ExperimentOptions& options_;
  cudaStream_t stream_;
  TuningMemory memory_;
  unsigned char* out_;
  std::optional<TuningMemory> flushed_;  // twice the L2 cache
  EventClock clock_;
  std::string firstName_;
  std::vector<unsigned char> expected_;
};

}  // namespace detail
GPUOPT_NAMESPACE_END
