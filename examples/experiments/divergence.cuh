/// \file
/// Branches: lanes, warps and blocks that go different ways, and warps that have nothing left to do.
// SPDX-License-Identifier: MIT
#pragma once

#include "grid.cuh"

#include <cstddef>
#include <vector>

namespace experiments {

inline constexpr unsigned branchBlock = 256;

/// Two ways of integer arithmetic, unlike enough that no compiler makes one of them.
__host__ __device__ inline unsigned multiplyXor(unsigned x, unsigned rounds) {
  for (unsigned round = 0; round < rounds; ++round) x = x * 1664525u ^ 1013904223u;
  return x;
}
__host__ __device__ inline unsigned shiftXor(unsigned x, unsigned rounds) {
  for (unsigned round = 0; round < rounds; ++round) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
  }
  return x;
}

/// Who goes which way: threads whose number has `bit` set the one, the others the other. Bit 1: every other
/// lane; 16: half-warps; 32: every other warp; branchBlock: every other block; 0: all the same way.
__host__ __device__ inline bool goesSecondWay(std::size_t thread, unsigned bit) { return (thread & bit) != 0; }

/// A warp whose lanes disagree goes both ways one after the other.
__global__ void branch(const unsigned* in, unsigned* out, std::size_t n, unsigned bit, unsigned rounds) {
  const std::size_t i = globalThread();
  if (i >= n) return;
  const unsigned x = in[i];
  out[i] = goesSecondWay(i, bit) ? shiftXor(x, rounds) : multiplyXor(x, rounds);
}

inline void launchBranch(const unsigned* in, unsigned* out, std::size_t n, unsigned bit, unsigned rounds) {
  gpuopt::launch(branch, gridFor(n, branchBlock), in, out, n, bit, rounds);
}

/// All the second way: what it costs alone.
__global__ void secondWay(const unsigned* in, unsigned* out, std::size_t n, unsigned rounds) {
  const std::size_t i = globalThread();
  if (i < n) out[i] = shiftXor(in[i], rounds);
}

inline void launchSecondWay(const unsigned* in, unsigned* out, std::size_t n, unsigned rounds) {
  gpuopt::launch(secondWay, gridFor(n, branchBlock), in, out, n, rounds);
}

/// Which threads of a block go the second way.
enum class Side {
  above,  ///< tid > last
  upTo,   ///< tid <= last
  either  ///< tid > last in one half of the blocks, tid <= last in the other
};

/// Half of the blocks: those whose number has an odd count of bits. Multiples of any number, such as the blocks of one
/// multiprocessor, are of both kinds.
__host__ __device__ constexpr bool isInOneHalf(unsigned block) {
  for (unsigned half = 16; half > 0; half /= 2) block ^= block >> half;
  return block % 2 != 0;
}

__host__ __device__ constexpr bool isOnSide(Side side, unsigned thread, unsigned block, unsigned last) {
  switch (side) {
    case Side::above:
      return thread > last;
    case Side::upTo:
      return thread <= last;
    default:
      return (thread > last) == isInOneHalf(block);
  }
}

/// Threads on one side of `last` in each block go the second way: `tid > 15` splits a warp, `tid > 31` does not.
template <Side SIDE>
__global__ void branchAt(const unsigned* in, unsigned* out, std::size_t n, unsigned last, unsigned rounds) {
  const std::size_t i = globalThread();
  if (i >= n) return;
  const unsigned x = in[i];
  out[i] = isOnSide(SIDE, threadIdx.x, blockIdx.x, last) ? shiftXor(x, rounds) : multiplyXor(x, rounds);
}

inline constexpr unsigned aboveBlock = 64;

template <Side SIDE = Side::above>
void launchBranchAt(const unsigned* in, unsigned* out, std::size_t n, unsigned last, unsigned rounds) {
  gpuopt::launch(branchAt<SIDE>, gridFor(n, aboveBlock), in, out, n, last, rounds);
}

/// Threads whose number has `bit` set copy their element and return; the others work on theirs. The block's memory and
/// the multiprocessor's room for it are free when its last warp has returned.
__global__ void returnEarly(const unsigned* in, unsigned* out, std::size_t n, unsigned bit, unsigned rounds) {
  const std::size_t i = globalThread();
  if (i >= n) return;
  const unsigned x = in[i];
  if (goesSecondWay(i, bit)) {
    out[i] = x;
    return;
  }
  out[i] = shiftXor(x, rounds);
}

inline void launchReturnEarly(const unsigned* in, unsigned* out, std::size_t n, unsigned bit, unsigned rounds) {
  gpuopt::launch(returnEarly, gridFor(n, branchBlock), in, out, n, bit, rounds);
}

/// A branch of one instruction is no branch: the compiler makes it a predicate, and lanes need not agree.
__host__ __device__ inline unsigned collatz(unsigned x, unsigned rounds) {
  for (unsigned round = 0; round < rounds; ++round) {
    if (x % 2 == 1) x = 3 * x + 1;
    x /= 2;
  }
  return x;
}

__global__ void branchShortly(const unsigned* in, unsigned* out, std::size_t n, unsigned rounds) {
  const std::size_t i = globalThread();
  if (i < n) out[i] = collatz(in[i], rounds);
}

inline void launchShortly(const unsigned* in, unsigned* out, std::size_t n, unsigned rounds) {
  gpuopt::launch(branchShortly, gridFor(n, branchBlock), in, out, n, rounds);
}

/// For each bit of `bits` that is set, LENGTH instructions, each of which needs the one before.
template <int LENGTH>
__host__ __device__ inline unsigned squareWhere(unsigned bits, unsigned x, unsigned rounds) {
  for (unsigned round = 0; round < rounds; ++round) {
    if ((bits >> (round % 32) & 1u) != 0) {
#pragma unroll
      for (int k = 0; k < LENGTH; ++k) x = x * x + 1013904223u;
    }
    x ^= bits;
  }
  return x;
}

/// out[i]: the bits of in[i] decide in each round whether thread i takes a branch of LENGTH instructions.
template <int LENGTH>
__global__ void branchOfLength(const unsigned* in, unsigned* out, std::size_t n, unsigned rounds) {
  const std::size_t i = globalThread();
  if (i < n) out[i] = squareWhere<LENGTH>(in[i], static_cast<unsigned>(i), rounds);
}

template <int LENGTH>
void launchBranchOfLength(const unsigned* in, unsigned* out, std::size_t n, unsigned rounds) {
  gpuopt::launch(branchOfLength<LENGTH>, gridFor(n, branchBlock), in, out, n, rounds);
}

/// way(x, i) of each element x = in[i], on the host.
template <class Way>
std::vector<unsigned> mapOnHost(const std::vector<unsigned>& in, Way way) {
  std::vector<unsigned> out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = way(in[i], i);
  return out;
}

// --------------------------------------------------------------- warps at work in a reduction's passes

/// Which threads add in a pass of the reduction ladder, where `c` is 1, 2, 4, ... or BLOCK/2, BLOCK/4, ...
enum class Addressing {
  moduloOfThread,  ///< v1: tid % 2c == 0
  firstThreads,    ///< v2: 2 * c * tid < BLOCK
  sequential       ///< v3: tid < c
};

inline constexpr unsigned passBlock = 256;
inline constexpr unsigned passes = 8;  // log2 of passBlock

__host__ __device__ constexpr bool adds(Addressing addressing, unsigned pass, unsigned thread) {
  switch (addressing) {
    case Addressing::moduloOfThread:
      return thread % (2u << pass) == 0;
    case Addressing::firstThreads:
      return (thread << (pass + 1)) < passBlock;
    default:
      return thread < passBlock >> (pass + 1);
  }
}

/// What the warps of a block do in each pass.
struct PassCounts {
  unsigned working[passes];  ///< warps with a lane that adds
  unsigned split[passes];    ///< warps with lanes that add and lanes that do not
};

/// Lets the warps count themselves. One block; counts are zeros before.
__global__ void __launch_bounds__(passBlock) countWarps(Addressing addressing, PassCounts* counts) {
  for (unsigned pass = 0; pass < passes; ++pass) {
    const unsigned adding = __ballot_sync(0xFFFFFFFFu, adds(addressing, pass, threadIdx.x));
    if (threadIdx.x % 32 != 0 || adding == 0) continue;
    atomicAdd(&counts->working[pass], 1u);
    if (adding != 0xFFFFFFFFu) atomicAdd(&counts->split[pass], 1u);
  }
}

inline void launchCount(Addressing addressing, PassCounts* counts) {
  gpuopt::launch(countWarps, gridFor(passBlock, passBlock), addressing, counts);
}

}  // namespace experiments
