/// \file
/// StagedStructs of <gpuopt/struct_io.cuh> in your own kernel: particles move in a box, and the kernel
/// counts how often they bounce off its walls.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"

#include <gpuopt/launch.cuh>
#include <gpuopt/reduce.cuh>
#include <gpuopt/struct_io.cuh>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <vector>

constexpr unsigned BLOCK = 128;

struct Particle {
  float position[3], velocity[3];
  int id;
};

// A step of time in the box from 0 to 1. Returns how many walls were hit.
__host__ __device__ unsigned step(Particle& p) {
  unsigned bounces = 0;
  for (int axis = 0; axis < 3; ++axis) {
    p.position[axis] += 0.25F * p.velocity[axis];
    if (p.position[axis] >= 0 && p.position[axis] <= 1) continue;
    p.position[axis] = (p.position[axis] < 0 ? 0 : 2) - p.position[axis];
    p.velocity[axis] = -p.velocity[axis];
    ++bounces;
  }
  return bounces;
}

// `tile.load(in)` and `tile.store(out, p)` replace `in[i]` and `out[i]`. All lanes of a warp call them,
// including those beyond the end of the array.
__global__ void __launch_bounds__(BLOCK) moveParticles(Particle* particles, std::size_t n, unsigned* bounces) {
  using Staged = gpuopt::StagedStructs<Particle, BLOCK>;
  __shared__ typename Staged::Storage storage;
  const Staged staged(storage);
  unsigned mine = 0;
  for (const auto tile : staged.tiles(n)) {
    Particle p = tile.load(particles);
    const unsigned hit = step(p);
    if (tile.has()) mine += hit;
    tile.store(particles, p);
  }
  const unsigned total = gpuopt::blockReduce<BLOCK>(mine, gpuopt::Plus{});
  if (threadIdx.x == 0) atomicAdd(bounces, total);
}

bool run() {
  const std::size_t n = 10007;
  const int steps = 5;
  std::vector<Particle> particles(n);
  for (std::size_t i = 0; i < n; ++i) {  // multiples of 1/64: every step is exact
    const auto part = [i](std::size_t factor) { return static_cast<float>(i * factor % 65) / 64; };
    particles[i] = {{part(1), part(3), part(5)}, {part(7) - 0.5F, part(11) - 0.5F, 1}, static_cast<int>(i)};
  }
  const DeviceArray<Particle> device(particles);
  const DeviceArray<unsigned> bounces(std::vector<unsigned>(1));
  const auto config = gpuopt::occupancyConfig(moveParticles, n, BLOCK);
  for (int i = 0; i < steps; ++i) gpuopt::launch(moveParticles, config, device.data(), n, bounces.data());

  unsigned expected = 0;
  for (Particle& p : particles)
    for (int i = 0; i < steps; ++i) expected += step(p);
  const unsigned counted = bounces.toHost()[0];
  const std::vector<Particle> moved = device.toHost();
  const bool right = counted == expected && std::memcmp(moved.data(), particles.data(), n * sizeof(Particle)) == 0;
  std::printf("%zu particles, %d steps, %u bounces: %s\n", n, steps, counted, right ? "ok" : "WRONG");
  return right;
}

int main() { return exitStatusOf("struct_kernel", run); }
