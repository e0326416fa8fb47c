/// \file
/// <gpuopt_emulation/profile.hpp>: climbs the first steps of the transposition ladder without a GPU. What each kernel
/// does to memory tells what is wrong with it, and the next one cures that.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"

#include <gpuopt/launch.cuh>
#include <gpuopt/transpose.cuh>

#include <gpuopt_emulation/profile.hpp>

#include <cstdio>
#include <functional>
#include <vector>

constexpr unsigned N = 256;    // rows and columns of the matrix
constexpr unsigned TILE = 32;  // of a tile
constexpr unsigned SIDE = 8;   // rows of threads in a block

// Reads rows, writes columns: lanes write N floats apart.
__global__ void transposeNaive(const float* in, float* out) {
  const unsigned x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (unsigned i = 0; i < TILE; i += SIDE) out[x * N + y + i] = in[(y + i) * N + x];
}

// Reads and writes rows: a tile in shared memory turns them. PITCH is the length of its rows.
template <unsigned PITCH>
__global__ void transposeTiled(const float* in, float* out) {
  __shared__ float tile[TILE][PITCH];
  const unsigned x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (unsigned i = 0; i < TILE; i += SIDE) tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * N + x];
  __syncthreads();
  const unsigned toX = blockIdx.y * TILE + threadIdx.x, toY = blockIdx.x * TILE + threadIdx.y;
  for (unsigned i = 0; i < TILE; i += SIDE) out[(toY + i) * N + toX] = tile[threadIdx.x][threadIdx.y + i];
}

// What a step of the ladder is expected to show.
struct Step {
  const char* name;
  double storeUtilisation;
  double passesPerLoad;  // of shared memory
  std::function<void()> run;
};

bool isTransposed(const std::vector<float>& in, const std::vector<float>& out) {
  for (unsigned i = 0; i < N * N; ++i)
    if (out[i % N * N + i / N] != in[i]) return false;
  return true;
}

bool run() {
  std::vector<float> values(N * N);
  for (unsigned i = 0; i < N * N; ++i) values[i] = static_cast<float>(i);
  DeviceArray<float> in(values), out(N * N);
  gpuopt::LaunchConfig config;
  config.grid = dim3(N / TILE, N / TILE);
  config.block = dim3(TILE, SIDE);
  const float* const from = in.data();

  const Step steps[] = {
      {"naive", 0.125, 0, [&] { gpuopt::launch(transposeNaive, config, from, out.data()); }},
      {"tile of 32 x 32", 1, 32, [&] { gpuopt::launch(transposeTiled<TILE>, config, from, out.data()); }},
      {"tile of 32 x 33", 1, 1, [&] { gpuopt::launch(transposeTiled<TILE + 1>, config, from, out.data()); }},
      {"gpuopt::transpose", 1, 1, [&] { gpuopt::transpose(from, out.data(), N, N); }},
  };
  std::puts(
      "                     sectors used by        passes of shared\n"
      "                     loads     stores       memory per load");
  bool isRight = true;
  for (const Step& step : steps) {
    const gpuopt::Profile profile = gpuopt::profile(step.run);
    const gpuopt::AccessCounts shared = profile.sharedLoads();
    const double passes =
        shared.requests == 0 ? 0 : static_cast<double>(shared.wavefronts) / static_cast<double>(shared.requests);
    std::printf("%-18s %7.1f %% %7.1f %% %18.1f\n", step.name, 100 * profile.globalLoads().utilisation(),
                100 * profile.globalStores().utilisation(), passes);
    isRight = isRight && isTransposed(values, out.toHost()) && profile.globalLoads().utilisation() == 1 &&
              profile.globalStores().utilisation() == step.storeUtilisation && passes == step.passesPerLoad;
  }
  std::puts(isRight ? "as expected" : "NOT as expected");
  return isRight;
}

int main() { return exitStatusOf("profile_transpose", run); }
