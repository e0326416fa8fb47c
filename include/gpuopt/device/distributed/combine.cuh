/// \file
/// Kernels that exchange the partial results of a team's ranks, and combine them in the order of the ranks.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/distributed/tuning.cuh>
#include <gpuopt/device/reduce/output.cuh>
#include <gpuopt/device/reduce/reducer.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/grid/peer_words.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// A rank's contribution, as words: what it calls, the number of its elements, its partial result. No rank has 2^48
// elements: the upper 16 bits of their number are the mark of the exchange, where NCCL gathers the contributions.
template <class Partial>
struct Contribution {
  static constexpr unsigned HEADER_WORDS = 3;
  static constexpr unsigned WORDS = HEADER_WORDS + (sizeof(Partial) + 3) / 4;
  static constexpr bool FITS_SLOTS = WORDS <= maxPeerWords;

  unsigned* words;
  unsigned call;
  std::size_t n;
  const unsigned* exchange;  // the number of the exchange; null between peers, whose words are marked
};

// An NCCL kernel that is aborted sends on what is in its buffer, such as an earlier contribution of a rank that is
// lost. So all ranks mark theirs. No mark is 0, as memory may be that was never written.
__device__ inline unsigned exchangeMark(unsigned number) { return (number % 0xffff + 1) << 16; }

// Where the local kernel leaves a contribution.
template <class Partial>
__device__ inline void storeResult(const Contribution<Partial>& out, const Partial& partial) {
  out.words[0] = out.call;
  out.words[1] = static_cast<unsigned>(out.n);
  out.words[2] = static_cast<unsigned>(out.n >> 32) | (out.exchange != nullptr ? exchangeMark(*out.exchange) : 0);
  __builtin_memcpy(out.words + Contribution<Partial>::HEADER_WORDS, &partial, sizeof(Partial));
}

// A reducer whose result is the partial one.
template <class Reducer>
struct PartialOf : Reducer {
  using Result = typename Reducer::Partial;

  __device__ Result finish(const Result& partial) const { return partial; }
};

// Whether a result of no elements needs an initial value.
template <class Reducer>
__host__ __device__ inline bool needsElements(const Reducer&) {
  return false;
}
template <class A, class Op>
__host__ __device__ inline bool needsElements(const Fold<A, Op>& fold) {
  return !Fold<A, Op>::HAS_NEUTRAL && !fold.init.valid;
}

// Reducers that tell the number of elements learn the number of all ranks.
template <class Reducer, class = void>
struct ElementCount {
  __device__ static void set(Reducer&, std::size_t) {}
};
template <class Reducer>
struct ElementCount<Reducer, std::void_t<decltype(Reducer::n)>> {
  __device__ static void set(Reducer& reducer, std::size_t n) { reducer.n = n; }
};

// A result, or why there is none.
template <class Result>
struct TeamResult {
  Result result;
  unsigned failure;
};

// Where a result goes: back to the host with its failure,
template <class Result>
struct ReturnedResult {
  Destination<TeamResult<Result>> destination;

  __device__ void fail(unsigned failure) const {
    TeamResult<Result> combined;
    combined.failure = failure;
    storeResult(destination, combined);
  }
  __device__ void store(const Result& result) const { storeResult(destination, TeamResult<Result>{result, 0}); }
};

// or to device memory, and the team's first failure to the host.
template <class Out>
struct StoredResult {
  Out out;
  unsigned* failed;  // pinned host memory
  unsigned* broken;  // see PeerTable

  __device__ void fail(unsigned failure) const {
    *broken = 1;
    volatile unsigned* const first = failed;
    if (*first == 0) *first = failure;
  }
  template <class Result>
  __device__ void store(const Result& result) const {
    storeResult(out, result);
  }
};

// Combines the contributions of all ranks in their order, the same on every rank, and stores the result. One thread.
template <class Reducer, class Out>
__device__ inline void combineContributions(Reducer reducer, const unsigned* words, int size, const Out& out) {
  using Partial = typename Reducer::Partial;
  using Words = Contribution<Partial>;
  const auto op = reducer.combiner();
  Partial sum = reducer.neutral();
  std::size_t first = 0;
  for (int rank = 0; rank < size; ++rank, words += Words::WORDS) {
    Partial partial = reducer.neutral();
    __builtin_memcpy(&partial, words + Words::HEADER_WORDS, sizeof(Partial));
    if constexpr (Reducer::INDEXED) reducer.reindex(partial, first, 1);
    sum = rank == 0 ? partial : op(sum, partial);
    first += std::size_t{words[2] & 0xffff} << 32 | words[1];
  }
  if (first == 0 && needsElements(reducer)) return out.fail(failureCode(PeerFailure::empty, 0));
  ElementCount<Reducer>::set(reducer, first);
  out.store(reducer.finish(sum));
}

// The ranks write their contributions to each other's memory.
template <class Reducer, class Out>
GPUOPT_KERNEL void __launch_bounds__(exchangeThreads)
    combinePeersKernel(const PeerTable peers, const unsigned* contribution, const Reducer reducer, const Out out) {
  constexpr unsigned WORDS = Contribution<typename Reducer::Partial>::WORDS;
  __shared__ unsigned words[maxPeers * WORDS];
  __shared__ unsigned failure;
  overlapPreviousKernel();
  const unsigned epoch = *peers.epoch + 1, call = contribution[0];
  sendPeerWords(peers, epoch, WORDS, [&](unsigned i) { return contribution[i]; });
  if (threadIdx.x == 0) failure = ~0u;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < static_cast<unsigned>(peers.size) * WORDS; i += blockDim.x) {
    const int from = static_cast<int>(i / WORDS);
    words[i] =
        from == peers.rank ? contribution[i % WORDS] : receivePeerWord(peers, epoch, from, i % WORDS, call, &failure);
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  *peers.epoch = epoch;
  if (failure != ~0u)
    out.fail(failure);
  else
    combineContributions(reducer, words, peers.size, out);
}

// NCCL has gathered the contributions.
template <class Reducer, class Out>
GPUOPT_KERNEL void combineGatheredKernel(const unsigned* words, unsigned* exchange, const int rank, const int size,
                                         const Reducer reducer, const Out out) {
  constexpr unsigned WORDS = Contribution<typename Reducer::Partial>::WORDS;
  overlapPreviousKernel();
  const unsigned call = words[static_cast<unsigned>(rank) * WORDS], mark = exchangeMark((*exchange)++);
  for (int other = 0; other < size; ++other) {
    const unsigned others = words[static_cast<unsigned>(other) * WORDS];
    if ((words[static_cast<unsigned>(other) * WORDS + 2] & ~0xffffu) != mark)
      return out.fail(failureCode(PeerFailure::lost, other));
    const PeerFailure why = others == refusedCall ? PeerFailure::refused : PeerFailure::different;
    if (others != call) return out.fail(failureCode(why, other));
  }
  combineContributions(reducer, words, size, out);
}

// Whether a column has no result: no rank has rows, and there is neither an initial value nor a neutral element.
template <class Reducer, class Partial>
__device__ inline bool isMissing(const Reducer&, const Partial&) {
  return false;
}
template <class A, class Op>
__device__ inline bool isMissing(const Fold<A, Op>& fold, const Optional<A>& partial) {
  return !fold.init.valid && !partial.valid;
}

// Combines what the ranks have of each column, in the order of the ranks.
template <class Reducer, class Out>
GPUOPT_KERNEL void __launch_bounds__(combineColumnsThreads)
    combineColumnsKernel(const typename Reducer::Partial* gathered, const std::size_t cols, const int size,
                         const Reducer reducer, const StoredResult<Out> result) {
  overlapPreviousKernel();
  const std::size_t col = std::size_t{blockIdx.x} * combineColumnsThreads + threadIdx.x;
  if (col >= cols) return;
  const auto op = reducer.combiner();
  typename Reducer::Partial sum = gathered[col];
  for (int rank = 1; rank < size; ++rank) sum = op(sum, gathered[static_cast<std::size_t>(rank) * cols + col]);
  if (isMissing(reducer, sum)) {  // in all columns
    if (col == 0) result.fail(failureCode(PeerFailure::empty, 0));
    return;
  }
  storeOutput(result.out, col, reducer.finish(sum));
}

// How the words of a barrier are ordered on this device. On a GPU, what came before a kernel in its stream is over. The
// emulated device needs the order of the words for that.
template <PeerOrder ORDER>
__device__ constexpr PeerOrder orderOfBarrier() {
#if defined(__CUDA_ARCH__)
  return ORDER;
#else
  return PeerOrder::ordered;
#endif
}

// Makes an exchange with the others without a contribution to it. IS_BARRIER: the exchange has none, all ranks call
// this, and what they have written before is visible to all after it if it is ordered. After a failure nobody waits any
// more.
template <bool IS_BARRIER, PeerOrder ORDER = IS_BARRIER ? PeerOrder::ordered : PeerOrder::relaxed>
GPUOPT_KERNEL void __launch_bounds__(exchangeThreads)
    meetPeersKernel(const PeerTable peers, const unsigned call, unsigned* failed) {
  constexpr PeerOrder WORDS = IS_BARRIER ? orderOfBarrier<ORDER>() : ORDER;
  __shared__ unsigned failure;
  overlapPreviousKernel();
  const unsigned epoch = *peers.epoch + 1, broken = *peers.broken;
  if (IS_BARRIER && broken != 0) return;
  if (threadIdx.x == 0) failure = ~0u;
  sendPeerWords<WORDS>(peers, epoch, 1, [call](unsigned) { return call; });
  __syncthreads();
  for (int from = static_cast<int>(threadIdx.x); from < peers.size; from += static_cast<int>(blockDim.x))
    if (from != peers.rank) receivePeerWord<WORDS>(peers, epoch, from, 0, call, &failure);
  __syncthreads();
  if (threadIdx.x > 0) return;
  *peers.epoch = epoch;
  if (!IS_BARRIER || failure == ~0u) return;
  *peers.broken = 1;
  volatile unsigned* const first = failed;  // the host may read it at any time
  if (*first == 0) *first = failure;
}

// Refuses the call of every other rank. Another rank waits in one of two exchanges: that of its stream, or an
// agreement. It gets one answer, in the exchange where its own word has arrived. So no rank writes to the memory of one
// that has ended.
template <bool = true>
GPUOPT_KERNEL void __launch_bounds__(exchangeThreads)
    leavePeersKernel(const PeerTable peers, const PeerTable agreements) {
  overlapPreviousKernel();
  const unsigned epoch = *peers.epoch + 1, agreement = *agreements.epoch + 1;
  const auto hasCome = [](const PeerTable& table, int from, unsigned mark) {
    return isMarked(loadPeerWord(peerSlots(table, table.rank, from, mark)), mark);
  };
  for (int other = static_cast<int>(threadIdx.x); other < peers.size; other += static_cast<int>(blockDim.x)) {
    if (other == peers.rank) continue;
    const auto isHere = [&] { return hasCome(peers, other, epoch) || hasCome(agreements, other, agreement); };
    if (!waitUntil(isHere, peers.timeout)) continue;
    if (hasCome(peers, other, epoch))
      storePeerWord(peerSlots(peers, other, peers.rank, epoch), epoch, refusedCall);
    else
      storePeerWord(peerSlots(agreements, other, peers.rank, agreement), agreement, refusedCall);
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  *peers.epoch = epoch;
  *agreements.epoch = agreement;
  *peers.broken = 1;
}

// A rank without a contribution to what NCCL gathers.
template <bool = true>
GPUOPT_KERNEL void refuseKernel(unsigned* words, unsigned* exchange) {
  overlapPreviousKernel();
  if (threadIdx.x > 0) return;
  words[0] = refusedCall;
  words[2] = exchangeMark((*exchange)++);
}

GPUOPT_DETAIL_END
