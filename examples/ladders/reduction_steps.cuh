/// \file
/// The reduction ladder: ten ways to add up an array, each a small change on the one before.
///
/// Elements are unsigned, so that every order of additions gives the same bits. Each block of v1 to v5.2
/// leaves one partial result, and the host adds those. Every kernel can do its work several times, for the
/// timing method that repeats inside a launch; read it with `repeats` equal to 1. In v1 to v5.1, blockDim.x
/// is a power of two, at least 64 in v5.1, and the dynamic shared memory has one word for each thread.
// SPDX-License-Identifier: MIT
#pragma once

#include "step.hpp"

#include <gpuopt/block/shared.cuh>
#include <gpuopt/launch.cuh>
#include <gpuopt/reduce.cuh>

#include <cstddef>
#include <vector>

namespace ladders {

// v1, interleaved addressing with modulo.
// Changed: this is where everybody begins. A tree in shared memory adds neighbours first, at distance 1,
//          then 2, 4, ...
// Remains: the threads at work are scattered over all warps. Every warp goes through every round, with half
//          as many lanes each time (divergence), and the remainder takes some twenty instructions.
__global__ void reduceModulo(const unsigned* in, std::size_t n, unsigned* out, int repeats) {
  unsigned* sums = gpuopt::dynamicShared<unsigned>();
  const unsigned tid = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    sums[tid] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned c = 1; c < blockDim.x; c *= 2) {
      if (tid % (2 * c) == 0) sums[tid] += sums[tid + c];
      __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = sums[0];
  }
}

// v2, interleaved addressing without divergence.
// Changed: the same additions, by the first threads of the block: whole warps are at work, or at rest.
// Remains: neighbouring threads are 2c words apart: 2-way bank conflicts, then 4-way, 8-way, ...
__global__ void reduceInterleaved(const unsigned* in, std::size_t n, unsigned* out, int repeats) {
  unsigned* sums = gpuopt::dynamicShared<unsigned>();
  const unsigned tid = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    sums[tid] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned c = 1; c < blockDim.x; c *= 2) {
      const unsigned index = 2 * c * tid;
      if (index < blockDim.x) sums[index] += sums[index + c];
      __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = sums[0];
  }
}

// v3, sequential addressing.
// Changed: the tree joins the two halves of the block, then of what is left. Neighbouring threads use
//          neighbouring banks, and warps retire early.
// Remains: half of the threads are idle from the first round: they have loaded one element, and that was all.
__global__ void reduceSequential(const unsigned* in, std::size_t n, unsigned* out, int repeats) {
  unsigned* sums = gpuopt::dynamicShared<unsigned>();
  const unsigned tid = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + tid;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    sums[tid] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned c = blockDim.x / 2; c > 0; c /= 2) {
      if (tid < c) sums[tid] += sums[tid + c];
      __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = sums[0];
  }
}

// v4.1, one addition on load.
// Changed: each thread adds two elements while it loads them. Half as many blocks.
// Remains: only the first level of the tree is saved.
__global__ void reduceAddOnLoad(const unsigned* in, std::size_t n, unsigned* out, int repeats) {
  unsigned* sums = gpuopt::dynamicShared<unsigned>();
  const unsigned tid = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * 2 * blockDim.x + tid;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    sums[tid] = (i < n ? in[i] : 0) + (i + blockDim.x < n ? in[i + blockDim.x] : 0);
    __syncthreads();
    for (unsigned c = blockDim.x / 2; c > 0; c /= 2) {
      if (tid < c) sums[tid] += sums[tid + c];
      __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = sums[0];
  }
}

// The elements of one thread in v4.2 and later: TILE of them, a block's width apart, so that neighbouring
// threads always read neighbours. TILE is a constant, so that the loop unrolls.
template <int TILE>
__device__ unsigned addOnLoad(const unsigned* in, std::size_t n) {
  const std::size_t first = std::size_t{blockIdx.x} * TILE * blockDim.x + threadIdx.x;
  unsigned sum = 0;  // the identity
#pragma unroll
  for (int k = 0; k < TILE; ++k) {
    const std::size_t i = first + static_cast<std::size_t>(k) * blockDim.x;
    if (i < n) sum += in[i];
  }
  return sum;
}

// v4.2, TILE additions on load.
// Changed: each thread adds TILE elements before the tree begins. The tree's cost is divided by TILE.
// Remains: the last rounds keep one warp busy, and make the whole block wait at a barrier after each.
template <int TILE>
__global__ void reduceTile(const unsigned* in, std::size_t n, unsigned* out, int repeats) {
  unsigned* sums = gpuopt::dynamicShared<unsigned>();
  const unsigned tid = threadIdx.x;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    sums[tid] = addOnLoad<TILE>(in, n);
    __syncthreads();
    for (unsigned c = blockDim.x / 2; c > 0; c /= 2) {
      if (tid < c) sums[tid] += sums[tid + c];
      __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = sums[0];
  }
}

// The last 64 values of a block, added up by its first warp, which calls; its lane 0 gets the sum.
// Then, the lanes went on adding in volatile shared memory, without barriers, because a warp ran in lockstep.
// Since 2017 (sm_70) lanes advance independently, and that code is a race. Shuffles say what is exchanged.
__device__ inline unsigned addLastWarp(const unsigned* sums, unsigned lane) {
  unsigned sum = sums[lane] + sums[lane + 32];
#pragma unroll
  for (unsigned c = 16; c > 0; c /= 2) sum += __shfl_down_sync(0xffffffffu, sum, c);
  return sum;
}

// v5.1, the last warp unrolled.
// Changed: the block's loop stops at 64 values, and the first warp finishes by itself, without barriers.
// Remains: the loop above it is still rolled: a comparison, a shift and a jump for each addition.
template <int TILE>
__global__ void reduceLastWarp(const unsigned* in, std::size_t n, unsigned* out, int repeats) {
  unsigned* sums = gpuopt::dynamicShared<unsigned>();
  const unsigned tid = threadIdx.x;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    sums[tid] = addOnLoad<TILE>(in, n);
    __syncthreads();
    for (unsigned c = blockDim.x / 2; c > 32; c /= 2) {
      if (tid < c) sums[tid] += sums[tid + c];
      __syncthreads();
    }
    if (tid < 32) {
      const unsigned sum = addLastWarp(sums, tid);
      if (tid == 0) out[blockIdx.x] = sum;
    }
    __syncthreads();  // before the next repeat
  }
}

// Adds up the values of a block of BLOCK threads, 64 to 1024; thread 0 gets the sum. Every `if constexpr` is
// decided by the compiler: what is left is straight code.
template <int BLOCK>
__device__ unsigned addUnrolled(unsigned* sums, unsigned tid) {
  if constexpr (BLOCK >= 1024) {
    if (tid < 512) sums[tid] += sums[tid + 512];
    __syncthreads();
  }
  if constexpr (BLOCK >= 512) {
    if (tid < 256) sums[tid] += sums[tid + 256];
    __syncthreads();
  }
  if constexpr (BLOCK >= 256) {
    if (tid < 128) sums[tid] += sums[tid + 128];
    __syncthreads();
  }
  if constexpr (BLOCK >= 128) {
    if (tid < 64) sums[tid] += sums[tid + 64];
    __syncthreads();
  }
  return tid < 32 ? addLastWarp(sums, tid) : 0;
}

// v5.2, completely unrolled.
// Changed: the size of the block is a constant, and the tree has no loop any more.
// Remains: each block leaves a partial result, and somebody has to add those: here the host.
template <int BLOCK, int TILE>
__global__ void reduceUnrolled(const unsigned* in, std::size_t n, unsigned* out, int repeats) {
  __shared__ unsigned sums[BLOCK];
  const unsigned tid = threadIdx.x;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    sums[tid] = addOnLoad<TILE>(in, n);
    __syncthreads();
    const unsigned sum = addUnrolled<BLOCK>(sums, tid);
    if (tid == 0) out[blockIdx.x] = sum;
    __syncthreads();  // before the next repeat
  }
}

// v5.2 for pointers that nobody else writes through.
// Changed: const __restrict__ promises that `out` and `in` never overlap, so that loads may go through the
//          read-only path and be kept. They may even be taken out of a loop over repeats, so there is none.
// Remains: 4 bytes a load, several launches, each waiting for the one before.
template <int BLOCK, int TILE>
__global__ void reduceRestrict(const unsigned* __restrict__ in, std::size_t n, unsigned* __restrict__ out) {
  __shared__ unsigned sums[BLOCK];
  const unsigned tid = threadIdx.x;
  sums[tid] = addOnLoad<TILE>(in, n);
  __syncthreads();
  const unsigned sum = addUnrolled<BLOCK>(sums, tid);
  if (tid == 0) out[blockIdx.x] = sum;
}

/// The blocks of a kernel whose blocks add up `elements` each.
inline std::size_t blocksOf(std::size_t n, std::size_t elements) { return (n + elements - 1) / elements; }

/// sharedBytes: of dynamic shared memory, for each thread.
inline gpuopt::LaunchConfig reductionConfig(std::size_t blocks, int block, std::size_t sharedBytes = 0) {
  gpuopt::LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>(blocks));
  config.block = dim3(static_cast<unsigned>(block));
  config.sharedBytes = static_cast<std::size_t>(block) * sharedBytes;
  return config;
}

/// Recursion: a kernel reduces its own partial results until one is left; pass(in, n, out, blocks) launches
/// it. The results of each pass follow those of the one before, from `out` on. Returns where the last one is.
template <class Pass>
unsigned* reduceRecursively(const unsigned* in, std::size_t n, unsigned* out, std::size_t elements, Pass pass) {
  for (;;) {
    const std::size_t blocks = blocksOf(n, elements);
    pass(in, n, out, blocks);
    if (blocks == 1) return out;
    in = out;
    n = blocks;
    out += blocks;
  }
}

/// An array of n > 0 elements, and room for partialsOf(n) words.
struct ReductionData {
  const unsigned* in;
  std::size_t n;
  unsigned* out;
};

/// A step with the partial results that it leaves.
struct ReductionStep : Step {
  const unsigned* partials;
  std::size_t count;
};

inline constexpr int reductionBlock = 256;
inline constexpr int reductionTile = 8;

/// v1 leaves the most.
inline std::size_t partialsOf(std::size_t n) { return blocksOf(n, reductionBlock) + 1; }

using ReductionKernel = void (*)(const unsigned*, std::size_t, unsigned*, int);

/// What a step teaches, as in Step.
struct Lesson {
  const char* name;
  const char* changed;
  const char* remains;
  double then;
};

// A kernel whose threads add perThread elements each while they load, with sharedBytes of dynamic shared
// memory per thread.
inline ReductionStep onePass(const ReductionData& data, const Lesson& lesson, ReductionKernel kernel, int perThread,
                             std::size_t sharedBytes = sizeof(unsigned)) {
  const std::size_t blocks = blocksOf(data.n, static_cast<std::size_t>(perThread) * reductionBlock);
  const auto run = [=](int repeats) {
    gpuopt::launch(kernel, reductionConfig(blocks, reductionBlock, sharedBytes), data.in, data.n, data.out, repeats);
  };
  return {{lesson.name, lesson.changed, lesson.remains, {lesson.then, 0}, run}, data.out, blocks};
}

template <class Pass>
ReductionStep recursive(const ReductionData& data, const Lesson& lesson, Pass pass) {
  const auto reduce = [=](auto each) {
    return reduceRecursively(data.in, data.n, data.out, reductionBlock * reductionTile, each);
  };
  const unsigned* last = reduce([](const unsigned*, std::size_t, unsigned*, std::size_t) {});
  const auto run = [=](int) { reduce(pass); };
  return {{lesson.name, lesson.changed, lesson.remains, {lesson.then, 0}, run, false}, last, 1};
}

/// The ladder. Figures of then: Harris, "Optimizing Parallel Reduction in CUDA", NVIDIA 2007, 2^22 ints on a
/// GeForce 8800 GTX (86.4 GB/s). He added v4.2 last: those of v5.1 and v5.2 are without it.
inline std::vector<ReductionStep> reductionSteps(const ReductionData& data) {
  constexpr int BLOCK = reductionBlock;
  constexpr int TILE = reductionTile;
  const auto again = [](const unsigned* in, std::size_t n, unsigned* out, std::size_t blocks) {
    gpuopt::launch(reduceUnrolled<BLOCK, TILE>, reductionConfig(blocks, BLOCK), in, n, out, 1);
  };
  const auto againRestrict = [](const unsigned* in, std::size_t n, unsigned* out, std::size_t blocks) {
    gpuopt::launch(reduceRestrict<BLOCK, TILE>, reductionConfig(blocks, BLOCK), in, n, out);
  };
  const auto library = [=](int) { gpuopt::reduceInto(data.in, data.n, data.out); };
  return {
      onePass(data,
              {"v1 interleaved, modulo", "a tree in shared memory, neighbours first",
               "divergence in every warp, slow %", 2.083},
              reduceModulo, 1),
      onePass(data, {"v2 interleaved", "the first threads do the additions: no divergence", "bank conflicts", 4.854},
              reduceInterleaved, 1),
      onePass(data,
              {"v3 sequential", "halves are joined: no bank conflicts, warps retire early",
               "half of the threads only load", 9.741},
              reduceSequential, 1),
      onePass(data,
              {"v4.1 one add on load", "a thread adds two elements while it loads", "only the first level is saved",
               17.377},
              reduceAddOnLoad, 2),
      onePass(data,
              {"v4.2 TILE adds on load", "a thread adds TILE elements while it loads, unrolled",
               "the last warp loops and synchronises", 0},
              reduceTile<TILE>, TILE),
      onePass(data,
              {"v5.1 last warp unrolled", "the last warp finishes by shuffles, without barriers",
               "the block's loop is rolled", 31.289},
              reduceLastWarp<TILE>, TILE),
      onePass(data,
              {"v5.2 completely unrolled", "the block's size is a constant: no loop",
               "the host adds the partial results", 43.996},
              reduceUnrolled<BLOCK, TILE>, TILE, 0),
      recursive(data, {"recursive", "the kernel reduces its own partial results", "a launch for each level", 62.671},
                again),
      recursive(data,
                {"const __restrict__", "the compiler knows that nobody writes what it reads",
                 "4 bytes a load, several launches", 0},
                againRestrict),
      {{"gpuopt::reduceInto",
        "16-byte loads, many in flight; one launch, the last block joins the results",
        "memory itself",
        {},
        library,
        false},
       data.out,
       1},
  };
}

}  // namespace ladders
