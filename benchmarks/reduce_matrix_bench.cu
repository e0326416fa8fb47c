/// \file
/// Sums of the rows and columns of 1 GiB of floats, and of segments as long as the rows, beside a plain sum
/// and CUB.
// SPDX-License-Identifier: MIT
#include "support/data.cuh"
#include "support/options.hpp"
#include "support/report.cuh"

#include <gpuopt/reduce.cuh>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_segmented_reduce.cuh>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace bench;

constexpr std::size_t elements = std::size_t{1} << 28;
constexpr std::size_t mostResults = elements / 4;  // the shortest row has 4 elements
const Names allLengths{"4",   "5",    "8",    "16",   "32",    "33",    "64",     "128",    "256",
                       "512", "1001", "1024", "4096", "16384", "65536", "262144", "1048576"};

struct Sums {
  double sum;
  double magnitude;  // of the absolute values
};

__device__ void addAtomically(Sums& to, const Sums& from) {
  atomicAdd(&to.sum, from.sum);
  atomicAdd(&to.magnitude, from.magnitude);
}

// A warp a row.
__global__ void sumRows(const float* in, std::size_t rows, std::size_t cols, Sums* sums) {
  const std::size_t warp = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  for (std::size_t row = warp; row < rows; row += std::size_t{gridDim.x} * blockDim.x / 32) {
    Sums mine{};
    for (std::size_t col = threadIdx.x % 32; col < cols; col += 32) {
      mine.sum += in[row * cols + col];
      mine.magnitude += fabsf(in[row * cols + col]);
    }
    if (threadIdx.x % 32 < cols) addAtomically(sums[row], mine);
  }
}

// Every thread stays in one column: `threads` is a multiple of cols.
__global__ void sumColumns(const float* in, std::size_t rows, std::size_t cols, std::size_t threads, Sums* sums) {
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (thread >= threads) return;
  Sums mine{};
  for (std::size_t i = thread; i < rows * cols; i += threads) {
    mine.sum += in[i];
    mine.magnitude += fabsf(in[i]);
  }
  addAtomically(sums[thread % cols], mine);
}

__global__ void countWrong(const float* results, const Sums* sums, std::size_t n, unsigned* wrong) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride)
    if (!(fabs(results[i] - sums[i].sum) <= 4e-6 * sums[i].magnitude)) atomicAdd(wrong, 1);
}

__global__ void fillOffsets(std::uint32_t* offsets, std::size_t segments, std::uint32_t length) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i <= segments; i += stride)
    offsets[i] = static_cast<std::uint32_t>(i) * length;
}

struct Times {
  std::uint32_t length;
  __host__ __device__ std::uint32_t operator()(std::int64_t i) const { return static_cast<std::uint32_t>(i) * length; }
};

class Bench {
 public:
  Bench(Timer& timer, Report& report, const DeviceMemory& data)
      : timer_(timer), report_(report), in_(data.as<float>()), reference_(in_, elements, timer.stream()) {}

  void measureRows(std::size_t cols) {
    const std::size_t rows = elements / cols;
    referToRows(rows, cols);
    const auto offsets = thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0),
                                                         Times{static_cast<std::uint32_t>(cols)});
    run("rows", cols, (rows * cols + rows) * sizeof(float),
        {checked("gpuopt", rows,
                 [=] { gpuopt::reduceRows(in_, rows, cols, cols, out(), gpuopt::Plus{}, stream(), &workspace_); }),
         checked("cub", rows, [=] { cubSegments(rows, offsets); })});
  }

  void measureColumns(std::size_t cols) {
    const std::size_t rows = elements / cols;
    referToColumns(rows, cols);
    run("columns", cols, (rows * cols + cols) * sizeof(float), {checked("gpuopt", cols, [=] {
          gpuopt::reduceColumns(in_, rows, cols, cols, out(), gpuopt::Plus{}, stream(), &workspace_);
        })});
  }

  // Their offsets count as input.
  void measureSegments(std::size_t cols) {
    const std::size_t rows = elements / cols;
    referToRows(rows, cols);
    const std::uint32_t* offsets = offsets_.as<std::uint32_t>();
    fillOffsets<<<1024, 256, 0, stream()>>>(offsets_.as<std::uint32_t>(), rows, static_cast<std::uint32_t>(cols));
    check(cudaGetLastError(), "fillOffsets");
    run("segments", cols, (rows * cols + 2 * rows + 1) * sizeof(float),
        {checked("gpuopt", rows,
                 [=] { gpuopt::reduceSegments(in_, offsets, rows, out(), gpuopt::Plus{}, stream(), &workspace_); }),
         checked("cub", rows, [=] { cubSegments(rows, offsets); })});
  }

 private:
  cudaStream_t stream() const { return timer_.stream(); }
  float* out() const { return out_.as<float>(); }

  void clearSums(std::size_t n) {
    check(cudaMemsetAsync(sums_.as<void>(), 0, n * sizeof(Sums), stream()), "cudaMemsetAsync");
  }

  void referToRows(std::size_t rows, std::size_t cols) {
    clearSums(rows);
    sumRows<<<4096, 256, 0, stream()>>>(in_, rows, cols, sums_.as<Sums>());
    check(cudaGetLastError(), "sumRows");
  }

  void referToColumns(std::size_t rows, std::size_t cols) {
    clearSums(cols);
    const std::size_t threads = cols * (std::max)((std::size_t{1} << 18) / cols, std::size_t{1});
    sumColumns<<<static_cast<unsigned>((threads + 255) / 256), 256, 0, stream()>>>(in_, rows, cols, threads,
                                                                                   sums_.as<Sums>());
    check(cudaGetLastError(), "sumColumns");
  }

  template <class Offsets>
  void cubSegments(std::size_t segments, Offsets offsets) {
    std::size_t bytes = scratch_.bytes();
    check(cub::DeviceSegmentedReduce::Sum(scratch_.as<void>(), bytes, in_, out(), static_cast<std::int64_t>(segments),
                                          offsets, offsets + 1, stream()),
          "cub::DeviceSegmentedReduce::Sum");
  }

  // A candidate that leaves n results in `out`.
  template <class Call>
  Candidate checked(const std::string& name, std::size_t n, Call call) {
    const auto correct = [=] {
      auto* wrong = wrong_.as<unsigned>();
      check(cudaMemsetAsync(out(), 0xFF, n * sizeof(float), stream()), "cudaMemsetAsync");
      check(cudaMemsetAsync(wrong, 0, sizeof(unsigned), stream()), "cudaMemsetAsync");
      call();
      countWrong<<<1024, 256, 0, stream()>>>(out(), sums_.as<Sums>(), n, wrong);
      check(cudaGetLastError(), "countWrong");
      unsigned count = 1;
      check(cudaMemcpyAsync(&count, wrong, sizeof count, cudaMemcpyDeviceToHost, stream()), "cudaMemcpyAsync");
      timer_.synchronize();
      return count == 0;
    };
    return {name, call, correct, false, 0};
  }

  // Beside the plain sum of the same array, whose bytes are fewer: it has no output worth counting.
  void run(const std::string& name, std::size_t cols, std::size_t bytes, std::vector<Candidate> candidates) {
    auto* sum = output_.device<float>();
    const Reference<float> reference = reference_;
    candidates.push_back(candidate(
        "sum", sum, [=] { gpuopt::reduceInto(in_, elements, sum, gpuopt::Plus{}, stream(), &workspace_); },
        [=](float value) { return reference.matches(value); }));
    candidates.back().bytes = elements * sizeof(float);
    report_.run({name, "float", cols, bytes, std::move(candidates)});
  }

  Timer& timer_;
  Report& report_;
  const float* in_;
  Reference<float> reference_;
  DeviceMemory out_{mostResults * sizeof(float)};
  DeviceMemory sums_{mostResults * sizeof(Sums)};
  DeviceMemory offsets_{(mostResults + 1) * sizeof(std::uint32_t)};
  DeviceMemory wrong_{sizeof(unsigned)};
  DeviceMemory scratch_{std::size_t{16} << 20};
  gpuopt::Workspace workspace_{};
  Output output_{};
};

// Of every form and length: GB/s over those of the plain sum. Then where a peer comes closest.
ReportLines summarize(const Report& report) {
  ReportLines lines;
  double ours = 0;
  for (const Row& row : report.rows()) {
    if (row.candidate == "gpuopt") ours = row.gbps();
    if (row.candidate == "sum")
      lines.emplace_back(row.name + " of " + std::to_string(row.n) + ", share of a sum, " + nameOf(row.mode),
                         ours / row.gbps());
  }
  for (const auto& line : worstRatios(report.rows())) lines.push_back(line);
  return lines;
}

int run(Options& options) {
  Names forms{"rows", "columns", "segments"}, modes{"cold-write"}, lengths = allLengths;
  options.choice("--forms", forms, "what is summed");
  options.choice("--modes", modes, "how the cache is before a sample, and which clock is read (cold-write)",
                 allModes());
  options.list("--cols", lengths, "lengths of a row; column n of the results");
  options.parse(31, 11);
  Timer timer(options.repetitions);

  const DeviceMemory data(2 * elements * sizeof(float));  // the upper half for the copy
  fillRandom(data.as<float>(), 2 * elements, timer.stream());
  Report report(timer, modesOf(modes), options, copyBandwidth(timer, data));
  Bench bench(timer, report, data);
  for (std::size_t i = 0; i < lengths.size(); i += options.isQuick ? 2 : 1) {
    const std::size_t cols = std::stoull(lengths[i]);
    if (elements / 4 < cols || cols < 4) throw std::invalid_argument("--cols: out of range: " + lengths[i]);
    if (contains(forms, "rows")) bench.measureRows(cols);
    if (contains(forms, "columns")) bench.measureColumns(cols);
    if (contains(forms, "segments")) bench.measureSegments(cols);
  }
  return report.finish(summarize(report));
}

}  // namespace

int main(int count, char** words) {
  return runBenchmark(count, words, "reduce_matrix_bench",
                      "Sums of rows, columns and segments of 1 GiB of floats, beside a plain sum and CUB.", run);
}
