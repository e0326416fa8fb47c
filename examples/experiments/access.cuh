/// \file
/// How the lanes of a warp read global memory: patterns, contested words, offsets and strides.
// SPDX-License-Identifier: MIT
#pragma once

#include "grid.cuh"
#include "texture_object.cuh"

#include <gpuopt/thread/operators.cuh>
#include <gpuopt/warp/reduce.cuh>

#include <cstddef>
#include <vector>

namespace experiments {

// ------------------------------------------------------------------------------- patterns of a warp

/// Which words the 32 lanes of a warp read.
enum class Pattern { inOrder, permuted, misaligned, oneLane, sameWord, scattered };

__host__ __device__ constexpr bool reads(Pattern pattern, unsigned lane) {
  return pattern != Pattern::oneLane || lane == 0;
}

/// The word that a lane reads, counted from the begin of the request's region, which is aligned to a line.
__host__ __device__ constexpr unsigned wordOf(Pattern pattern, unsigned lane) {
  switch (pattern) {
    case Pattern::permuted:
      return (5 * lane + 3) % 32;
    case Pattern::misaligned:
      return lane + 1;
    case Pattern::oneLane:
    case Pattern::sameWord:
      return 0;
    case Pattern::scattered:
      return 32 * lane;
    default:
      return lane;
  }
}

inline constexpr unsigned patternBlock = 256;
inline constexpr unsigned regionWords = 1024;   ///< each request has a region of its own: none shares lines
inline constexpr unsigned requestsPerWarp = 8;  ///< all on their way at once
inline constexpr unsigned wordsPerWarp = requestsPerWarp * regionWords;

/// out[w]: the sum of what warp w reads. Time is what its requests for memory cost.
__global__ void readPattern(const float* in, float* out, std::size_t warps, Pattern pattern) {
  const std::size_t warp = globalThread() / 32;
  const unsigned lane = threadIdx.x % 32;
  if (warp >= warps) return;
  const float* region = in + warp * wordsPerWarp;
  float sum = 0;
#pragma unroll
  for (unsigned request = 0; request < requestsPerWarp; ++request)
    if (reads(pattern, lane)) sum += region[request * regionWords + wordOf(pattern, lane)];
  sum = gpuopt::warpReduce(sum, gpuopt::Plus{});
  if (lane == 0) out[warp] = sum;
}

inline void launchPattern(const float* in, float* out, std::size_t warps, Pattern pattern) {
  gpuopt::launch(readPattern, gridFor(32 * warps, patternBlock), in, out, warps, pattern);
}

/// The same on the host.
inline std::vector<float> patternOnHost(const std::vector<float>& in, Pattern pattern) {
  std::vector<float> out(in.size() / wordsPerWarp, 0);
  for (std::size_t region = 0; region < in.size() / regionWords; ++region)
    for (unsigned lane = 0; lane < 32; ++lane)
      if (reads(pattern, lane)) out[region / requestsPerWarp] += in[region * regionWords + wordOf(pattern, lane)];
  return out;
}

// ------------------------------------------------------------------------------- lines that are far apart

/// The word of an array of `lines` lines that a lane reads where each request of a warp touches `touched` of them; both
/// are powers of two, up to 32 are touched. Neighbouring lanes share a line. Lines of a request are far apart, and no
/// two requests share one: a linear congruential generator of full period numbers them.
__host__ __device__ constexpr std::size_t wordFarApart(std::size_t request, unsigned lane, unsigned touched,
                                                       std::size_t lines) {
  const std::size_t number = request * touched + lane * touched / 32;
  return ((number * 1664525u + 1013904223u) & (lines - 1)) * 32 + lane;
}

/// out[w]: the sum of what warp w reads. All warps together touch each line of the array once.
__global__ void readFarApart(const float* in, float* out, std::size_t warps, unsigned touched) {
  const std::size_t warp = globalThread() / 32, lines = warps * requestsPerWarp * touched;
  const unsigned lane = threadIdx.x % 32;
  if (warp >= warps) return;
  float sum = 0;
#pragma unroll
  for (unsigned request = 0; request < requestsPerWarp; ++request)
    sum += in[wordFarApart(requestsPerWarp * warp + request, lane, touched, lines)];
  sum = gpuopt::warpReduce(sum, gpuopt::Plus{});
  if (lane == 0) out[warp] = sum;
}

inline void launchFarApart(const float* in, float* out, std::size_t lines, unsigned touched) {
  const std::size_t warps = lines / touched / requestsPerWarp;
  gpuopt::launch(readFarApart, gridFor(32 * warps, patternBlock), in, out, warps, touched);
}

inline std::vector<float> farApartOnHost(const std::vector<float>& in, unsigned touched) {
  const std::size_t lines = in.size() / 32;
  std::vector<float> out(lines / touched / requestsPerWarp, 0);
  for (std::size_t request = 0; request < lines / touched; ++request)
    for (unsigned lane = 0; lane < 32; ++lane)
      out[request / requestsPerWarp] += in[wordFarApart(request, lane, touched, lines)];
  return out;
}

// -------------------------------------------------------------------------------------- width of elements

/// 32 bytes, in two accesses of 16 on compute capability 9.0.
struct alignas(32) Words8 {
  uint4 lower, upper;
};

// --------------------------------------------------------------------------------------------- a[i]++

/// What the thread of a[i] increments.
enum class Increment {
  all,                   ///< a[i]
  threeOfFour,           ///< a[i], and every fourth thread nothing
  fourthOnFirst,         ///< a[i], and every fourth thread a[0]
  fourthOnFirstOfBlock,  ///< a[i], and every fourth thread the first element of its block
};

inline constexpr unsigned incrementBlock = 256;

/// Where several threads meet on one word, they need atomics: a plain a[0]++ loses increments.
template <Increment WHICH>
__global__ void increment(float* a, std::size_t n) {
  const std::size_t i = globalThread();
  if (i >= n) return;
  const bool fourth = i % 4 == 3;
  if constexpr (WHICH == Increment::all) {
    a[i] += 1;
  } else if constexpr (WHICH == Increment::threeOfFour) {
    if (!fourth) a[i] += 1;
  } else {
    float* contested = WHICH == Increment::fourthOnFirst ? a : a + (i - threadIdx.x);
    if (fourth || a + i == contested)
      atomicAdd(contested, 1.0F);
    else
      a[i] += 1;
  }
}

template <Increment WHICH>
void launchIncrement(float* a, std::size_t n) {
  gpuopt::launch(increment<WHICH>, gridFor(n, incrementBlock), a, n);
}

template <Increment WHICH>
std::vector<float> incrementOnHost(std::vector<float> a) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (i % 4 != 3 || WHICH == Increment::all)
      a[i] += 1;
    else if (WHICH == Increment::fourthOnFirst)
      a[0] += 1;
    else if (WHICH == Increment::fourthOnFirstOfBlock)
      a[i - i % incrementBlock] += 1;
  }
  return a;
}

// ------------------------------------------------------------------------ offsets, strides, textures

/// Reads as any kernel does.
struct DirectReader {
  const float* data;
  __device__ float operator()(std::size_t i) const { return data[i]; }
};

/// Reads through the texture units. Linear textures take int indices, up to 2^27 elements.
struct TextureReader {
  cudaTextureObject_t texture;
  __device__ float operator()(std::size_t i) const { return tex1Dfetch<float>(texture, static_cast<int>(i)); }
};

/// A texture of n floats, which are aligned to 512 bytes, as cudaMalloc aligns them.
class LinearTexture {
 public:
  LinearTexture(float* data, std::size_t n) : texture_(resourceOf(data, n), {}) {}

  TextureReader reader() const { return {texture_.get()}; }

 private:
  static cudaResourceDesc resourceOf(float* data, std::size_t n) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = data;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = n * sizeof(float);
    return resource;
  }

  TextureObject texture_;
};

inline constexpr unsigned copyBlock = 256;

/// out[i] = in[offset + i * stride]: all reads of a warp are off by `offset` or apart by `stride`.
template <class Reader>
__global__ void copyShifted(Reader in, float* out, std::size_t n, unsigned offset, unsigned stride) {
  const std::size_t i = globalThread();
  if (i < n) out[i] = in(offset + i * stride);
}

template <class Reader>
void launchShifted(Reader in, float* out, std::size_t n, unsigned offset, unsigned stride) {
  gpuopt::launch(copyShifted<Reader>, gridFor(n, copyBlock), in, out, n, offset, stride);
}

inline std::vector<float> shiftedOnHost(const std::vector<float>& in, std::size_t n, unsigned offset, unsigned stride) {
  std::vector<float> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = in[offset + i * stride];
  return out;
}

}  // namespace experiments
