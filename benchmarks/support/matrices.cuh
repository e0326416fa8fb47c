/// \file
/// 1 GiB of floats as matrices with rows of several lengths: what is made of their rows and columns, beside a plain sum
/// of all elements.
// SPDX-License-Identifier: MIT
#pragma once

#include "data.cuh"
#include "options.hpp"
#include "report.cuh"

#include <gpuopt/reduce.cuh>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// What a benchmark of matrices has: the data, and the plain sum that every case stands beside.
class MatrixBench {
 public:
  static constexpr std::size_t elements = std::size_t{1} << 28;

  MatrixBench(Timer& timer, Report& report, const DeviceMemory& data)
      : timer_(timer), report_(report), in_(data.as<float>()), reference_(in_, elements, timer.stream()) {}
  MatrixBench(const MatrixBench&) = delete;
  MatrixBench& operator=(const MatrixBench&) = delete;

 protected:
  cudaStream_t stream() const { return timer_.stream(); }
  void synchronize() const { timer_.synchronize(); }
  const float* in() const { return in_; }
  gpuopt::Workspace* workspace() { return &workspace_; }

  // The bytes of a plain sum are fewer than those of the other candidates: it has no output worth counting.
  void run(const std::string& name, std::size_t cols, std::size_t outputBytes, std::vector<Candidate> candidates) {
    auto* sum = output_.device<float>();
    const Reference<float> reference = reference_;
    candidates.push_back(candidate(
        "sum", sum, [=, in = in_] { gpuopt::reduceInto(in, elements, sum, gpuopt::Plus{}, stream(), workspace()); },
        [=](float value) { return reference.matches(value); }));
    candidates.back().bytes = elements * sizeof(float);
    report_.run({name, "float", cols, elements / cols * cols * sizeof(float) + outputBytes, std::move(candidates)});
  }

 private:
  Timer& timer_;
  Report& report_;
  const float* in_;
  Reference<float> reference_;
  gpuopt::Workspace workspace_{};
  Output output_{};
};

/// What can be measured of matrices with rows of `cols` elements.
template <class Bench>
struct MatrixForm {
  const char* name;
  void (Bench::*measure)(std::size_t cols);
};

/// Lengths of a row, the least of them, and how many samples are taken without and with --quick.
struct MatrixSizes {
  Names lengths;
  std::size_t least;
  int usual;
  int quick;
};

/// Of every form and length: GB/s over those of the plain sum. Then where a peer comes closest.
inline ReportLines sharesOfSum(const std::vector<Row>& rows) {
  ReportLines lines;
  std::vector<Row> peers;
  double ours = 0;
  for (const Row& row : rows) {
    if (row.candidate == "gpuopt") ours = row.gbps();
    if (row.candidate == "sum")
      lines.emplace_back(row.name + " of " + std::to_string(row.n) + ", share of a sum, " + nameOf(row.mode),
                         ours / row.gbps());
    else
      peers.push_back(row);
  }
  for (const auto& line : worstRatios(peers)) lines.push_back(line);
  return lines;
}

/// The run() of a benchmark of matrices.
template <class Bench, std::size_t COUNT>
int runMatrices(Options& options, const MatrixForm<Bench> (&all)[COUNT], MatrixSizes sizes) {
  Names forms, modes{"cold-write"};
  for (const auto& form : all) forms.push_back(form.name);
  options.choice("--forms", forms, "what is measured");
  options.choice("--modes", modes, "how the cache is before a sample, and which clock is read (cold-write)",
                 allModes());
  options.list("--cols", sizes.lengths, "lengths of a row; column n of the results");
  options.parse(sizes.usual, sizes.quick);
  Timer timer(options.repetitions);

  constexpr std::size_t elements = MatrixBench::elements;
  const DeviceMemory data(2 * elements * sizeof(float));  // the upper half for the copy
  fillRandom(data.as<float>(), 2 * elements, timer.stream());
  Report report(timer, modesOf(modes), options, copyBandwidth(timer, data));
  Bench bench(timer, report, data);
  for (std::size_t i = 0; i < sizes.lengths.size(); i += options.isQuick ? 2 : 1) {
    const std::size_t cols = std::stoull(sizes.lengths[i]);
    if (cols < sizes.least || elements / sizes.least < cols)
      throw std::invalid_argument("--cols: out of range: " + sizes.lengths[i]);
    for (const auto& form : all)
      if (contains(forms, form.name)) (bench.*form.measure)(cols);
  }
  return report.finish(sharesOfSum(report.rows()));
}

}  // namespace bench
