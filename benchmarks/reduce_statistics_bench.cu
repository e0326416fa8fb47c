/// \file
/// Extremes, positions and moments of the rows and columns of 1 GiB of floats, beside a plain sum.
// SPDX-License-Identifier: MIT
#include "support/data.cuh"
#include "support/options.hpp"
#include "support/report.cuh"

#include <gpuopt/reduce.cuh>

#include <cmath>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace bench;

constexpr std::size_t elements = std::size_t{1} << 28;
constexpr std::size_t mostResults = elements / 8;  // the shortest row has 8 elements
const Names allLengths{"8",   "16",   "32",   "33",   "64",    "100",   "128",    "256",
                       "512", "1001", "1024", "4096", "16384", "65536", "1048576"};

// The elements of a column, as an input of the functions of arrays, against which results are checked.
struct Column {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = float;
  using difference_type = std::ptrdiff_t;
  using pointer = const float*;
  using reference = const float&;

  const float* first;
  std::ptrdiff_t ld;

  __host__ __device__ const float& operator[](std::ptrdiff_t i) const { return first[i * ld]; }
  __host__ __device__ Column operator+(std::ptrdiff_t i) const { return {first + i * ld, ld}; }
};

bool agree(const gpuopt::MinMax<float>& a, const gpuopt::MinMax<float>& b) {
  return a.minimum == b.minimum && a.maximum == b.maximum;
}

bool agree(const gpuopt::ArgResult<float>& a, const gpuopt::ArgResult<float>& b) {
  return a.value == b.value && a.index == b.index;
}

bool agree(const gpuopt::MeanVariance<float>& a, const gpuopt::MeanVariance<float>& b) {
  return a.count == b.count && std::fabs(a.mean - b.mean) <= 1e-5f &&
         std::fabs(a.variance - b.variance) <= 1e-4f * b.variance;
}

class Bench {
 public:
  Bench(Timer& timer, Report& report, const DeviceMemory& data)
      : timer_(timer), report_(report), in_(data.as<float>()), reference_(in_, elements, timer.stream()) {}

  void measureRows(std::size_t cols) {
    const std::size_t rows = elements / cols;
    const auto rowAt = [=](std::size_t r) { return in_ + r * cols; };
    measure<gpuopt::MinMax<float>>(
        "minMaxRows", cols, rows,
        [=](auto* out) { gpuopt::minMaxRows(in_, rows, cols, cols, out, stream(), &workspace_); },
        [=](std::size_t r) { return gpuopt::minMax(rowAt(r), cols); });
    measure<gpuopt::ArgResult<float>>(
        "argMinRows", cols, rows,
        [=](auto* out) { gpuopt::argMinRows(in_, rows, cols, cols, out, stream(), &workspace_); },
        [=](std::size_t r) { return gpuopt::argMin(rowAt(r), cols); });
    measure<gpuopt::MeanVariance<float>>(
        "meanVarianceRows", cols, rows,
        [=](auto* out) { gpuopt::meanVarianceRows(in_, rows, cols, cols, out, stream(), &workspace_); },
        [=](std::size_t r) { return gpuopt::meanVariance(rowAt(r), cols); });
  }

  void measureColumns(std::size_t cols) {
    const std::size_t rows = elements / cols;
    const auto columnAt = [=](std::size_t c) { return Column{in_ + c, static_cast<std::ptrdiff_t>(cols)}; };
    measure<gpuopt::MinMax<float>>(
        "minMaxColumns", cols, cols,
        [=](auto* out) { gpuopt::minMaxColumns(in_, rows, cols, cols, out, stream(), &workspace_); },
        [=](std::size_t c) { return gpuopt::minMax(columnAt(c), rows); });
    measure<gpuopt::ArgResult<float>>(
        "argMinColumns", cols, cols,
        [=](auto* out) { gpuopt::argMinColumns(in_, rows, cols, cols, out, stream(), &workspace_); },
        [=](std::size_t c) { return gpuopt::argMin(columnAt(c), rows); });
    measure<gpuopt::MeanVariance<float>>(
        "meanVarianceColumns", cols, cols,
        [=](auto* out) { gpuopt::meanVarianceColumns(in_, rows, cols, cols, out, stream(), &workspace_); },
        [=](std::size_t c) { return gpuopt::meanVariance(columnAt(c), rows); });
  }

 private:
  cudaStream_t stream() const { return timer_.stream(); }

  // Results of `results` rows or columns, by call(out); one(i) is the expected result i. Beside the plain sum of the
  // same array, whose bytes are fewer: it has no output worth counting.
  template <class Result, class Call, class One>
  void measure(const std::string& name, std::size_t cols, std::size_t results, Call call, One one) {
    auto* out = out_.as<Result>();
    const auto correct = [=] {
      check(cudaMemsetAsync(out, 0xFF, results * sizeof(Result), stream()), "cudaMemsetAsync");
      call(out);
      timer_.synchronize();
      for (const std::size_t i : {std::size_t{0}, results / 2, results - 1}) {
        Result result;
        check(cudaMemcpy(&result, out + i, sizeof result, cudaMemcpyDeviceToHost), "cudaMemcpy");
        if (!agree(result, one(i))) return false;
      }
      return true;
    };
    std::vector<Candidate> candidates{{"gpuopt", [=] { call(out); }, correct}};
    auto* sum = output_.device<float>();
    const Reference<float> reference = reference_;
    candidates.push_back(candidate(
        "sum", sum, [=] { gpuopt::reduceInto(in_, elements, sum, gpuopt::Plus{}, stream(), &workspace_); },
        [=](float value) { return reference.matches(value); }));
    candidates.back().bytes = elements * sizeof(float);
    report_.run({name, "float", cols, elements * sizeof(float) + results * sizeof(Result), std::move(candidates)});
  }

  Timer& timer_;
  Report& report_;
  const float* in_;
  Reference<float> reference_;
  DeviceMemory out_{mostResults * sizeof(gpuopt::ArgResult<float>)};
  gpuopt::Workspace workspace_{};
  Output output_{};
};

// Of every function and length: GB/s over those of the plain sum.
ReportLines summarize(const Report& report) {
  ReportLines lines;
  double ours = 0;
  for (const Row& row : report.rows()) {
    if (row.candidate == "gpuopt") ours = row.gbps();
    if (row.candidate == "sum")
      lines.emplace_back(row.name + ", rows of " + std::to_string(row.n) + ", share of a sum, " + nameOf(row.mode),
                         ours / row.gbps());
  }
  return lines;
}

int run(Options& options) {
  Names forms{"rows", "columns"}, modes{"cold-write"}, lengths = allLengths;
  options.choice("--forms", forms, "whose statistics are computed");
  options.choice("--modes", modes, "how the cache is before a sample, and which clock is read (cold-write)",
                 allModes());
  options.list("--cols", lengths, "lengths of a row; column n of the results");
  options.parse(15, 7);
  Timer timer(options.repetitions);

  const DeviceMemory data(2 * elements * sizeof(float));  // the upper half for the copy
  fillRandom(data.as<float>(), 2 * elements, timer.stream());
  Report report(timer, modesOf(modes), options, copyBandwidth(timer, data));
  Bench bench(timer, report, data);
  for (std::size_t i = 0; i < lengths.size(); i += options.isQuick ? 2 : 1) {
    const std::size_t cols = std::stoull(lengths[i]);
    if (elements / 8 < cols || cols < 8) throw std::invalid_argument("--cols: out of range: " + lengths[i]);
    if (contains(forms, "rows")) bench.measureRows(cols);
    if (contains(forms, "columns")) bench.measureColumns(cols);
  }
  return report.finish(summarize(report));
}

}  // namespace

int main(int count, char** words) {
  return runBenchmark(count, words, "reduce_statistics_bench",
                      "Extremes, positions and moments of the rows and columns of 1 GiB of floats, beside a plain sum.",
                      run);
}
