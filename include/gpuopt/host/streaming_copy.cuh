/// \file
/// Copies of host memory whose stores bypass the caches.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/core/integers.cuh>

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

GPUOPT_DETAIL_BEGIN

/// Like std::memcpy, for data that the host does not read soon: x86's streaming stores write lines without reading them
/// first, which saves a third of the memory's traffic.
inline void copyStreaming(void* to, const void* from, std::size_t bytes) {
#if defined(__SSE2__)
  constexpr std::size_t LINE = 64;
  auto* target = static_cast<unsigned char*>(to);
  const auto* source = static_cast<const unsigned char*>(from);
  const std::size_t misalignment = reinterpret_cast<std::uintptr_t>(target) % LINE;
  const std::size_t head = misalignment == 0 ? 0 : smallerOf(LINE - misalignment, bytes);
  std::memcpy(target, source, head);
  std::size_t at = head;
  for (; at + LINE <= bytes; at += LINE) {
    const auto* vectors = reinterpret_cast<const __m128i*>(source + at);
    const __m128i a = _mm_loadu_si128(vectors), b = _mm_loadu_si128(vectors + 1);
    const __m128i c = _mm_loadu_si128(vectors + 2), d = _mm_loadu_si128(vectors + 3);
    auto* line = reinterpret_cast<__m128i*>(target + at);
    _mm_stream_si128(line, a);
    _mm_stream_si128(line + 1, b);
    _mm_stream_si128(line + 2, c);
    _mm_stream_si128(line + 3, d);
  }
  std::memcpy(target + at, source + at, bytes - at);
  _mm_sfence();  // other threads that are told of the copy see it
#else
  std::memcpy(to, from, bytes);
#endif
}

/// Copies bytes past the caches, or through them.
inline void copyBytes(void* to, const void* from, std::size_t bytes, bool isStreaming) {
  if (isStreaming)
    copyStreaming(to, from, bytes);
  else
    std::memcpy(to, from, bytes);
}

GPUOPT_DETAIL_END
