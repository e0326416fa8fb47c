/// \file
/// <gpuopt/soa.cuh>: a plain struct declares the columns; kernels and reductions take those that they need.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"

#include <gpuopt/launch.cuh>
#include <gpuopt/reduce.cuh>
#include <gpuopt/soa.cuh>

#include <cstddef>
#include <cstdio>
#include <type_traits>
#include <vector>

struct Star {
  float3 position;
  float brightness;
  int kind;
};

// Used like an array of structs. What a kernel does not touch, the positions, does not move.
__global__ void dim(gpuopt::SoaView<Star> stars, int which) {
  const unsigned threads = gridDim.x * blockDim.x;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < stars.size(); i += threads) {
    auto [position, brightness, kind] = stars[i];  // references
    if (kind == which) brightness /= 2;
  }
}

// Takes any view of a kind and a brightness, in whatever struct and layout they are.
template <class View>
__global__ void countBright(View view, unsigned* counts) {
  const unsigned threads = gridDim.x * blockDim.x;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < view.size(); i += threads) {
    const auto [kind, brightness] = view.load(i);  // values
    if (brightness >= 1) atomicAdd(counts + kind, 1u);
  }
}

bool run() {
  constexpr std::size_t n = 5003;
  std::vector<Star> stars(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto f = static_cast<float>(i);
    stars[i] = {{f, -f, 2 * f}, static_cast<float>(i * 13 % 64) / 16, static_cast<int>(i * 7 % 4)};
  }
  const DeviceArray<Star> aos(stars);
  const DeviceArray<unsigned> counts(std::vector<unsigned>(4));

  gpuopt::SoaVector<Star> columns;  // one allocation for all columns
  columns.resizeForOverwrite(n);
  const gpuopt::SoaView<Star> view = columns.view();  // refers to them; passed to kernels by value
  gpuopt::toSoa(aos.data(), n, view);
  gpuopt::launch(dim, gpuopt::occupancyConfig(dim, n, 256), view, 2);
  const auto selected = view.select<&Star::kind, &Star::brightness>();
  const auto count = countBright<std::decay_t<decltype(selected)>>;
  gpuopt::launch(count, gpuopt::occupancyConfig(count, n, 256), selected, counts.data());
  const float light = gpuopt::reduce(view.column<&Star::brightness>(), n);  // a pointer to floats
  gpuopt::toAos(view, aos.data());

  float expectedLight = 0;  // multiples of 1/32: exact in any order
  std::vector<unsigned> expectedCounts(4);
  const std::vector<Star> found = aos.toHost();
  bool right = true;
  for (std::size_t i = 0; i < n; ++i) {
    const Star& before = stars[i];
    const float brightness = before.kind == 2 ? before.brightness / 2 : before.brightness;
    expectedLight += brightness;
    if (brightness >= 1) ++expectedCounts[static_cast<std::size_t>(before.kind)];
    right = right && found[i].brightness == brightness && found[i].position.z == before.position.z;
  }
  right = right && light == expectedLight && counts.toHost() == expectedCounts;
  std::printf("%zu stars, light %g: %s\n", n, light, right ? "ok" : "WRONG");
  return right;
}

int main() { return exitStatusOf("soa_columns", run); }
