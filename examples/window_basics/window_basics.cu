/// \file
/// <gpuopt/window.cuh> in your own kernels: a picture blurred by sums of rows, and cleaned of single wrong pixels by
/// the median of nine neighbours. Each pixel is read from memory once.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"

#include <gpuopt/launch.cuh>
#include <gpuopt/window.cuh>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <random>
#include <vector>

constexpr int BLOCK = 64, COLUMNS = 4, ROWS = 56, SIDE = 5;

struct Weights {
  float of[SIDE];  // of a row as of a column
};

// What a thread computes: four columns from x on, rows first to last - 1.
struct Part {
  int x, first, last;
};

__device__ Part partOf(const gpuopt::MatrixView<float>& out) {
  const int first = ROWS * static_cast<int>(blockIdx.y);
  return {COLUMNS * static_cast<int>(blockIdx.x * BLOCK + threadIdx.x), first,
          min(first + ROWS, static_cast<int>(out.rows))};
}

// Each row belongs to five results. Beyond the edges the picture repeats its last pixels.
__global__ void __launch_bounds__(BLOCK)
    blur(gpuopt::MatrixView<const float> in, gpuopt::MatrixView<float> out, Weights weights) {
  const auto [x, first, last] = partOf(out);
  if (x >= static_cast<int>(out.cols)) return;
  const gpuopt::WindowRows<float, SIDE / 2, COLUMNS, 2, gpuopt::WindowEdge::nearest> rows(in, x);
  float sums[SIDE][COLUMNS] = {};
  rows.forEach(first, last, [&, x = x, first = first](auto turn, int y, const auto& row) {
    constexpr int TURN = decltype(turn)::value;
#pragma unroll
    for (int k = 0; k < COLUMNS; ++k) {
      float sum = 0;
#pragma unroll
      for (int i = 0; i < SIDE; ++i) sum += weights.of[i] * row[k + i];
#pragma unroll
      for (int j = 0; j < SIDE; ++j) sums[(TURN + j) % SIDE][k] += weights.of[SIDE - 1 - j] * sum;
    }
    if (y - SIDE / 2 >= first) gpuopt::storeColumns(out, x, y - SIDE / 2, sums[TURN]);
    for (float& sum : sums[TURN]) sum = 0;
  });
}

__host__ __device__ inline float middleOf(float a, float b, float c) {
  return fmaxf(fminf(a, b), fminf(fmaxf(a, b), c));
}

// The median of nine: of the three columns sorted, the largest first, the middle second and the smallest third.
__host__ __device__ inline float medianOf(const float (&columns)[3][3]) {
  float lowest = -INFINITY, highest = INFINITY, middles[3] = {};
  for (int i = 0; i < 3; ++i) {
    const float a = columns[i][0], b = columns[i][1], c = columns[i][2];
    lowest = fmaxf(lowest, fminf(a, fminf(b, c)));
    highest = fminf(highest, fmaxf(a, fmaxf(b, c)));
    middles[i] = middleOf(a, b, c);
  }
  return middleOf(lowest, middleOf(middles[0], middles[1], middles[2]), highest);
}

__global__ void __launch_bounds__(BLOCK) despeckle(gpuopt::MatrixView<const float> in, gpuopt::MatrixView<float> out) {
  const auto [x, first, last] = partOf(out);
  if (x >= static_cast<int>(out.cols)) return;
  const gpuopt::Window2D<float, 1, COLUMNS, 2, gpuopt::WindowEdge::nearest> window(in, x);
  window.forEach(first, last, [&, x = x](const auto& at, int y) {
    float results[COLUMNS];
#pragma unroll
    for (int k = 0; k < COLUMNS; ++k)
      results[k] = medianOf({{at(-1, k - 1), at(0, k - 1), at(1, k - 1)},
                             {at(-1, k), at(0, k), at(1, k)},
                             {at(-1, k + 1), at(0, k + 1), at(1, k + 1)}});
    gpuopt::storeColumns(out, x, y, results);
  });
}

// The same on the host, by definition.
struct Picture {
  int rows, cols;
  std::vector<float> pixels;

  float at(int y, int x) const {
    return pixels[static_cast<std::size_t>(std::clamp(y, 0, rows - 1)) * static_cast<std::size_t>(cols) +
                  static_cast<std::size_t>(std::clamp(x, 0, cols - 1))];
  }
};

float blurred(const Picture& picture, const Weights& weights, int y, int x) {
  double sum = 0;
  for (int j = 0; j < SIDE; ++j)
    for (int i = 0; i < SIDE; ++i)
      sum += double{weights.of[j]} * weights.of[i] * picture.at(y + j - SIDE / 2, x + i - SIDE / 2);
  return static_cast<float>(sum);
}

float median(const Picture& picture, int y, int x) {
  std::vector<float> nine;
  for (int j = -1; j <= 1; ++j)
    for (int i = -1; i <= 1; ++i) nine.push_back(picture.at(y + j, x + i));
  std::nth_element(nine.begin(), nine.begin() + 4, nine.end());
  return nine[4];
}

template <class Expected>
bool isRight(const char* what, const Picture& picture, const std::vector<float>& found, const Expected& expected) {
  float error = 0;
  for (int y = 0; y < picture.rows; ++y)
    for (int x = 0; x < picture.cols; ++x)
      error = std::max(error, std::fabs(found[static_cast<std::size_t>(y * picture.cols + x)] - expected(y, x)));
  std::printf("%s of %d x %d pixels: largest error %.1e\n", what, picture.rows, picture.cols, error);
  return error < 1e-5f;
}

bool check(int rows, int cols) {
  Picture picture{rows, cols, std::vector<float>(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols))};
  std::mt19937 generator(7);
  for (float& pixel : picture.pixels) pixel = std::uniform_real_distribution<float>(0, 1)(generator);
  const DeviceArray<float> in(picture.pixels), out(picture.pixels.size());
  const auto height = static_cast<std::size_t>(rows), width = static_cast<std::size_t>(cols);
  const gpuopt::MatrixView<const float> from{in.data(), height, width};
  const gpuopt::MatrixView<float> to{out.data(), height, width};
  const Weights weights{{0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f}};

  gpuopt::LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>((cols + COLUMNS * BLOCK - 1) / (COLUMNS * BLOCK)),
                     static_cast<unsigned>((rows + ROWS - 1) / ROWS));
  config.block = dim3(BLOCK);
  gpuopt::launch(blur, config, from, to, weights);
  const bool isBlurred =
      isRight("blur", picture, out.toHost(), [&](int y, int x) { return blurred(picture, weights, y, x); });
  gpuopt::launch(despeckle, config, from, to);
  return isRight("median", picture, out.toHost(), [&](int y, int x) { return median(picture, y, x); }) && isBlurred;
}

// Rows of 16-byte vectors, and rows that begin at any element.
bool run() { return check(120, 512) & check(67, 301); }

int main() { return exitStatusOf("window_basics", run); }
