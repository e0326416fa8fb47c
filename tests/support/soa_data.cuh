/// Shared by the tests of structures of arrays: structs with all kinds of members, and a value for each
/// index.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/soa/view.cuh>

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuopt::test {

struct Particle {
  float3 position, velocity;
  float mass;
  int id;
};

enum class Kind : short { none, odd, even };

struct Inner {
  int number;
  char letter;  // followed by padding
};

struct alignas(32) Wide {
  double values[4];
};

/// Padding, arrays, a bool, an enum, a pointer, a half, structs, over-aligned members.
struct Mixed {
  char letter;
  double weight;
  bool flag;
  Kind kind;
  const int* link;
  float matrix[2][3];
  Inner inner;
  Wide wide;
  __half half;
  alignas(16) int aligned;
};

template <class T>
struct At;

/// The struct for index i. All numbers are exact, and differ between neighbours and between members.
template <class T>
__host__ __device__ T structAt(std::size_t i) {
  return At<T>::make(static_cast<int>(i));
}

template <>
struct At<Particle> {
  static __host__ __device__ Particle make(int i) {
    const float x = static_cast<float>(8 * i);
    return {{x, x + 1, x + 2}, {x + 3, x + 4, x + 5}, x + 6, 8 * i + 7};
  }
};

template <>
struct At<Mixed> {
  static __host__ __device__ Mixed make(int i) {
    const float x = static_cast<float>(8 * i);
    Mixed m{};
    m.letter = static_cast<char>('a' + i % 26);
    m.weight = 0.5 * i + 1;
    m.flag = i % 3 == 0;
    m.kind = i % 2 == 0 ? Kind::even : Kind::odd;
    m.link = reinterpret_cast<const int*>(static_cast<std::uintptr_t>(4 * i + 4));
    for (int r = 0; r < 2; ++r)
      for (int c = 0; c < 3; ++c) m.matrix[r][c] = x + static_cast<float>(3 * r + c);
    m.inner = {5 * i, static_cast<char>('A' + i % 25)};
    for (int k = 0; k < 4; ++k) m.wide.values[k] = 4.0 * i + k;
    m.half = __float2half(static_cast<float>(i % 1024));
    m.aligned = -i;
    return m;
  }
};

__host__ __device__ inline bool operator==(const float3& a, const float3& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

__host__ __device__ inline bool operator==(const Particle& a, const Particle& b) {
  return a.position == b.position && a.velocity == b.velocity && a.mass == b.mass && a.id == b.id;
}

__host__ __device__ inline bool operator==(const Mixed& a, const Mixed& b) {
  bool same = a.letter == b.letter && a.weight == b.weight && a.flag == b.flag && a.kind == b.kind &&
              a.link == b.link && a.inner.number == b.inner.number && a.inner.letter == b.inner.letter &&
              __half2float(a.half) == __half2float(b.half) && a.aligned == b.aligned;
  for (int r = 0; r < 2; ++r)
    for (int c = 0; c < 3; ++c) same = same && a.matrix[r][c] == b.matrix[r][c];
  for (int k = 0; k < 4; ++k) same = same && a.wide.values[k] == b.wide.values[k];
  return same;
}

/// The structs for the first n indices.
template <class T>
std::vector<T> structs(std::size_t n) {
  std::vector<T> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(structAt<T>(i));
  return values;
}

/// Particles in host memory.
struct HostColumns {
  std::vector<float3> position, velocity;
  std::vector<float> mass;
  std::vector<int> id;

  explicit HostColumns(std::size_t n) : position(n), velocity(n), mass(n), id(n) {
    for (std::size_t i = 0; i < n; ++i) view()[i] = structAt<Particle>(i);
  }

  SoaView<Particle> view() { return {position, velocity, mass, id}; }
  SoaView<const Particle> view() const { return {position, velocity, mass, id}; }
};

}  // namespace gpuopt::test
