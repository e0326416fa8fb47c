/// \file
/// Arrays of structures: float3 direct and staged, and structures with and without alignment.
// SPDX-License-Identifier: MIT
#pragma once

#include "grid.cuh"

#include <gpuopt/struct_io.cuh>

#include <cstddef>

namespace experiments {

inline constexpr unsigned structBlock = 256;
inline constexpr float structStep = 10;

/// Three times a word at a distance of 12 bytes: each request touches three times the lines that it needs.
__global__ void addDirect(const float3* in, float3* out, std::size_t n) {
  const std::size_t i = globalThread();
  if (i >= n) return;
  float3 a = in[i];
  a.x += structStep;
  a.y += structStep;
  a.z += structStep;
  out[i] = a;
}

/// The block's structures pass through shared memory as plain words: three coalesced loads a thread, at tid,
/// tid + BLOCK and tid + 2 BLOCK. The distance of 3 words within shared memory has no bank conflicts, since
/// 3 and 32 have no common divisor.
template <unsigned BLOCK>
__global__ void addStaged(const float3* in, float3* out, std::size_t n) {
  __shared__ float words[3 * BLOCK];
  const std::size_t first = 3 * std::size_t{BLOCK} * blockIdx.x;
  const float* inWords = reinterpret_cast<const float*>(in) + first;
  float* outWords = reinterpret_cast<float*>(out) + first;
  const std::size_t left = 3 * n - first;

#pragma unroll
  for (unsigned k = 0; k < 3; ++k) {
    const unsigned w = threadIdx.x + k * BLOCK;
    if (w < left) words[w] = inWords[w];
  }
  __syncthreads();
  if (3 * threadIdx.x < left) {
    float* mine = words + 3 * threadIdx.x;
    mine[0] += structStep;
    mine[1] += structStep;
    mine[2] += structStep;
  }
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < 3; ++k) {
    const unsigned w = threadIdx.x + k * BLOCK;
    if (w < left) outWords[w] = words[w];
  }
}

/// The same as a function of one structure, which is all that gpuopt needs.
struct AddStep {
  __host__ __device__ float3 operator()(float3 a) const {
    return make_float3(a.x + structStep, a.y + structStep, a.z + structStep);
  }
};

inline void launchDirect(const float3* in, float3* out, std::size_t n) {
  gpuopt::launch(addDirect, gridFor(n, structBlock), in, out, n);
}
inline void launchStaged(const float3* in, float3* out, std::size_t n) {
  gpuopt::launch(addStaged<structBlock>, gridFor(n, structBlock), in, out, n);
}
inline void launchTransform(const float3* in, float3* out, std::size_t n) { gpuopt::transform(in, n, out, AddStep{}); }

// ----------------------------------------------------------------------------------------- alignment

/// WORDS floats at the alignment of one: the compiler may load them one by one only.
template <int WORDS>
struct Plain {
  float words[WORDS];
};

/// The same at an alignment that allows loads of 8 or 16 bytes. With three words it grows to 16 bytes.
template <int WORDS>
struct __align__(WORDS == 2 ? 8 : 16) Aligned {
  float words[WORDS];
};

/// Loads, and stores, that one structure takes: the hardware has them of 4, 8 and 16 bytes.
template <class T>
constexpr std::size_t accessesOf() {
  return sizeof(T) / (alignof(T) < 16 ? alignof(T) : 16);
}

/// Every thread copies its structure.
template <class T>
__global__ void copyStructs(const T* in, T* out, std::size_t n) {
  const std::size_t i = globalThread();
  if (i < n) out[i] = in[i];
}

template <class T>
void launchStructCopy(const T* in, T* out, std::size_t n) {
  gpuopt::launch(copyStructs<T>, gridFor(n, structBlock), in, out, n);
}

}  // namespace experiments
