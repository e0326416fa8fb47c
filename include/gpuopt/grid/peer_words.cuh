/// \file
/// Marked words between devices: how the ranks of a team learn what the others have, and that they are there.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/core/device_code.cuh>
#include <gpuopt/grid/arrival.cuh>

#include <cuda_runtime.h>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// The most ranks that write to each other's memory, and the most words that one has for another in one exchange.
inline constexpr int maxPeers = 16;
inline constexpr unsigned maxPeerWords = 64;

// A rank's memory that its peers write: words of the ranks in two sets, which exchanges use in turn. Whoever begins an
// exchange has all words of the one before, so all ranks have read those of the one before that.
inline constexpr std::size_t peerSlotWords = std::size_t{2} * maxPeers * maxPeerWords;

// The ranks that can write to each other's memory, as kernels see them.
struct PeerTable {
  MarkedWord* slots[maxPeers];  // peerSlotWords words of each rank
  unsigned* epoch;              // of this rank: the exchanges that it has made; counted on the device, for graphs
  unsigned* broken;             // of this rank: not 0 once an asynchronous call has failed; later work is left out
  unsigned long long timeout;   // nanoseconds
  int rank, size;
};

// The words that rank `from` has for rank `to`. The mark is the number of the exchange.
__device__ inline MarkedWord* peerSlots(const PeerTable& peers, int to, int from, unsigned epoch) {
  const unsigned set = (epoch & 1) * maxPeers + static_cast<unsigned>(from);
  return peers.slots[to] + std::size_t{set} * maxPeerWords;
}

// What a word says of its sender's other writes: nothing, or that whoever sees the word sees them, too. Fences of the
// whole system instead would also wait until the peers have the word.
enum class PeerOrder { relaxed, ordered };

// Both halves of a word arrive at once, also through NVLink and PCIe.
template <PeerOrder ORDER = PeerOrder::relaxed>
__device__ inline void storePeerWord(MarkedWord* address, unsigned mark, unsigned word) {
  const MarkedWord marked = MarkedWord{mark} << 32 | word;
#if defined(__CUDA_ARCH__)
  if constexpr (ORDER == PeerOrder::ordered)
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(address), "l"(marked) : "memory");
  else
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(address), "l"(marked) : "memory");
#else
  if constexpr (ORDER == PeerOrder::ordered) __threadfence_system();
  atomicExch_system(address, marked);
#endif
}

template <PeerOrder ORDER = PeerOrder::relaxed>
__device__ inline MarkedWord loadPeerWord(MarkedWord* address) {
  MarkedWord word;
#if defined(__CUDA_ARCH__)
  if constexpr (ORDER == PeerOrder::ordered)
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(word) : "l"(address) : "memory");
  else
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(word) : "l"(address) : "memory");
#else
  word = atomicAdd_system(address, MarkedWord{0});
  if constexpr (ORDER == PeerOrder::ordered) __threadfence_system();
#endif
  return word;
}

__device__ inline bool isMarked(MarkedWord word, unsigned mark) { return static_cast<unsigned>(word >> 32) == mark; }

__device__ inline unsigned long long nanoseconds() {
#if defined(__CUDA_ARCH__)
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
#else
  return static_cast<unsigned long long>(clock64());
#endif
}

// Whether a condition holds before the time is over.
template <class Condition>
__device__ inline bool waitUntil(Condition holds, unsigned long long timeout) {
  if (holds()) return true;
  const unsigned long long start = nanoseconds();
  for (unsigned turn = 1;; ++turn) {
    if (holds()) return true;
    if (turn % 64 == 0 && nanoseconds() - start > timeout) return false;
#if !defined(__CUDA_ARCH__)
    __nanosleep(100);
#endif
  }
}

// Why an exchange failed, and because of which rank; 0 if it did not.
enum class PeerFailure : unsigned { none, refused, different, timeout, empty, lost };
__host__ __device__ inline unsigned failureCode(PeerFailure why, int rank) {
  return static_cast<unsigned>(why) << 16 | static_cast<unsigned>(rank);
}

// The first word of a rank that makes a call with arguments that are wrong.
inline constexpr unsigned refusedCall = ~0u;

// Sends `count` words to all other ranks. All threads of the block call.
template <PeerOrder ORDER = PeerOrder::relaxed, class WordAt>
__device__ inline void sendPeerWords(const PeerTable& peers, unsigned epoch, unsigned count, WordAt wordAt) {
  for (unsigned i = threadIdx.x; i < static_cast<unsigned>(peers.size) * count; i += blockDim.x) {
    const int to = static_cast<int>(i / count);
    if (to != peers.rank)
      storePeerWord<ORDER>(peerSlots(peers, to, peers.rank, epoch) + i % count, epoch, wordAt(i % count));
  }
}

// Waits for one word of a rank. The first word of each names its call: where that is another call than this one, there
// may be no further words.
template <PeerOrder ORDER = PeerOrder::relaxed>
__device__ inline unsigned receivePeerWord(const PeerTable& peers, unsigned epoch, int from, unsigned index,
                                           unsigned call, unsigned* failure) {
  MarkedWord* const slots = peerSlots(peers, peers.rank, from, epoch);
  MarkedWord word = 0, first = 0;
  const auto isOver = [&] {
    word = loadPeerWord<ORDER>(slots + index);
    if (isMarked(word, epoch)) return true;
    first = index > 0 ? loadPeerWord(slots) : word;
    return isMarked(first, epoch) && static_cast<unsigned>(first) != call;
  };
  PeerFailure why = PeerFailure::none;
  if (!waitUntil(isOver, peers.timeout)) why = PeerFailure::timeout;
  if (index == 0 && why == PeerFailure::none && static_cast<unsigned>(word) != call)
    why = static_cast<unsigned>(word) == refusedCall ? PeerFailure::refused : PeerFailure::different;
  if (why != PeerFailure::none) atomicMin(failure, failureCode(why, from));
  return static_cast<unsigned>(word);
}

GPUOPT_DETAIL_END
