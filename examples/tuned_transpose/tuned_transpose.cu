/// \file
/// A transposition with a factor, by tiles of the shape that is the fastest on the GPU at hand: an Experiment compares
/// TILE and SIDE. `GPUOPT_TUNING=gpuopt_tuning.json` keeps what it finds out for the next run.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"

#include <gpuopt/launch.cuh>
#include <gpuopt/transpose.cuh>
#include <gpuopt/tuning.cuh>

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

struct Scale {
  float factor;
  __device__ float operator()(float x) const { return factor * x; }
};

// out(c, r) = factor * in(r, c), a tile for each block.
template <unsigned TILE, unsigned SIDE>
__global__ void scaledTranspose(const float* in, float* out, unsigned rows, unsigned cols, float factor) {
  const unsigned row = blockIdx.y * TILE, col = blockIdx.x * TILE;
  const unsigned height = rows - row < TILE ? rows - row : TILE, width = cols - col < TILE ? cols - col : TILE;
  gpuopt::transposeTile<TILE, SIDE>(in + std::size_t{row} * cols + col, cols, out + std::size_t{col} * rows + row, rows,
                                    height, width, Scale{factor});
}

// A candidate: what it writes, how many elements, and the stream come first.
template <unsigned TILE, unsigned SIDE>
void launchTiles(float* out, std::size_t, cudaStream_t stream, const float* in, unsigned rows, unsigned cols,
                 float factor) {
  gpuopt::LaunchConfig config;
  config.grid = dim3((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
  config.block = dim3(TILE * SIDE);
  config.stream = stream;
  gpuopt::launch(scaledTranspose<TILE, SIDE>, config, in, out, rows, cols, factor);
}

bool run() {
  const unsigned rows = 300, cols = 205;  // on a GPU: the sizes of your program
  const float factor = 0.5f;
  std::vector<float> before(rows * cols), expected(rows * cols);
  for (unsigned i = 0; i < rows * cols; ++i) before[i] = static_cast<float>(i * 2654435761u >> 8);
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned c = 0; c < cols; ++c) expected[c * rows + r] = factor * before[r * cols + c];
  const DeviceArray<float> in(before), out(before.size());
  out.poison();

  gpuopt::ExperimentOptions options;
  options.seconds = 0.1;
  gpuopt::Experiment<float, const float*, unsigned, unsigned, float> transpose("scaledTranspose", options);
  transpose.add("TILE 32, SIDE 8", launchTiles<32, 8>);  // the default: the first
  transpose.add("TILE 32, SIDE 4", launchTiles<32, 4>);
  transpose.add("TILE 64, SIDE 4", launchTiles<64, 4>);
  transpose.add("TILE 64, SIDE 8", launchTiles<64, 8>);

  const std::string known = transpose.choice(expected.size());
  std::printf("%u x %u floats: %s\n", rows, cols, known.empty() ? "not known yet" : (known + ", as before").c_str());

  // The first call of a size compares the candidates, the second one knows.
  for (int i = 0; i < 2; ++i) transpose(out.data(), expected.size(), nullptr, in.data(), rows, cols, factor);
  const bool right = out.toHost() == expected;
  std::printf("chosen: %s\nresult: %s\n", transpose.choice(expected.size()).c_str(), right ? "ok" : "WRONG");

  // What the comparison of one size finds; on the emulated device its times mean nothing.
  const auto report = transpose.tune(out.data(), expected.size(), nullptr, in.data(), rows, cols, factor);
  std::printf("%s", report.text().c_str());
  return right && report.rows.size() == 4;
}

int main() { return exitStatusOf("tuned_transpose", run); }
