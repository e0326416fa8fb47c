/// \file
/// What the threads of a block, or of a warp, wait for together: barriers, shuffles, reductions.
// SPDX-License-Identifier: MIT
#pragma once

#include "block_clock.cuh"

#include <gpuopt/reduce.cuh>

#include <cstddef>
#include <type_traits>
#include <vector>

namespace experiments {

/// Threads that wait at a named barrier: four warps, or the block where it has fewer.
__host__ __device__ constexpr int namedBarrierThreads(int block) { return block < 128 ? block : 128; }

/// __syncthreads()
struct BlockBarrier {
  template <int BLOCK>
  static __device__ float step(float x) {
    __syncthreads();
    return x;
  }
};

/// __syncwarp()
struct WarpBarrier {
  template <int BLOCK>
  static __device__ float step(float x) {
    __syncwarp();
    return x;
  }
};

/// Four warps wait for each other, and for no others: `bar.sync` with a number of its own for each four. The emulated
/// device executes no PTX; its whole block waits.
struct NamedBarrier {
  template <int BLOCK>
  static __device__ float step(float x) {
#ifdef __CUDA_ARCH__
    constexpr unsigned THREADS = namedBarrierThreads(BLOCK);
    asm volatile("bar.sync %0, %1;" ::"r"(1 + threadIdx.x / THREADS), "n"(THREADS) : "memory");
#else
    __syncthreads();
#endif
    return x;
  }
};

/// Each lane takes the value of the next one.
struct Rotation {
  template <int BLOCK>
  static __device__ float step(float x) {
    return __shfl_sync(0xFFFFFFFFu, x, static_cast<int>((threadIdx.x + 1) % 32));
  }
};

/// The mean of the block's values, in every thread.
struct BlockMean {
  template <int BLOCK>
  static __device__ float step(float x) {
    return gpuopt::blockAllReduce<BLOCK>(x, gpuopt::Plus{}) * (1.0F / BLOCK);
  }
};

/// out[i], for each thread of one block: in[i] after `rounds` steps. `cycles` is what the block took.
template <class Step, int BLOCK>
__global__ void __launch_bounds__(BLOCK)
    repeatBlockStep(const float* in, float* out, unsigned rounds, long long* cycles) {
  float x = in[threadIdx.x];
  const long long taken = blockCycles([&] {
#pragma unroll 8
    for (unsigned round = 0; round < rounds; ++round) x = Step::template step<BLOCK>(x);
  });
  out[threadIdx.x] = x;
  if (threadIdx.x == 0) *cycles = taken;
}

template <class Step, int BLOCK>
void launchBlockStep(const float* in, float* out, unsigned rounds, long long* cycles) {
  gpuopt::launch(repeatBlockStep<Step, BLOCK>, gridFor(BLOCK, BLOCK), in, out, rounds, cycles);
}

/// The same on the host. Barriers change no value.
template <class Step>
std::vector<float> blockStepOnHost(std::vector<float> values, unsigned rounds) {
  if constexpr (std::is_same_v<Step, Rotation>) {
    const std::vector<float> in = values;
    for (std::size_t i = 0; i < in.size(); ++i) values[i] = in[i / 32 * 32 + (i + rounds) % 32];
  } else if constexpr (std::is_same_v<Step, BlockMean>) {
    float sum = 0;
    for (const float x : values) sum += x;
    values.assign(values.size(), sum / static_cast<float>(values.size()));
  }
  return values;
}

}  // namespace experiments
