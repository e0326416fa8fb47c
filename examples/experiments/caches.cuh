/// \file
/// What loads ask of the caches: modifiers, prefetches, and a window of memory that L2 should keep.
// SPDX-License-Identifier: MIT
#pragma once

#include "grid.cuh"

#include <gpuopt/thread/prefetch.cuh>

#include <cstddef>
#include <vector>

namespace experiments {

inline constexpr unsigned cacheBlock = 256;

/// A load with the modifier that PTX writes behind `ld.global`.
struct LoadCa {
  __device__ unsigned operator()(const unsigned* address) const { return __ldca(address); }
};
struct LoadCg {
  __device__ unsigned operator()(const unsigned* address) const { return __ldcg(address); }
};
struct LoadCs {
  __device__ unsigned operator()(const unsigned* address) const { return __ldcs(address); }
};
struct LoadLu {
  __device__ unsigned operator()(const unsigned* address) const { return __ldlu(address); }
};
struct LoadCv {
  __device__ unsigned operator()(const unsigned* address) const { return __ldcv(address); }
};
struct LoadNc {
  __device__ unsigned operator()(const unsigned* address) const { return __ldg(address); }
};

/// out[i]: the sum of `rounds` words, those of thread i's lane in the lines that its block reads. A block reads
/// `lines` of its own, again and again; `apart` words lie between what neighbouring lanes read.
template <class Load>
__global__ void readAgain(const unsigned* in, unsigned* out, unsigned lines, unsigned apart, unsigned rounds,
                          Load load) {
  const unsigned* const own = in + std::size_t{blockIdx.x} * lines * 32;
  const unsigned words = 32 * lines;
  unsigned at = threadIdx.x * apart % words, sum = 0;
#pragma unroll 8
  for (unsigned round = 0; round < rounds; ++round) {
    sum += load(own + at);
    at = (at + cacheBlock * apart) & (words - 1);
  }
  out[globalThread()] = sum;
}

/// `lines` is a power of two.
template <class Load>
void launchReadAgain(const unsigned* in, unsigned* out, unsigned blocks, unsigned lines, unsigned apart,
                     unsigned rounds, Load load) {
  gpuopt::launch(readAgain<Load>, gridFor(blocks * std::size_t{cacheBlock}, cacheBlock), in, out, lines, apart, rounds,
                 load);
}

inline std::vector<unsigned> readAgainOnHost(const std::vector<unsigned>& in, unsigned blocks, unsigned lines,
                                             unsigned apart, unsigned rounds) {
  std::vector<unsigned> out(std::size_t{blocks} * cacheBlock, 0);
  for (std::size_t i = 0; i < out.size(); ++i)
    for (unsigned round = 0; round < rounds; ++round) {
      const std::size_t at = (i % cacheBlock + std::size_t{round} * cacheBlock) * apart % (32 * lines);
      out[i] += in[i / cacheBlock * lines * 32 + at];
    }
  return out;
}

/// A thread sums every `threads`-th vector of `in`, one after the other. With DISTANCE, it also asks L2 for the one
/// that comes so many later.
template <unsigned DISTANCE>
__global__ void sumAhead(const uint4* in, unsigned* out, std::size_t n) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  unsigned sum = 0;
#pragma unroll 1
  for (std::size_t i = globalThread(); i < n; i += threads) {
    const std::size_t later = i + DISTANCE * threads;
    if (DISTANCE > 0 && threadIdx.x % 32 == 0 && later + 31 < n)
      gpuopt::detail::prefetchToL2<32 * sizeof(uint4)>(in + later);
    sum += sumOf(in[i]);
  }
  out[globalThread()] = sum;
}

template <unsigned DISTANCE>
void launchSumAhead(const uint4* in, unsigned* out, std::size_t n, unsigned blocks) {
  gpuopt::launch(sumAhead<DISTANCE>, gridFor(blocks * std::size_t{cacheBlock}, cacheBlock), in, out, n);
}

/// out[i]: the sum of the words i, i + threads, ... of `in`, for each of the grid's threads.
template <class Load>
__global__ void sumWords(const unsigned* in, unsigned* out, std::size_t n, Load load) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  unsigned sum = 0;
#pragma unroll 8
  for (std::size_t i = globalThread(); i < n; i += threads) sum += load(in + i);
  out[globalThread()] = sum;
}

template <class Load>
void launchSumWords(const unsigned* in, unsigned* out, std::size_t n, unsigned blocks, Load load) {
  gpuopt::launch(sumWords<Load>, gridFor(blocks * std::size_t{cacheBlock}, cacheBlock), in, out, n, load);
}

/// Of n words for `threads` threads, in groups of `group` words that stay together.
inline std::vector<unsigned> stridedSumsOnHost(const std::vector<unsigned>& in, std::size_t threads,
                                               std::size_t group) {
  std::vector<unsigned> sums(threads, 0);
  for (std::size_t i = 0; i < in.size(); ++i) sums[i / group % threads] += in[i];
  return sums;
}

/// Asks L2 to keep the `bytes` from `first` on in its part for what persists, as far as the default stream's kernels
/// use them. 0 bytes: no longer, and what is there may go.
inline void keepInL2(void* first, std::size_t bytes) {
  const int device = gpuopt::currentDevice();
  const auto most = static_cast<std::size_t>(gpuopt::deviceAttribute(cudaDevAttrMaxPersistingL2CacheSize, device));
  gpuopt::check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, bytes > 0 ? most : 0), "cudaDeviceSetLimit");
  cudaStreamAttrValue value{};
  value.accessPolicyWindow.base_ptr = first;
  value.accessPolicyWindow.num_bytes = bytes;
  value.accessPolicyWindow.hitRatio = bytes > most ? static_cast<float>(most) / static_cast<float>(bytes) : 1.0F;
  value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  gpuopt::check(cudaStreamSetAttribute(nullptr, cudaStreamAttributeAccessPolicyWindow, &value),
                "cudaStreamSetAttribute");
  if (bytes == 0) gpuopt::check(cudaCtxResetPersistingL2Cache(), "cudaCtxResetPersistingL2Cache");
}

}  // namespace experiments
