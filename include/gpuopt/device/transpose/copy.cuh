/// \file
/// Transposition of vectors, which is a copy.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/identity.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/host/grid_config.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/thread/vector.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// Vectors without gaps that lie alike modulo 16: a 16-byte vector a thread, and single grains at the ends.
inline constexpr int copyBlock = 256;

template <std::size_t GRAIN>
GPUOPT_KERNEL void __launch_bounds__(copyBlock)
    copyVectorKernel(const unsigned char* in, unsigned char* out, std::size_t bytes) {
  waitForPreviousKernel();
  const std::size_t head = (16 - reinterpret_cast<std::uintptr_t>(out) % 16) % 16;
  const std::size_t i = blockIdx.x * std::size_t{copyBlock} + threadIdx.x;
  const std::size_t byte = head + 16 * i;
  if (byte + 16 <= bytes) *reinterpret_cast<uint4*>(out + byte) = loadVector<Caching::normal>(in + byte);
  const auto copyGrain = [&](std::size_t place) {
    using Grain = Word<GRAIN>;
    *reinterpret_cast<Grain*>(out + place) = *reinterpret_cast<const Grain*>(in + place);
  };
  if (i * GRAIN < 16) {
    const std::size_t tail = bytes < head ? bytes : bytes - (bytes - head) % 16;
    if (i * GRAIN < head && i * GRAIN < bytes) copyGrain(i * GRAIN);
    if (tail + i * GRAIN < bytes) copyGrain(tail + i * GRAIN);
  }
}

template <class Problem>
bool isCopy(const Problem& problem) {
  if constexpr (std::is_same_v<decltype(problem.function), Identity>) {
    const std::size_t n = problem.rows * problem.cols;
    const auto in = reinterpret_cast<std::uintptr_t>(problem.in);
    const auto out = reinterpret_cast<std::uintptr_t>(problem.out);
    return (problem.rows == 1 ? problem.outLd : problem.inLd) == 1 && (in - out) % 16 == 0 &&
           (problem.rows == 1 || problem.cols == 1) &&
           (problem.batch == 1 || (problem.inStride == n && problem.outStride == n));
  } else {
    return false;
  }
}

template <class Problem>
void launchCopy(const Problem& problem, cudaStream_t stream) {
  using Element = typename Problem::Input;
  constexpr std::size_t GRAIN = alignof(Element) < 16 ? alignof(Element) : 16;
  const std::size_t bytes = problem.rows * problem.cols * problem.batch * sizeof(Element);
  launch(copyVectorKernel<GRAIN>,
         gridConfig(copyBlock, ceilDivide(bytes, 16 * copyBlock), stream, "gpuopt::transpose"),
         reinterpret_cast<const unsigned char*>(problem.in), reinterpret_cast<unsigned char*>(problem.out),
         bytes);
}

}  // namespace detail
GPUOPT_NAMESPACE_END
