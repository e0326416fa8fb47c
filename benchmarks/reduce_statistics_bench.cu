/// \file
/// Extremes, positions and moments of the rows and columns of 1 GiB of floats, beside a plain sum.
// SPDX-License-Identifier: MIT
#include "support/matrices.cuh"

#include <gpuopt/reduce.cuh>

#include <cmath>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace bench;

constexpr std::size_t minCols = 8;
constexpr std::size_t maxResults = MatrixBench::elements / minCols;

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

class Bench : public MatrixBench {
 public:
  using MatrixBench::MatrixBench;

  void measureRows(std::size_t cols) {
    const std::size_t rows = elements / cols;
    const auto rowAt = [=](std::size_t r) { return in() + r * cols; };
    measure<gpuopt::MinMax<float>>(
        "minMaxRows", cols, rows,
        [=](auto* out) { gpuopt::minMaxRows(in(), rows, cols, cols, out, stream(), workspace()); },
        [=](std::size_t r) { return gpuopt::minMax(rowAt(r), cols); });
    measure<gpuopt::ArgResult<float>>(
        "argMinRows", cols, rows,
        [=](auto* out) { gpuopt::argMinRows(in(), rows, cols, cols, out, stream(), workspace()); },
        [=](std::size_t r) { return gpuopt::argMin(rowAt(r), cols); });
    measure<gpuopt::MeanVariance<float>>(
        "meanVarianceRows", cols, rows,
        [=](auto* out) { gpuopt::meanVarianceRows(in(), rows, cols, cols, out, stream(), workspace()); },
        [=](std::size_t r) { return gpuopt::meanVariance(rowAt(r), cols); });
  }

  void measureColumns(std::size_t cols) {
    const std::size_t rows = elements / cols;
    const auto columnAt = [=](std::size_t c) { return Column{in() + c, static_cast<std::ptrdiff_t>(cols)}; };
    measure<gpuopt::MinMax<float>>(
        "minMaxColumns", cols, cols,
        [=](auto* out) { gpuopt::minMaxColumns(in(), rows, cols, cols, out, stream(), workspace()); },
        [=](std::size_t c) { return gpuopt::minMax(columnAt(c), rows); });
    measure<gpuopt::ArgResult<float>>(
        "argMinColumns", cols, cols,
        [=](auto* out) { gpuopt::argMinColumns(in(), rows, cols, cols, out, stream(), workspace()); },
        [=](std::size_t c) { return gpuopt::argMin(columnAt(c), rows); });
    measure<gpuopt::MeanVariance<float>>(
        "meanVarianceColumns", cols, cols,
        [=](auto* out) { gpuopt::meanVarianceColumns(in(), rows, cols, cols, out, stream(), workspace()); },
        [=](std::size_t c) { return gpuopt::meanVariance(columnAt(c), rows); });
  }

 private:
  // Results of `results` rows or columns, by call(out); one(i) is the expected result i.
  template <class Result, class Call, class One>
  void measure(const std::string& name, std::size_t cols, std::size_t results, Call call, One one) {
    auto* out = out_.as<Result>();
    const auto correct = [=] {
      check(cudaMemsetAsync(out, 0xFF, results * sizeof(Result), stream()), "cudaMemsetAsync");
      call(out);
      synchronize();
      for (const std::size_t i : {std::size_t{0}, results / 2, results - 1}) {
        Result result;
        check(cudaMemcpy(&result, out + i, sizeof result, cudaMemcpyDeviceToHost), "cudaMemcpy");
        if (!agree(result, one(i))) return false;
      }
      return true;
    };
    run(name, cols, results * sizeof(Result), {{"gpuopt", [=] { call(out); }, correct}});
  }

  DeviceMemory out_{maxResults * sizeof(gpuopt::ArgResult<float>)};
};

constexpr MatrixForm<Bench> forms[] = {{"rows", &Bench::measureRows}, {"columns", &Bench::measureColumns}};
const Names lengths{"8",   "16",   "32",   "33",   "64",    "100",   "128",    "256",
                    "512", "1001", "1024", "4096", "16384", "65536", "1048576"};

int run(Options& options) { return runMatrices(options, forms, {lengths, minCols, 15, 7}); }

}  // namespace

int main(int count, char** words) {
  return runBenchmark(count, words, "reduce_statistics_bench",
                      "Extremes, positions and moments of the rows and columns of 1 GiB of floats, beside a plain sum.",
                      run);
}
