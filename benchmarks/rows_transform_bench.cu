/// \file
/// Rows normalised and quantised, in one read of each row: beside a copy of as many bytes.
// SPDX-License-Identifier: MIT
#include "support/goal_groups.cuh"

#include <gpuopt/rows_transform.cuh>

#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace bench;
using Bf16 = __nv_bfloat16;

constexpr double layerEps = 1e-5, rmsEps = 1e-6;

// What the reference knows of a row.
struct RowFacts {
  double largest, powers, mean, deviation, squares;
};

// A thread a row: slow, and plain.
__global__ void findFacts(const Bf16* in, std::size_t rows, std::size_t cols, RowFacts* facts) {
  const std::size_t r = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const auto at = [&](std::size_t c) { return static_cast<double>(__bfloat162float(in[r * cols + c])); };
  RowFacts row{-1e300, 0, 0, 0, 0};
  for (std::size_t c = 0; c < cols; ++c) {
    row.largest = fmax(row.largest, at(c));
    row.mean += at(c) / static_cast<double>(cols);
    row.squares += at(c) * at(c) / static_cast<double>(cols);
  }
  for (std::size_t c = 0; c < cols; ++c) {
    row.powers += exp(at(c) - row.largest);
    row.deviation += (at(c) - row.mean) * (at(c) - row.mean) / static_cast<double>(cols);
  }
  facts[r] = row;
}

enum class Norm { softmax, layer, rms };

constexpr const char* names[] = {"softmax", "layer norm", "RMS norm"};

template <Norm NORM>
struct IsRight {
  const Bf16* in;
  const Bf16* out;
  const Bf16* gamma;
  const Bf16* beta;
  const RowFacts* facts;
  std::size_t cols;

  __device__ double expected(std::size_t i) const {
    const RowFacts& row = facts[i / cols];
    const std::size_t c = i % cols;
    const auto x = static_cast<double>(__bfloat162float(in[i]));
    const auto scale = static_cast<double>(__bfloat162float(gamma[c]));
    const auto shift = static_cast<double>(__bfloat162float(beta[c]));
    if (NORM == Norm::softmax) return exp(x - row.largest) / row.powers;
    if (NORM == Norm::layer) return (x - row.mean) / sqrt(row.deviation + layerEps) * scale + shift;
    return x / sqrt(row.squares + rmsEps) * scale;
  }

  __device__ bool operator()(std::size_t i) const {
    const double wanted = expected(i);
    return fabs(static_cast<double>(__bfloat162float(out[i])) - wanted) <= 5e-3 * fabs(wanted) + 1e-5;
  }
};

// That a scale times a number is the element again, to within the number's precision.
struct IsQuantised {
  const Bf16* in;
  const __nv_fp8_e4m3* out;
  const float* scales;
  std::size_t block;

  __device__ bool operator()(std::size_t i) const {
    const float scale = scales[i / block], x = __bfloat162float(in[i]);
    return fabsf(static_cast<float>(out[i]) * scale - x) <= fabsf(x) / 15 + scale / 256;
  }
};

class Bench {
 public:
  Bench(Timer& timer, const Buffers& buffers, GoalReport& report, std::size_t bytes)
      : stream_(timer.stream()), buffers_(buffers), report_(report), bytes_(bytes) {}

  template <Norm NORM>
  void large(std::size_t cols, double goal) {
    const std::size_t rows = bytes_ / sizeof(Bf16) / cols;
    run(caseOf<NORM>(rows, cols, atLeast(goal), Mode::coldWrite));
  }

  // At most a microsecond more than a copy.
  template <Norm NORM>
  void small(std::size_t rows, std::size_t cols) {
    run(caseOf<NORM>(rows, cols, atMostOver(1), Mode::graph));
  }

  void quantize(std::size_t rows, std::size_t cols, bool inBlocks) {
    const Bf16* in = buffers_.in<Bf16>();
    auto* out = buffers_.out<__nv_fp8_e4m3>();
    auto* scales = numbers_.as<float>();
    const auto call = [=, s = stream_] {
      if (inBlocks)
        gpuopt::quantizeRowBlocks(in, out, rows, cols, scales, s);
      else
        gpuopt::quantizeRows(in, out, rows, cols, scales, s);
    };
    const std::size_t n = rows * cols, bytes = n * (sizeof(Bf16) + 1);
    const Candidate candidate =
        buffers_.candidate("gpuopt", false, call, n, IsQuantised{in, out, scales, inBlocks ? 128 : cols});
    run({"quantize",
         inBlocks ? "fp8 by 128" : "fp8 by row",
         subject(rows, cols),
         columns(rows, cols),
         bytes,
         atLeast(0.9),
         {candidate},
         buffers_.copies(bytes / 2 / 4096 * 4096)});
  }

 private:
  static std::string subject(std::size_t rows, std::size_t cols) {
    return std::to_string(rows) + " x " + std::to_string(cols);
  }
  static std::string columns(std::size_t rows, std::size_t cols) {
    return std::to_string(rows) + "," + std::to_string(cols);
  }

  void run(GoalCase work) { report_.run(std::move(work)); }

  template <Norm NORM>
  GoalCase caseOf(std::size_t rows, std::size_t cols, const Goal& goal, Mode mode) {
    const Bf16* in = buffers_.in<Bf16>();
    Bf16* out = buffers_.out<Bf16>();
    const Bf16 *gamma = in, *beta = in + (std::size_t{1} << 20);
    auto* facts = numbers_.as<RowFacts>();
    const auto call = [=, s = stream_] {
      if constexpr (NORM == Norm::softmax)
        gpuopt::softmaxRows(in, out, rows, cols, s);
      else if constexpr (NORM == Norm::layer)
        gpuopt::layerNormRows(in, out, rows, cols, gamma, beta, layerEps, s);
      else
        gpuopt::rmsNormRows(in, out, rows, cols, gamma, rmsEps, s);
    };
    launchThreads(findFacts, rows, stream_, in, rows, cols, facts);
    const std::size_t n = rows * cols, bytes = 2 * n * sizeof(Bf16);
    const Candidate candidate =
        buffers_.candidate("gpuopt", false, call, n, IsRight<NORM>{in, out, gamma, beta, facts, cols});
    const std::size_t copied = bytes / 2 < 4096 ? 4096 : bytes / 2 / 4096 * 4096;
    return {mode == Mode::graph ? "small" : "rows",
            names[static_cast<int>(NORM)],
            subject(rows, cols),
            columns(rows, cols),
            bytes,
            goal,
            {candidate},
            buffers_.copies(copied),
            mode};
  }

  cudaStream_t stream_;
  const Buffers& buffers_;
  GoalReport& report_;
  std::size_t bytes_;
  DeviceMemory numbers_{std::size_t{256} << 20};  // facts, or scales
};

template <Norm NORM>
void measureLarge(Bench& bench) {
  for (const std::size_t cols : {128u, 1024u, 4096u, 7168u, 16384u}) bench.large<NORM>(cols, 0.93);
  for (const std::size_t cols : {133u, 201u, 333u, 1000u, 1001u, 4099u}) bench.large<NORM>(cols, 0.9);
  bench.large<NORM>(129280, 0.85);
}

template <Norm NORM>
void measureSmall(Bench& bench) {
  for (const std::size_t cols : {128u, 1000u, 4096u, 16384u})
    for (const std::size_t bytes : {1u << 14, 1u << 17, 1u << 20})
      if (bytes / 4 / cols > 0) bench.small<NORM>(bytes / 4 / cols, cols);
  for (const std::size_t rows : {1u, 8u, 64u}) bench.small<NORM>(rows, 129280);
}

void measureQuantize(Bench& bench) {
  for (const bool inBlocks : {false, true})
    for (const std::size_t cols : {1024u, 8192u}) bench.quantize((std::size_t{1} << 26) / cols, cols, inBlocks);
}

constexpr Group<Bench> groups[] = {{"softmax", measureLarge<Norm::softmax>},
                                   {"layer", measureLarge<Norm::layer>},
                                   {"rms", measureLarge<Norm::rms>},
                                   {"small-softmax", measureSmall<Norm::softmax>},
                                   {"small-layer", measureSmall<Norm::layer>},
                                   {"small-rms", measureSmall<Norm::rms>},
                                   {"quantize", measureQuantize}};

int run(Options& options) { return runGoalGroups(options, groups, "rows,cols"); }

}  // namespace

int main(int count, char** words) {
  return runBenchmark(count, words, "rows_transform_bench", "Rows normalised and quantised, beside a copy.", run);
}
