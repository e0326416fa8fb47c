/// \file
/// The device functions of <gpuopt/reduce.cuh> in your own kernel: softmax of the rows of a matrix, one
/// block per row.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"

#include <gpuopt/launch.cuh>
#include <gpuopt/reduce.cuh>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <random>
#include <vector>

constexpr int BLOCK = 256;

// out[r][c] = exp(in[r][c]) / sum over the row of exp(in[r][...]), without overflow. Every thread needs the
// row's maximum and sum: blockAllReduce gives them to all.
__global__ void softmaxRows(const float* in, float* out, std::size_t rows, std::size_t cols) {
  for (std::size_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const float* x = in + row * cols;
    float* y = out + row * cols;

    float largest = -INFINITY;
    for (std::size_t c = threadIdx.x; c < cols; c += BLOCK) largest = fmaxf(largest, x[c]);
    largest = gpuopt::blockAllReduce<BLOCK>(largest, gpuopt::Maximum{});

    float sum = 0;
    for (std::size_t c = threadIdx.x; c < cols; c += BLOCK) sum += expf(x[c] - largest);
    sum = gpuopt::blockAllReduce<BLOCK>(sum, gpuopt::Plus{});

    for (std::size_t c = threadIdx.x; c < cols; c += BLOCK) y[c] = expf(x[c] - largest) / sum;
  }
}

// Whether the result is what serial code says, in double precision.
bool isSoftmax(const std::vector<float>& in, const std::vector<float>& out, std::size_t rows, std::size_t cols) {
  std::size_t close = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const float* x = in.data() + row * cols;
    double sum = 0;
    for (std::size_t c = 0; c < cols; ++c) sum += std::exp(static_cast<double>(x[c]));
    for (std::size_t c = 0; c < cols; ++c) {
      const double expected = std::exp(static_cast<double>(x[c])) / sum;
      close += std::fabs(static_cast<double>(out[row * cols + c]) / expected - 1) < 1e-5;
    }
  }
  return close == rows * cols;
}

bool run() {
  const std::size_t rows = 100, cols = 1003;
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> uniform(-20, 20);
  std::vector<float> host(rows * cols);
  for (float& x : host) x = uniform(generator);
  const DeviceArray<float> in(host), out(rows * cols);

  // A block a row, but no more blocks than fill the device.
  const gpuopt::LaunchConfig config = gpuopt::occupancyConfig(softmaxRows, rows * BLOCK, BLOCK);
  gpuopt::launch(softmaxRows, config, in.data(), out.data(), rows, cols);

  const bool right = isSoftmax(host, out.toHost(), rows, cols);
  std::printf("softmax of %zu rows of %zu in %u blocks: %s\n", rows, cols, config.grid.x, right ? "ok" : "WRONG");
  return right;
}

int main() { return exitStatusOf("reduce_kernel", run); }
