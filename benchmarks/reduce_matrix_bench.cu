/// \file
/// Sums of the rows and columns of 1 GiB of floats, and of segments as long as the rows, beside a plain sum
/// and CUB.
// SPDX-License-Identifier: MIT
#include "support/matrices.cuh"

#include <gpuopt/reduce.cuh>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_segmented_reduce.cuh>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace bench;

constexpr std::size_t minCols = 4;
constexpr const char* byOffsets = "cub::DeviceSegmentedReduce::Sum";
constexpr std::size_t maxResults = MatrixBench::elements / minCols;

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

class Bench : public MatrixBench {
 public:
  using MatrixBench::MatrixBench;

  void measureRows(std::size_t cols) {
    const std::size_t rows = elements / cols;
    referToRows(rows, cols);
    const auto offsets = thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0),
                                                         Times{static_cast<std::uint32_t>(cols)});
    std::vector<Candidate> candidates{
        checked("gpuopt", rows,
                [=] { gpuopt::reduceRows(in(), rows, cols, cols, out(), gpuopt::Plus{}, stream(), workspace()); }),
        checked(byOffsets, rows, [=] { cubSegments(rows, offsets); })};
#if CCCL_VERSION >= 3001000
    candidates.push_back(checked("cub::DeviceSegmentedReduce::Sum segment_size", rows,
                                 [=] { cubSegments(rows, static_cast<int>(cols)); }));
#endif
    run("rows", cols, rows * sizeof(float), std::move(candidates));
  }

  void measureColumns(std::size_t cols) {
    const std::size_t rows = elements / cols;
    referToColumns(rows, cols);
    run("columns", cols, cols * sizeof(float), {checked("gpuopt", cols, [=] {
          gpuopt::reduceColumns(in(), rows, cols, cols, out(), gpuopt::Plus{}, stream(), workspace());
        })});
  }

  // Their offsets count as input.
  void measureSegments(std::size_t cols) {
    const std::size_t rows = elements / cols;
    referToRows(rows, cols);
    const std::uint32_t* offsets = offsets_.as<std::uint32_t>();
    fillOffsets<<<1024, 256, 0, stream()>>>(offsets_.as<std::uint32_t>(), rows, static_cast<std::uint32_t>(cols));
    check(cudaGetLastError(), "fillOffsets");
    run("segments", cols, (2 * rows + 1) * sizeof(float),
        {checked("gpuopt", rows,
                 [=] { gpuopt::reduceSegments(in(), offsets, rows, out(), gpuopt::Plus{}, stream(), workspace()); }),
         checked(byOffsets, rows, [=] { cubSegments(rows, offsets); })});
  }

 private:
  float* out() const { return out_.as<float>(); }

  void clearSums(std::size_t n) {
    check(cudaMemsetAsync(sums_.as<void>(), 0, n * sizeof(Sums), stream()), "cudaMemsetAsync");
  }

  void referToRows(std::size_t rows, std::size_t cols) {
    clearSums(rows);
    sumRows<<<4096, 256, 0, stream()>>>(in(), rows, cols, sums_.as<Sums>());
    check(cudaGetLastError(), "sumRows");
  }

  void referToColumns(std::size_t rows, std::size_t cols) {
    clearSums(cols);
    const std::size_t threads = cols * (std::max)((std::size_t{1} << 18) / cols, std::size_t{1});
    sumColumns<<<static_cast<unsigned>((threads + 255) / 256), 256, 0, stream()>>>(in(), rows, cols, threads,
                                                                                   sums_.as<Sums>());
    check(cudaGetLastError(), "sumColumns");
  }

  // `offsets`: an iterator of them, or the length that all segments have.
  template <class Offsets>
  void cubSegments(std::size_t segments, Offsets offsets) {
    std::size_t bytes = scratch_.bytes();
    const auto sum = [&](auto... where) {
      check(cub::DeviceSegmentedReduce::Sum(scratch_.as<void>(), bytes, in(), out(),
                                            static_cast<std::int64_t>(segments), where..., stream()),
            "cub::DeviceSegmentedReduce::Sum");
    };
    if constexpr (std::is_integral_v<Offsets>)
      sum(offsets);
    else
      sum(offsets, offsets + 1);
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
      synchronize();
      return count == 0;
    };
    return {name, call, correct, false, 0};
  }

  DeviceMemory out_{maxResults * sizeof(float)};
  DeviceMemory sums_{maxResults * sizeof(Sums)};
  DeviceMemory offsets_{(maxResults + 1) * sizeof(std::uint32_t)};
  DeviceMemory wrong_{sizeof(unsigned)};
  DeviceMemory scratch_{std::size_t{16} << 20};
};

constexpr MatrixForm<Bench> forms[] = {
    {"rows", &Bench::measureRows}, {"columns", &Bench::measureColumns}, {"segments", &Bench::measureSegments}};
const Names lengths{"4",   "5",    "8",    "16",   "32",    "33",    "64",     "128",    "256",
                    "512", "1001", "1024", "4096", "16384", "65536", "262144", "1048576"};

int run(Options& options) { return runMatrices(options, forms, {lengths, minCols, 31, 11}); }

}  // namespace

int main(int count, char** words) {
  return runBenchmark(count, words, "reduce_matrix_bench",
                      "Sums of rows, columns and segments of 1 GiB of floats, beside a plain sum and CUB.", run);
}
