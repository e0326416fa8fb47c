/// \file
/// Climbs the transpose ladder: runs every step on the same matrix, checks it, and times it on a GPU. The
/// last step is cuBLAS, where that is installed.
// SPDX-License-Identifier: MIT
#include "data.cuh"
#include "exit_status.hpp"
#include "measure.cuh"
#include "transpose_steps.cuh"

#ifdef GPUOPT_BENCHMARK_CUBLAS
#include <cublas_v2.h>
#endif

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ladders;

namespace {

// 2048 x 2048 is what the published figures are for. 32 more on a side, and camping vanishes. 16384 x 16384
// are beyond every cache.
const std::vector<MatrixSize> usualSizes = emulated
                                               ? std::vector<MatrixSize>{{100, 70}, {65, 65}}
                                               : std::vector<MatrixSize>{{2048, 2048}, {2080, 2080}, {16384, 16384}};

#ifdef GPUOPT_BENCHMARK_CUBLAS
void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(call) + ": " + cublasGetStatusString(status));
}

// cuBLAS stores columns: our rows are its columns.
void addCublas(std::vector<TransposeStep>& steps, const TransposeData& data) {
  static cublasHandle_t handle = nullptr;
  if (handle == nullptr) check(cublasCreate(&handle), "cublasCreate");
  const auto call = [=](int) {
    const auto rows = static_cast<int>(data.rows), cols = static_cast<int>(data.cols);
    const float one = 1, zero = 0;
    check(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, cols, &one, data.in, cols, &zero, data.out, rows,
                      data.out, rows),
          "cublasSgeam");
  };
  steps.push_back({{"cuBLAS geam", "alpha = 1, beta = 0", "", {}, call, false}});
}
#else
void addCublas(std::vector<TransposeStep>&, const TransposeData&) {}
#endif

// Of a matrix of rows x cols with elementAt: what is wrong in its transpose, or in a copy of it.
template <class T>
__global__ void countWrongKernel(const T* out, std::size_t rows, std::size_t cols, bool isCopy, unsigned* wrong) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < rows * cols; i += threads) {
    const std::size_t from = isCopy ? i : i % rows * cols + i / rows;
    if (out[i] != elementAt<T>(from)) atomicAdd(wrong, 1u);
  }
}

// Runs a step on poisoned results and counts what is wrong.
bool isRight(const TransposeStep& step, const TransposeData& data) {
  const std::size_t n = std::size_t{data.rows} * data.cols;
  gpuopt::check(cudaMemset(data.out, 0xA5, n * sizeof(float)), "cudaMemset");
  step.run(1);
  const DeviceArray<unsigned> wrong(std::vector<unsigned>{0});
  gpuopt::launch(countWrongKernel<float>, loopConfig(n), data.out, data.rows, data.cols, step.copies, wrong.data());
  return wrong.toHost().front() == 0;
}

void climb(Report& report, const Options& options, MatrixSize size, bool isFirst) {
  const std::size_t n = std::size_t{size.rows} * size.cols;
  const std::size_t rounded = (n + 3) / 4 * 4;  // to full vectors, for the copy
  const DeviceArray<float> in(rounded), out(rounded);
  const TransposeData data{in.data(), out.data(), size.rows, size.cols};
  fill(in.data(), n);

  std::vector<TransposeStep> steps = transposeSteps(data);
  addCublas(steps, data);
  if (isFirst) Report::explain({steps.begin(), steps.end()});
  const std::size_t bytes = 2 * n * sizeof(float);
  const double copy = emulated ? 0 : copySpeed(data.in, data.out, in.bytes(), options.repeats);
  report.begin({std::to_string(size.rows) + " x " + std::to_string(size.cols) + " floats", bytes, copy}, steps.size());
  for (const TransposeStep& step : steps) {
    report.announce(step);
    const bool right = isRight(step, data);
    report.add(step, {right, emulated ? Speeds{} : speedsOf(step, bytes, options.repeats)});
  }
}

int run(int count, char** words) {
  std::vector<MatrixSize> sizes = usualSizes;
  const Options options = transposeOptions(count, words, sizes);
  return climbAll("transpose_ladder", "Ruetsch and Micikevicius 2009, 2048 x 2048 floats, GTX 280 (142 GB/s)", options,
                  sizes, climb);
}

}  // namespace

int main(int count, char** words) {
  return exitStatusOf("transpose_ladder", [&] { return run(count, words) == 0; });
}
