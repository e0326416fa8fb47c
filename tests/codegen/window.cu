// Windows are in registers: vectors are loaded where rows are aligned, without branches around them, and results are
// stored as vectors. The convolution has the registers that let three blocks of 256 threads be resident.
// SPDX-License-Identifier: MIT
#include <gpuopt/window.cuh>

using namespace gpuopt;

struct Weights {
  float of[5][5];
};

// CODEGEN: kernel=convolve contains=ld\.global\.nc\.v4 contains=ld\.global\.nc\.v2 contains=st\.global\.v4 absent=shared no-local no-spill max-registers=80
__global__ void __launch_bounds__(256, 3)
    convolve(MatrixView<const float> in, MatrixView<float> out, Weights weights, int rowsOfBlock) {
  const int x = 4 * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int first = rowsOfBlock * static_cast<int>(blockIdx.y);
  const int last = min(first + rowsOfBlock, static_cast<int>(in.rows));
  if (x >= static_cast<int>(in.cols)) return;
  float sums[5][4] = {};
  const WindowRows<float, 2> rows(in, x);
  rows.forEach(first, last, [&](auto turn, int y, const auto& row) {
    constexpr int TURN = decltype(turn)::value;
#pragma unroll
    for (int j = 0; j < 5; ++j)
#pragma unroll
      for (int i = 0; i < 5; ++i)
#pragma unroll
        for (int k = 0; k < 4; ++k) sums[(TURN + j) % 5][k] += weights.of[4 - j][i] * row[i + k];
    if (y - 2 >= first) storeColumns(out, x, y - 2, sums[TURN]);
#pragma unroll
    for (float& sum : sums[TURN]) sum = 0;
  });
}

// CODEGEN: kernel=laplacian contains=ld\.global\.nc\.v4 contains=st\.global\.v4 absent=shared no-local no-spill max-registers=80
__global__ void laplacian(MatrixView<const float> in, MatrixView<float> out, int rowsOfBlock) {
  const int x = 4 * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int first = rowsOfBlock * static_cast<int>(blockIdx.y);
  const int last = min(first + rowsOfBlock, static_cast<int>(in.rows));
  if (x >= static_cast<int>(in.cols)) return;
  const Window2D<float, 1> window(in, x);
  window.forEach(first, last, [&](const auto& at, int y) {
    float results[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) results[k] = at(-1, k) + at(1, k) + at(0, k - 1) + at(0, k + 1) - 4 * at(0, k);
    storeColumns(out, x, y, results);
  });
}

// CODEGEN: kernel=erode contains=ld\.global\.nc\.v2 contains=st\.global\.v2 absent=shared no-local no-spill max-registers=112
__global__ void erode(MatrixView<const unsigned char> in, MatrixView<unsigned char> out, int rowsOfBlock) {
  const int x = 8 * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int first = rowsOfBlock * static_cast<int>(blockIdx.y);
  const int last = min(first + rowsOfBlock, static_cast<int>(in.rows));
  if (x >= static_cast<int>(in.cols)) return;
  const Window2D<unsigned char, 1, 8, 1, WindowEdge::nearest> window(in, x);
  window.forEach(first, last, [&](const auto& at, int y) {
    unsigned char results[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      results[k] = at(0, k);
#pragma unroll
      for (int dy = -1; dy <= 1; ++dy)
#pragma unroll
        for (int dx = -1; dx <= 1; ++dx) results[k] = results[k] < at(dy, k + dx) ? results[k] : at(dy, k + dx);
    }
    storeColumns(out, x, y, results);
  });
}
