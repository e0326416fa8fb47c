/// \file
/// gpuopt's device functions in a kernel of one's own: softmax of the rows of a matrix, a block a row.
// SPDX-License-Identifier: MIT
#include <gpuopt/block/reduce.cuh>
#include <gpuopt/launch.cuh>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <random>
#include <vector>

constexpr int BLOCK = 256;

// out[r][c] = exp(in[r][c]) / sum over the row of exp(in[r][...]), without overflow. Every thread needs the
// row's maximum and sum: blockAllReduce gives them to all, in one barrier each.
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

// The largest relative error against serial code in double precision.
double largestError(const std::vector<float>& in, const std::vector<float>& out, std::size_t rows,
                    std::size_t cols) {
  double error = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const float* x = in.data() + row * cols;
    double sum = 0;
    for (std::size_t c = 0; c < cols; ++c) sum += std::exp(static_cast<double>(x[c]));
    for (std::size_t c = 0; c < cols; ++c) {
      const double expected = std::exp(static_cast<double>(x[c])) / sum;
      error = (std::max)(error, std::fabs(static_cast<double>(out[row * cols + c]) / expected - 1));
    }
  }
  return error;
}

int main() {
  try {
    const std::size_t rows = 100, cols = 1003, bytes = rows * cols * sizeof(float);
    std::mt19937 generator(1);
    std::uniform_real_distribution<float> uniform(-20, 20);
    std::vector<float> host(rows * cols), result(rows * cols);
    for (float& x : host) x = uniform(generator);

    float *in = nullptr, *out = nullptr;
    gpuopt::check(cudaMalloc(&in, bytes), "cudaMalloc");
    gpuopt::check(cudaMalloc(&out, bytes), "cudaMalloc");
    gpuopt::check(cudaMemcpy(in, host.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");

    // A block a row, but no more blocks than fill the device.
    const gpuopt::LaunchConfig config = gpuopt::occupancyConfig(softmaxRows, rows * BLOCK, BLOCK);
    gpuopt::launch(softmaxRows, config, in, out, rows, cols);

    gpuopt::check(cudaMemcpy(result.data(), out, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    cudaFree(in);
    cudaFree(out);

    const double error = largestError(host, result, rows, cols);
    std::printf("softmax of %zu rows of %zu in %u blocks: largest relative error %.1e: %s\n", rows, cols,
                config.grid.x, error, error < 1e-5 ? "ok" : "WRONG");
    return error < 1e-5 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kernel_reduce: %s\n", error.what());
    return 1;
  }
}
