/// \file
/// The tiles of <gpuopt/transpose.cuh> in your own kernels: bytes with a scale for each column become
/// floats, transposed. The work is fused with the transposition: every element is read and written once.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"

#include <gpuopt/launch.cuh>
#include <gpuopt/transpose.cuh>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

constexpr unsigned TILE = 32, SIDE = 8;  // TILE x TILE elements, TILE x SIDE threads

struct ToFloat {
  __device__ float operator()(std::int8_t x) const { return static_cast<float>(x); }
};

// How much of a tile that begins at `first` there is.
__device__ unsigned part(unsigned first, unsigned n) { return n - first < TILE ? n - first : TILE; }

// out(c, r) = in(r, c). A function of the element alone is applied on the way.
__global__ void convert(const std::int8_t* in, float* out, unsigned rows, unsigned cols) {
  const unsigned row = blockIdx.y * TILE, col = blockIdx.x * TILE;
  gpuopt::transposeTile<TILE, SIDE>(in + row * cols + col, cols, out + col * rows + row, rows, part(row, rows),
                                    part(col, cols), ToFloat{});
}

// out(c, r) = scales[c] * in(r, c). The work depends on the row and column, so the two halves of the tile are
// called separately: load(), a barrier, and get() instead of store().
__global__ void dequantise(const std::int8_t* in, const float* scales, float* out, unsigned rows, unsigned cols) {
  using Tile = gpuopt::TransposeTile<std::int8_t, float, TILE, SIDE>;
  __shared__ typename Tile::Storage storage;
  const Tile tile(storage);
  const unsigned row = blockIdx.y * TILE, col = blockIdx.x * TILE;
  tile.load(in + row * cols + col, cols, part(row, rows), part(col, cols), ToFloat{});
  __syncthreads();
  const unsigned r = threadIdx.x;  // neighbouring threads write neighbouring elements of a row of out
  if (r >= part(row, rows)) return;
  for (unsigned c = threadIdx.y; c < part(col, cols); c += SIDE)
    out[(col + c) * rows + row + r] = scales[col + c] * tile.get(r, c);
}

bool run() {
  const unsigned rows = 301, cols = 205;
  std::vector<std::int8_t> bytes(rows * cols);
  for (unsigned i = 0; i < rows * cols; ++i) bytes[i] = static_cast<std::int8_t>(i * 2654435761u >> 24);
  std::vector<float> scales(cols), converted(rows * cols), dequantised(rows * cols);
  for (unsigned c = 0; c < cols; ++c) scales[c] = static_cast<float>(c % 17) / 8;
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned c = 0; c < cols; ++c) {
      converted[c * rows + r] = static_cast<float>(bytes[r * cols + c]);
      dequantised[c * rows + r] = scales[c] * converted[c * rows + r];
    }

  const DeviceArray<std::int8_t> in(bytes);
  const DeviceArray<float> scale(scales), first(rows * cols), second(rows * cols);
  gpuopt::LaunchConfig config;
  config.grid = dim3((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
  config.block = dim3(TILE, SIDE);
  gpuopt::launch(convert, config, in.data(), first.data(), rows, cols);
  gpuopt::launch(dequantise, config, in.data(), scale.data(), second.data(), rows, cols);

  const bool right = first.toHost() == converted && second.toHost() == dequantised;
  std::printf("%u x %u bytes to floats, transposed and scaled: %s\n", rows, cols, right ? "ok" : "WRONG");
  return right;
}

int main() { return exitStatusOf("transpose_kernel", run); }
