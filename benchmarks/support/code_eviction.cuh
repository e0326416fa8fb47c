/// \file
/// Other kernels between two samples: their code and constants take the place of a candidate's in an SM's caches, as
/// those of the rest of an application would.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>

#include <cuda_runtime.h>

#include <cstdint>

namespace bench {
namespace detail {

constexpr unsigned constantWords = 1u << 13;  // 32 KiB
static __constant__ std::uint32_t otherConstants[constantWords];

// 57 KiB of code without a loop: no two steps can be joined, as the factors are odd. Reads a word of every 64 bytes of
// the constants.
template <std::uint32_t KERNEL>
__global__ void otherKernel(std::uint32_t seed, std::uint32_t* never) {
  std::uint32_t x = seed + threadIdx.x;
#pragma unroll
  for (std::uint32_t i = 0; i < 1024; ++i) {
    x = (x ^ (x >> 13)) * (0x9E3779B1u + 2 * (i + KERNEL));
    if (i % 2 == 0) x += otherConstants[i / 2 * 16];
  }
  if (x == 0x12345677u) *never = x;
}

}  // namespace detail

/// Launches kernels, one block an SM, whose code is larger than the 128 KiB that an SM keeps.
inline void evictCode(std::uint32_t* never, cudaStream_t stream) {
  static const auto blocks =
      static_cast<unsigned>(gpuopt::deviceAttribute(cudaDevAttrMultiProcessorCount, gpuopt::currentDevice()));
  detail::otherKernel<0><<<blocks, 128, 0, stream>>>(1, never);
  detail::otherKernel<1><<<blocks, 128, 0, stream>>>(2, never);
  detail::otherKernel<2><<<blocks, 128, 0, stream>>>(3, never);
  detail::otherKernel<3><<<blocks, 128, 0, stream>>>(4, never);
  gpuopt::check(cudaGetLastError(), "otherKernel");
}

}  // namespace bench
