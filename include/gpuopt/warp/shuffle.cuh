/// \file
/// Shuffles of values of any trivially copyable type, word by word.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/box.cuh>
#include <gpuopt/core/device_code.cuh>

#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

/// Every lane of a warp.
inline constexpr unsigned fullMask = 0xffffffffu;

/// The calling thread's number within its block of one, two or three dimensions: x runs fastest, then y. A warp has 32
/// consecutive ones.
__device__ inline int threadRank() {
  return static_cast<int>(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}

/// The calling thread's lane, 0 to 31.
__device__ inline int laneIndex() {
#if defined(__CUDA_ARCH__)
  int lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
#else
  return threadRank() % 32;
#endif
}

namespace detail {

// Moves a value word by word; `shuffle` moves one 32-bit word.
template <class T, class Shuffle>
__device__ inline T shuffleWords(const T& value, Shuffle shuffle) {
  static_assert(std::is_trivially_copyable_v<T>, "gpuopt: only trivially copyable types can be shuffled");
  if constexpr (needsBox<T>) {
    return shuffleWords(Box<T>(value), shuffle).value();
  } else {
    constexpr int WORDS = static_cast<int>((sizeof(T) + 3) / 4);
    unsigned words[WORDS] = {};
    __builtin_memcpy(words, &value, sizeof(T));
#pragma unroll
    for (int i = 0; i < WORDS; ++i) words[i] = shuffle(words[i]);
    T result = value;
    __builtin_memcpy(&result, words, sizeof(T));
    return result;
  }
}

}  // namespace detail

/// The value of the lane that is `delta` higher, within segments of `width` lanes; lanes at the end keep their own. All
/// lanes in `mask` call. Cost: one shuffle per four bytes of T.
template <class T>
__device__ inline T shuffleDown(const T& value, unsigned delta, int width = 32, unsigned mask = fullMask) {
  return detail::shuffleWords(value, [=](unsigned word) { return __shfl_down_sync(mask, word, delta, width); });
}

/// The value of the lane that is `delta` lower, within segments of `width` lanes; lanes at the start keep their own.
/// All lanes in `mask` call.
template <class T>
__device__ inline T shuffleUp(const T& value, unsigned delta, int width = 32, unsigned mask = fullMask) {
  return detail::shuffleWords(value, [=](unsigned word) { return __shfl_up_sync(mask, word, delta, width); });
}

/// The value of the lane whose index is this lane's XOR `laneMask`, within segments of `width` lanes. All lanes in
/// `mask` call.
template <class T>
__device__ inline T shuffleXor(const T& value, int laneMask, int width = 32, unsigned mask = fullMask) {
  return detail::shuffleWords(value, [=](unsigned word) { return __shfl_xor_sync(mask, word, laneMask, width); });
}

/// The value of lane `source` of each segment of `width` lanes. All lanes in `mask` call.
template <class T>
__device__ inline T shuffleFrom(const T& value, int source, int width = 32, unsigned mask = fullMask) {
  return detail::shuffleWords(value, [=](unsigned word) { return __shfl_sync(mask, word, source, width); });
}

GPUOPT_NAMESPACE_END
