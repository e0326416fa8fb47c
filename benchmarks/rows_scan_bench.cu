/// \file
/// Running sums along rows and down columns: beside a copy of as many bytes, CUB's scan by keys, and a thread for each
/// column; few long rows beside their sums.
// SPDX-License-Identifier: MIT
#include "support/goal_groups.cuh"

#include <gpuopt/reduce_rows.cuh>
#include <gpuopt/rows_scan.cuh>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_scan.cuh>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace bench;

constexpr std::size_t KiB = 1024;

// A dense matrix, and the sums along its rows or down its columns.
struct Scan {
  const float* in;
  float* out;
  std::size_t rows;
  std::size_t cols;
  bool isOfRows;

  __host__ __device__ std::size_t lines() const { return isOfRows ? rows : cols; }
  __host__ __device__ std::size_t length() const { return isOfRows ? cols : rows; }
  __device__ std::size_t at(std::size_t line, std::size_t i) const {
    return isOfRows ? line * cols + i : i * cols + line;
  }
};

// A whole row or column: sums of any grouping are near those in double.
struct IsScanned {
  Scan scan;

  __device__ bool operator()(std::size_t line) const {
    double sum = 0, sizes = 0;
    for (std::size_t i = 0; i < scan.length(); ++i) {
      const auto x = static_cast<double>(scan.in[scan.at(line, i)]);
      sum += x, sizes += fabs(x);
      if (!(fabs(static_cast<double>(scan.out[scan.at(line, i)]) - sum) <= 1e-4 * sizes)) return false;
    }
    return true;
  }
};

__global__ void scanLines(Scan scan) {
  const std::size_t line = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (line >= scan.lines()) return;
  float sum = 0;
  for (std::size_t i = 0; i < scan.length(); ++i) scan.out[scan.at(line, i)] = sum += scan.in[scan.at(line, i)];
}

// The key of an element: its row.
struct RowOf {
  std::uint32_t cols;
  __host__ __device__ std::uint32_t operator()(std::uint32_t i) const { return i / cols; }
};

class Bench {
 public:
  Bench(Timer& timer, const Buffers& buffers, GoalReport& report, std::size_t bytes)
      : stream_(timer.stream()), buffers_(buffers), report_(report), bytes_(bytes) {}

  void rows(std::size_t cols, double goal) {
    const Scan scan = scanOf(bytes_ / sizeof(float) / cols, cols, true);
    run("rows", scan, atLeast(goal), {ours(scan), cubByKey(scan)}, copiesOf(scan));
  }

  // At most twice the time of the rows' sums.
  void fewRows(std::size_t rows, std::size_t cols) {
    const Scan scan = scanOf(rows, cols, true);
    Goal goal;
    goal.figure = 2;
    goal.isUpperBound = true;
    goal.of = [](const CaseTimes& times) { return times.candidates.front() / times.copy; };
    const auto sums = [=] { gpuopt::reduceRows(scan.in, rows, cols, scan.out, gpuopt::Plus{}, stream_); };
    const auto isSummed = [] { return true; };
    run("few rows", scan, goal, {ours(scan), rows == 1 ? cub(scan) : cubByKey(scan)},
        {{"gpuopt::reduceRows", sums, isSummed, false, 0, false}});
  }

  void columns(std::size_t rows, std::size_t cols, double goal) {
    const Scan scan = scanOf(rows, cols, false);
    std::vector<Candidate> candidates{ours(scan)};
    const auto direct = [=] { launchThreads(scanLines, scan.lines(), stream_, scan); };
    if (rows <= 16384) candidates.push_back(candidate("direct", true, direct, scan));
    run("columns", scan, atLeast(goal), std::move(candidates), copiesOf(scan));
  }

  // At most a microsecond more than a copy.
  void small(std::size_t bytes, std::size_t cols, bool isOfRows) {
    const Scan scan = scanOf(bytes / sizeof(float) / cols, cols, isOfRows);
    run(isOfRows ? "small rows" : "small columns", scan, atMostOver(1), {ours(scan)}, copiesOf(scan), Mode::graph);
  }

 private:
  Scan scanOf(std::size_t rows, std::size_t cols, bool isOfRows) const {
    return {buffers_.in<float>(), buffers_.out<float>(), rows, cols, isOfRows};
  }

  template <class Call>
  Candidate candidate(const char* name, bool isPeer, const Call& call, const Scan& scan) const {
    return buffers_.candidate(name, isPeer, call, scan.lines(), IsScanned{scan});
  }

  Candidate ours(const Scan& scan) const {
    const auto call = [=] {
      scan.isOfRows ? gpuopt::inclusiveScanRows(scan.in, scan.out, scan.rows, scan.cols, gpuopt::Plus{}, stream_)
                    : gpuopt::inclusiveScanColumns(scan.in, scan.out, scan.rows, scan.cols, gpuopt::Plus{}, stream_);
    };
    return candidate("gpuopt", false, call, scan);
  }

  Candidate cubByKey(const Scan& scan) const {
    const auto call = [=] {
      const auto keys = thrust::make_transform_iterator(thrust::counting_iterator<std::uint32_t>(0),
                                                        RowOf{static_cast<std::uint32_t>(scan.cols)});
      std::size_t bytes = scratch_.bytes();
      check(cub::DeviceScan::InclusiveSumByKey(scratch_.as<void>(), bytes, keys, scan.in, scan.out,
                                               static_cast<std::uint32_t>(scan.rows * scan.cols),
                                               cuda::std::equal_to<>{}, stream_),
            "cub::DeviceScan::InclusiveSumByKey");
    };
    return candidate("cub::DeviceScan::InclusiveSumByKey", true, call, scan);
  }

  Candidate cub(const Scan& scan) const {
    const auto call = [=] {
      std::size_t bytes = scratch_.bytes();
      check(cub::DeviceScan::InclusiveSum(scratch_.as<void>(), bytes, scan.in, scan.out,
                                          static_cast<std::uint32_t>(scan.cols), stream_),
            "cub::DeviceScan::InclusiveSum");
    };
    return candidate("cub::DeviceScan::InclusiveSum", true, call, scan);
  }

  std::vector<Candidate> copiesOf(const Scan& scan) const {
    return buffers_.copies(scan.rows * scan.cols * sizeof(float) / 4096 * 4096);
  }

  void run(const char* group, const Scan& scan, const Goal& goal, std::vector<Candidate> candidates,
           std::vector<Candidate> references, Mode mode = Mode::coldWrite) {
    report_.run({group, "float", std::to_string(scan.rows) + " x " + std::to_string(scan.cols),
                 std::to_string(scan.rows) + "," + std::to_string(scan.cols), 2 * scan.rows * scan.cols * sizeof(float),
                 goal, std::move(candidates), std::move(references), mode});
  }

  cudaStream_t stream_;
  const Buffers& buffers_;
  GoalReport& report_;
  std::size_t bytes_;
  DeviceMemory scratch_{std::size_t{64} << 20};  // CUB's temporary storage
};

void measureRows(Bench& bench) {
  for (const std::size_t cols : {128u, 1000u, 1001u, 4096u, 7168u, 16384u, 129280u}) bench.rows(cols, 0.9);
}

void measureFewRows(Bench& bench) {
  for (const std::size_t rows : {1u, 8u, 64u}) bench.fewRows(rows, 129280);
}

void measureColumns(Bench& bench) {
  bench.columns(16384, 4096, 0.9);
  bench.columns(std::size_t{1} << 20, 64, 0.8);
  bench.columns(4096, 16384, 0.9);
}

void measureSmall(Bench& bench) {
  for (const std::size_t bytes : {64 * KiB, 256 * KiB, 1024 * KiB}) {
    bench.small(bytes, 256, true);
    bench.small(bytes, 4096, true);
    bench.small(bytes, 256, false);
  }
}

constexpr Group<Bench> groups[] = {
    {"rows", measureRows}, {"few", measureFewRows}, {"columns", measureColumns}, {"small", measureSmall}};

int run(Options& options) { return runGoalGroups(options, groups, "rows,cols"); }

}  // namespace

int main(int count, char** words) {
  return runBenchmark(count, words, "rows_scan_bench", "Running sums of rows and columns, beside a copy and CUB.", run);
}
