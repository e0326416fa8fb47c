/// \file
/// Steps of an n-body-like simulation with the particles in an array of structures, accessed directly and
/// staged, and in columns. All three compute the same; what differs is how the particles reach the threads.
// SPDX-License-Identifier: MIT
#include "exit_status.hpp"
#include "options.hpp"
#include "particle.cuh"
#include "readers.hpp"
#include "table.cuh"
#include "timing.cuh"

#include <gpuopt/launch.cuh>
#include <gpuopt/soa.cuh>
#include <gpuopt/struct_io.cuh>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr unsigned BLOCK = 128;

// Each thread loads and stores its own structure: neighbouring threads access memory 32 bytes apart.
__global__ void __launch_bounds__(BLOCK) stepDirect(Particle* particles, std::size_t n) {
  const std::size_t i = blockIdx.x * std::size_t{BLOCK} + threadIdx.x;
  if (i >= n) return;
  Particle p = particles[i];
  advance(p.position, p.velocity, p.mass);
  particles[i] = p;
}

// The same through tiles in shared memory, which warps read and write in runs of whole lines.
__global__ void __launch_bounds__(BLOCK) stepStaged(Particle* particles, std::size_t n) {
  using Staged = gpuopt::StagedStructs<Particle, BLOCK>;
  __shared__ typename Staged::Storage storage;
  Staged staged(storage);
  for (auto tile : staged.tiles(n)) {
    Particle p = tile.load(particles);
    advance(p.position, p.velocity, p.mass);
    tile.store(particles, p);
  }
}

// Every member has its own column. The step does not need the id, so it is neither read nor written.
__global__ void __launch_bounds__(BLOCK) stepColumns(gpuopt::SoaView<Particle> particles) {
  const std::size_t i = blockIdx.x * std::size_t{BLOCK} + threadIdx.x;
  if (i >= particles.size()) return;
  float3 position = particles.column<&Particle::position>()[i];
  float3 velocity = particles.column<&Particle::velocity>()[i];
  advance(position, velocity, particles.column<&Particle::mass>()[i]);
  particles.column<&Particle::position>()[i] = position;
  particles.column<&Particle::velocity>()[i] = velocity;
}

gpuopt::LaunchConfig configFor(std::size_t n) {
  gpuopt::LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>((n + BLOCK - 1) / BLOCK));
  config.block = dim3(BLOCK);
  return config;
}

std::vector<Particle> moveDirect(const std::vector<Particle>& particles, int steps) {
  const DeviceArray<Particle> device(particles);
  for (int step = 0; step < steps; ++step)
    gpuopt::launch(stepDirect, configFor(particles.size()), device.data(), particles.size());
  return device.toHost();
}

std::vector<Particle> moveStaged(const std::vector<Particle>& particles, int steps) {
  const DeviceArray<Particle> device(particles);
  for (int step = 0; step < steps; ++step)
    gpuopt::launch(stepStaged, configFor(particles.size()), device.data(), particles.size());
  return device.toHost();
}

std::vector<Particle> moveColumns(const std::vector<Particle>& particles, int steps) {
  const DeviceArray<Particle> device(particles);
  gpuopt::SoaVector<Particle> columns(particles.size());
  gpuopt::toSoa(device.data(), particles.size(), columns);
  for (int step = 0; step < steps; ++step) gpuopt::launch(stepColumns, configFor(particles.size()), columns.view());
  gpuopt::toAos(columns, device.data());
  return device.toHost();
}

// One particle after the other, in double precision.
std::vector<Particle> moveSerially(std::vector<Particle> particles, int steps) {
  for (auto& [p, v, mass, id] : particles) {
    double3 position{p.x, p.y, p.z}, velocity{v.x, v.y, v.z};
    for (int step = 0; step < steps; ++step) advance(position, velocity, static_cast<double>(mass));
    p = {static_cast<float>(position.x), static_cast<float>(position.y), static_cast<float>(position.z)};
    v = {static_cast<float>(velocity.x), static_cast<float>(velocity.y), static_cast<float>(velocity.z)};
  }
  return particles;
}

// How far two vectors are apart, relative to their length where that is more than 1.
double distance(const float3& a, const float3& b) {
  const double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
  const double length = std::sqrt(double{b.x} * b.x + double{b.y} * b.y + double{b.z} * b.z);
  return std::sqrt(x * x + y * y + z * z) / (std::max)(1.0, length);
}

// Prints one line and returns whether the particles are where they should be.
bool report(const char* way, const std::vector<Particle>& moved, const std::vector<Particle>& expected) {
  constexpr double tolerance = 1e-4;
  double furthest = 0;
  bool right = true;
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const double error = (std::max)(distance(moved[i].position, expected[i].position),
                                    distance(moved[i].velocity, expected[i].velocity));
    furthest = (std::max)(furthest, error);
    right = right && error <= tolerance && moved[i].mass == expected[i].mass && moved[i].id == expected[i].id;
  }
  std::printf("  %-10s furthest from the serial reference: %8.2e   %s\n", way, furthest, right ? "ok" : "WRONG");
  return right;
}

// What a step reads and writes of a particle: all of a structure; no id of columns, and the mass is only
// read.
void printSpeeds(const std::vector<Particle>& particles) {
  const std::size_t n = particles.size();
  const std::size_t structs = 2 * n * sizeof(Particle);
  const std::size_t columnBytes = n * (4 * sizeof(float3) + sizeof(float));
  const double copy = copyBandwidth();
  const DeviceArray<Particle> device(particles);
  gpuopt::SoaVector<Particle> columns(n);
  printSpeedHeader(structs / 2, "moved", copy);
  const auto print = [&](const char* name, std::size_t bytes, auto call) {
    printSpeed(name, medianTime(call), bytes, copy);
  };
  print("step, direct", structs, [&] { gpuopt::launch(stepDirect, configFor(n), device.data(), n); });
  print("step, staged", structs, [&] { gpuopt::launch(stepStaged, configFor(n), device.data(), n); });
  print("structures to columns", structs, [&] { gpuopt::toSoa(device.data(), n, columns); });
  print("step, columns", columnBytes, [&] { gpuopt::launch(stepColumns, configFor(n), columns.view()); });
  print("columns to structures", structs, [&] { gpuopt::toAos(columns, device.data()); });
}

bool run(const Options& options) {
  const std::string input = options.input.empty() ? shippedFile("particles.csv") : options.input;
  const std::vector<Particle> particles = options.count > 0 ? generateParticles(options.count) : readParticles(input);
  printDevice("particles");
  std::printf("%s: %zu particles, %d steps\n", options.count > 0 ? "generated" : input.c_str(), particles.size(),
              options.steps);

  const std::vector<Particle> expected = moveSerially(particles, options.steps);
  const std::vector<Particle> moved = moveStaged(particles, options.steps);
  bool right = report("direct", moveDirect(particles, options.steps), expected);
  right &= report("staged", moved, expected);
  right &= report("columns", moveColumns(particles, options.steps), expected);
  if (!options.output.empty()) writeParticles(options.output, moved);

  if constexpr (emulated)
    std::printf("\n  No times: the emulated device shows what a GPU computes, not how fast.\n");
  else
    printSpeeds(particles);
  return right;
}

}  // namespace

int main(int count, char** words) {
  return exitStatusOf("particles", [&] { return run(parseOptions(count, words)); });
}
