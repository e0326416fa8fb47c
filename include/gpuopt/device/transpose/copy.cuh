/// \file
/// Transposition of vectors, which is a copy.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/word.cuh>
#include <gpuopt/device/transpose/tuning.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/thread/vector.cuh>

#include <cstddef>
#include <cstdint>

GPUOPT_DETAIL_BEGIN

// Both addresses are equal modulo 16. A thread copies a 16-byte vector; words of WORD bytes complete the ends.
template <std::size_t WORD>
GPUOPT_KERNEL void __launch_bounds__(copyThreads)
    copyVectorKernel(const unsigned char* in, unsigned char* out, std::size_t bytes) {
  waitForPreviousKernel();
  const std::size_t head = (16 - reinterpret_cast<std::uintptr_t>(out) % 16) % 16;
  const std::size_t i = blockIdx.x * std::size_t{copyThreads} + threadIdx.x;
  const std::size_t byte = head + 16 * i;
  if (byte + 16 <= bytes) *reinterpret_cast<uint4*>(out + byte) = loadVector<Caching::normal>(in + byte);
  const auto copyWord = [&](std::size_t offset) {
    *reinterpret_cast<Word<WORD>*>(out + offset) = *reinterpret_cast<const Word<WORD>*>(in + offset);
  };
  if (i * WORD < 16) {
    const std::size_t tail = bytes < head ? bytes : bytes - (bytes - head) % 16;
    if (i * WORD < head && i * WORD < bytes) copyWord(i * WORD);
    if (tail + i * WORD < bytes) copyWord(tail + i * WORD);
  }
}

GPUOPT_DETAIL_END
