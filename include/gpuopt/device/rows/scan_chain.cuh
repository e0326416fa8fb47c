/// \file
/// How the blocks that share a row, or a strip of columns, pass on what came before them, in a fixed order.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/grid/arrival.cuh>

#include <cuda_runtime.h>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// The fold of everything before an element. Nothing may be before: operations need no neutral element.
template <class A>
struct ScanPrefix {
  A value;
  bool exists;

  template <class Op>
  __device__ void append(const A& next, Op op) {
    value = exists ? static_cast<A>(op(value, next)) : next;
    exists = true;
  }
};

// Strips (rows, or groups of columns) are cut into tiles, one a block, and `group` tiles form a group. A slot holds the
// total of a tile; that of a group's last tile holds the fold of the whole strip up to there. So a tile waits for the
// group before and for the tiles before it in its own: the order of operations is fixed, and few waits depend on each
// other. The groups of a strip take `ring` sets of slots in turn. A word's mark is the number of its group, from 1 on.
// All words and counters are zero when a kernel begins; with `finished` also when it ends.
struct ScanChain {
  MarkedWord* words;
  unsigned* arrivals;  // for each set of slots, of the tiles that have read what they needed
  unsigned* finished;  // counts blocks; null if the words need not be zero afterwards
  unsigned* tickets;   // one for each block; null if tiles do not wait
  unsigned tiles;      // of a strip
  unsigned group;      // tiles
  unsigned ring;       // groups
  unsigned values;     // of a slot
  unsigned used;       // words
  unsigned counters;
};

// The number of a block's tile. Devices start blocks in the order of their numbers (see MarkedWord); the emulated one
// may start them in any order. All threads of the block call.
__device__ inline unsigned scanTileNumber([[maybe_unused]] const ScanChain& chain) {
#if defined(__CUDA_ARCH__)
  return blockIdx.x;
#else
  __shared__ unsigned number;
  if (threadIdx.x == 0) number = chain.tickets == nullptr ? blockIdx.x : atomicInc(chain.tickets, gridDim.x - 1);
  __syncthreads();
  return number;
#endif
}

inline constexpr std::size_t scanWordsOf(std::size_t bytes) { return (bytes + 3) / 4; }

// A tile's place in its chain.
template <class A>
class ScanLink {
 public:
  static constexpr unsigned WORDS = static_cast<unsigned>(scanWordsOf(sizeof(A)));

  __device__ ScanLink(const ScanChain& chain, unsigned strip, unsigned tile)
      : chain_(chain), strip_(strip), group_(tile / chain.group), place_(tile % chain.group) {
    isLast_ = tile + 1 == chain.tiles;
  }

  __device__ unsigned place() const { return place_; }
  __device__ bool hasGroupBefore() const { return group_ > 0; }

  // Value i of `count` tiles of the group, up to N, from number `first` on.
  template <int N>
  __device__ void totals(A (&values)[N], unsigned first, unsigned count, unsigned i) const {
    wait(values, group_, first, count, i);
  }

  // Value i of all groups before.
  __device__ A before(unsigned i) const {
    A value[1];
    wait(value, group_ - 1, chain_.group - 1, 1, i);
    return value[0];
  }

  // Publishes value i of the tile, for the others of its group.
  __device__ void publishTotal(unsigned i, const A& total) const {
    if (isLast_ || place_ == chain_.group - 1) return;
    waitForSlots();
    publish(i, total);
  }

  // Publishes value i of everything up to the tile, for the next group.
  __device__ void publishPrefix(unsigned i, const A& prefix) const {
    if (isLast_ || place_ != chain_.group - 1) return;
    if (chain_.group > 1) waitForSlots();
    publish(i, prefix);
  }

  // One thread calls, after the block has read all that it needs; returns true in the grid's last one. Every word has
  // been seen by a block that arrived after it, and an arrival has taken place when its old value is known: without a
  // fence, which would wait for the results to be written, the last block finds all of them.
  __device__ bool arrive() const {
    unsigned none = 0;
    if (chain_.counters > 0) none = atomicAdd(chain_.arrivals + strip_ * chain_.ring + group_ % chain_.ring, 1u) >> 31;
    return chain_.finished != nullptr && atomicInc(chain_.finished, gridDim.x - 1 + none) == gridDim.x - 1;
  }

  // One warp calls in the last block. Stores as strong as the accesses of the others: no fence is between them.
  __device__ void reset() const {
    volatile unsigned* const arrivals = chain_.arrivals;
    for (unsigned i = threadIdx.x % 32; i < chain_.used; i += 32) storeMarkedWord(chain_.words + i, 0);
    for (unsigned i = threadIdx.x % 32; i < chain_.counters; i += 32) arrivals[i] = 0;
  }

 private:
  __device__ MarkedWord* slot(unsigned group, unsigned place) const {
    const unsigned number = (strip_ * chain_.ring + group % chain_.ring) * chain_.group + place;
    return chain_.words + std::size_t{number} * chain_.values * WORDS;
  }

  __device__ void publish(unsigned i, const A& value) const {
    unsigned words[WORDS] = {};
    __builtin_memcpy(words, &value, sizeof(A));
    MarkedWord* const first = slot(group_, place_) + i;
#pragma unroll
    for (unsigned w = 0; w < WORDS; ++w)
      storeMarkedWord(first + w * chain_.values, MarkedWord{group_ + 1} << 32 | words[w]);
  }

  // All words are loaded before the first is looked at.
  template <int N>
  __device__ void wait(A (&values)[N], unsigned group, unsigned place, unsigned count, unsigned i) const {
    MarkedWord words[N][WORDS];
    for (bool complete = false; !complete; pause(complete)) {
#pragma unroll
      for (unsigned n = 0; n < N; ++n)
#pragma unroll
        for (unsigned w = 0; w < WORDS; ++w)
          words[n][w] = loadMarkedWord(slot(group, place + (n < count ? n : 0)) + i + w * chain_.values);
      complete = true;
#pragma unroll
      for (unsigned n = 0; n < N; ++n)
#pragma unroll
        for (unsigned w = 0; w < WORDS; ++w) complete = complete && words[n][w] >> 32 == group + 1;
    }
#pragma unroll
    for (unsigned n = 0; n < N; ++n) {
      unsigned value[WORDS];
#pragma unroll
      for (unsigned w = 0; w < WORDS; ++w) value[w] = static_cast<unsigned>(words[n][w]);
      __builtin_memcpy(&values[n], value, sizeof(A));
    }
  }

  // The slots' former group, and the one after it, which read its last slot, have read everything.
  __device__ void waitForSlots() const {
    if (group_ < chain_.ring) return;
    waitForReaders(group_ - chain_.ring);
    waitForReaders(group_ - chain_.ring + 1);
  }

  __device__ void waitForReaders(unsigned group) const {
    const volatile unsigned* const count = chain_.arrivals + strip_ * chain_.ring + group % chain_.ring;
    const unsigned wanted = chain_.group * (group / chain_.ring + 1);
    for (bool complete = false; !complete; pause(complete)) complete = *count >= wanted;
  }

  __device__ static void pause([[maybe_unused]] bool complete) {
#if !defined(__CUDA_ARCH__)
    if (!complete) __nanosleep(100);  // lets other blocks run
#endif
  }

  const ScanChain& chain_;
  unsigned strip_, group_, place_;
  bool isLast_;
};

GPUOPT_DETAIL_END
