/// \file
/// Particles from an array of structures to columns, and which of them is the fastest: argMax of a function, which
/// reads the column of velocities alone.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"

#include <gpuopt/reduce_statistics.cuh>
#include <gpuopt/soa.cuh>

#include <cstddef>
#include <cstdio>
#include <vector>

struct Particle {
  float3 position, velocity;
  float mass;
  int id;
};

struct SquaredSpeed {
  __host__ __device__ float operator()(const float3& v) const { return v.x * v.x + v.y * v.y + v.z * v.z; }
};

bool run() {
  const std::size_t n = 100003;
  std::vector<Particle> hosted(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto number = [=](std::size_t factor) { return static_cast<float>(i * factor % 1009); };
    hosted[i] = {{number(3), number(5), number(7)}, {number(11), number(13), number(17)}, 1, static_cast<int>(n - i)};
  }
  const DeviceArray<Particle> structs(hosted);

  gpuopt::SoaVector<Particle> particles;
  particles.resizeForOverwrite(n);
  gpuopt::toSoa(structs.data(), n, particles);
  const float3* const velocities = particles.view().column<&Particle::velocity>();
  const auto [speed, fastest] = gpuopt::argMax(velocities, n, SquaredSpeed{});

  std::size_t expected = 0;  // the first one of equal speed, as argMax says
  for (std::size_t i = 1; i < n; ++i)
    if (SquaredSpeed{}(hosted[i].velocity) > SquaredSpeed{}(hosted[expected].velocity)) expected = i;
  const bool right = fastest == expected && speed == SquaredSpeed{}(hosted[expected].velocity);
  std::printf("particle %zu of %zu has the squared speed %g: %s\n", fastest, n, speed, right ? "ok" : "WRONG");
  return right;
}

int main() { return exitStatusOf("fastest_particle", run); }
