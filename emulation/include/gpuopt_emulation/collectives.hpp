/// Barriers, warp collectives and what else a lane asks of its block.
// SPDX-License-Identifier: MIT
#pragma once

#include "intrinsics.hpp"
#include "scheduler.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

// As in fiber.hpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O2")
#endif

namespace gpuopt::emulation::detail {

GPUOPT_EMULATION_HOT inline Lane& callingLane(const char* function) {
  if (currentLane != nullptr) return *currentLane;
  std::fprintf(stderr, "gpuopt emulation: %s called outside a kernel\n", function);
  std::abort();
}

template <class T>
std::uint64_t toBits(const T& value) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <class T>
T fromBits(std::uint64_t bits) {
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
  return value;
}

// ------------------------------------------------------------------------------------- completions

/// What a shuffle from a lane that takes no part delivers: undefined on a GPU, conspicuous here.
inline constexpr std::uint64_t UNDEFINED_BITS = ~std::uint64_t{0};

GPUOPT_EMULATION_HOT inline void completeSync(Lane*, unsigned) {}

GPUOPT_EMULATION_HOT inline void completeShuffle(Lane* first, unsigned mask) {
  forEachLane(mask, [&](unsigned i) {
    Request& request = first[i].request;
    request.result = (mask >> request.source & 1) != 0 ? first[request.source].request.value : UNDEFINED_BITS;
  });
}

GPUOPT_EMULATION_HOT inline void completeBallot(Lane* first, unsigned mask) {
  unsigned votes = 0;
  forEachLane(mask, [&](unsigned i) { votes |= first[i].request.value != 0 ? 1u << i : 0; });
  forEachLane(mask, [&](unsigned i) { first[i].request.result = votes; });
}

GPUOPT_EMULATION_HOT inline void completeMatch(Lane* first, unsigned mask) {
  forEachLane(mask, [&](unsigned i) {
    unsigned same = 0;
    forEachLane(mask, [&](unsigned j) { same |= first[j].request.value == first[i].request.value ? 1u << j : 0; });
    first[i].request.result = same;
  });
}

template <class T, class Fold>
void completeReduce(Lane* first, unsigned mask) {
  T total = fromBits<T>(first[__builtin_ctz(mask)].request.value);
  forEachLane(mask & (mask - 1), [&](unsigned i) { total = Fold{}(total, fromBits<T>(first[i].request.value)); });
  forEachLane(mask, [&](unsigned i) { first[i].request.result = toBits(total); });
}

GPUOPT_EMULATION_HOT inline void completeCount(Lane* first, unsigned threads) {
  std::uint64_t count = 0;
  for (unsigned i = 0; i < threads; ++i) count += first[i].request.value != 0;
  for (unsigned i = 0; i < threads; ++i) first[i].request.result = count;
}

// Sums of signed integers wrap around on a GPU.
struct FoldAdd {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
  }
};
struct FoldLess {
  template <class T>
  T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct FoldGreater {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct FoldAnd {
  unsigned operator()(unsigned a, unsigned b) const { return a & b; }
};
struct FoldOr {
  unsigned operator()(unsigned a, unsigned b) const { return a | b; }
};
struct FoldXor {
  unsigned operator()(unsigned a, unsigned b) const { return a ^ b; }
};

// -------------------------------------------------------------------------------------- operations

inline constexpr auto WARP = Operation::Scope::warp;
inline constexpr auto BLOCK_WIDE = Operation::Scope::block;

inline constexpr Operation syncThreads{"__syncthreads", BLOCK_WIDE, completeSync};
inline constexpr Operation syncThreadsCount{"__syncthreads_count", BLOCK_WIDE, completeCount};
inline constexpr Operation syncThreadsAnd{"__syncthreads_and", BLOCK_WIDE, completeCount};
inline constexpr Operation syncThreadsOr{"__syncthreads_or", BLOCK_WIDE, completeCount};
inline constexpr Operation syncGrid{"grid.sync()", BLOCK_WIDE, completeSync, true};
inline constexpr Operation syncWarp{"__syncwarp", WARP, completeSync};
inline constexpr Operation shuffle{"__shfl_sync", WARP, completeShuffle};
inline constexpr Operation shuffleUp{"__shfl_up_sync", WARP, completeShuffle};
inline constexpr Operation shuffleDown{"__shfl_down_sync", WARP, completeShuffle};
inline constexpr Operation shuffleXor{"__shfl_xor_sync", WARP, completeShuffle};
inline constexpr Operation ballot{"__ballot_sync", WARP, completeBallot};
inline constexpr Operation voteAny{"__any_sync", WARP, completeBallot};
inline constexpr Operation voteAll{"__all_sync", WARP, completeBallot};
inline constexpr Operation matchAny{"__match_any_sync", WARP, completeMatch};
template <class T>
inline constexpr Operation reduceAdd{"__reduce_add_sync", WARP, completeReduce<T, FoldAdd>};
template <class T>
inline constexpr Operation reduceLess{"__reduce_min_sync", WARP, completeReduce<T, FoldLess>};
template <class T>
inline constexpr Operation reduceGreater{"__reduce_max_sync", WARP, completeReduce<T, FoldGreater>};
inline constexpr Operation reduceAnd{"__reduce_and_sync", WARP, completeReduce<unsigned, FoldAnd>};
inline constexpr Operation reduceOr{"__reduce_or_sync", WARP, completeReduce<unsigned, FoldOr>};
inline constexpr Operation reduceXor{"__reduce_xor_sync", WARP, completeReduce<unsigned, FoldXor>};

// ------------------------------------------------------------------------------------------- calls

GPUOPT_EMULATION_HOT inline std::uint64_t blockCollective(const Operation& operation, bool predicate, Site site) {
  Lane& lane = callingLane(operation.name);
  return lane.block->collect(lane, {&operation, 0, 0, predicate, 0, site});
}

/// Waits for all threads of all blocks of a cooperative launch.
inline void gridCollective(Site site) {
  Lane& lane = callingLane("grid.sync()");
  GridBarrier* const barrier = lane.block->gridBarrier();
  if (barrier == nullptr)
    lane.block->failInLane(lane, "grid.sync() needs a cooperative launch: cudaLaunchCooperativeKernel", site);
  blockCollective(syncGrid, false, site);
  if (lane.index == 0 && !barrier->arriveAndWait())
    lane.block->failInLane(lane, "grid.sync() waits for blocks that have left the kernel", site);
  blockCollective(syncGrid, false, site);
}

GPUOPT_EMULATION_HOT inline std::uint64_t warpCollective(const Operation& operation, unsigned mask, std::uint64_t value,
                                                         unsigned source, Site site) {
  Lane& lane = callingLane(operation.name);
  if ((mask & lane.bit()) == 0)
    lane.block->failInLane(lane,
                           std::string(operation.name) + ": the mask does not name the calling lane " +
                               std::to_string(lane.inWarp()) + " (mask " + hexadecimal(mask) + ')',
                           site);
  return lane.block->collect(lane, {&operation, mask, source, value, 0, site});
}

/// The width of a shuffle, checked.
GPUOPT_EMULATION_HOT inline unsigned shuffleWidth(const Lane& lane, int width, Site site) {
  const bool isPowerOfTwo = width > 0 && (width & (width - 1)) == 0;
  if (!isPowerOfTwo || width > static_cast<int>(WARP_LANES))
    lane.block->failInLane(lane, "the width of a shuffle is " + std::to_string(width) + ", not a power of two up to 32",
                           site);
  return static_cast<unsigned>(width);
}

/// `source(lane, width)` names the lane to read from, as PTX's shfl defines it.
template <class T, class Source>
T shuffleFrom(const Operation& operation, unsigned mask, const T& value, int width, Site site, Source source) {
  const Lane& lane = callingLane(operation.name);
  const unsigned from = source(lane.inWarp(), shuffleWidth(lane, width, site));
  return fromBits<T>(warpCollective(operation, mask, toBits(value), from, site));
}

// The types that CUDA's shuffles take; half precision types join in their own headers.
template <class T>
inline constexpr bool isShuffled = std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);

template <class T>
using Shuffled = std::enable_if_t<isShuffled<T>, T>;

// CUDA converts what is narrower than an int.
template <class T>
using Promoted = std::enable_if_t<std::is_integral_v<T> && (sizeof(T) < 4), int>;

}  // namespace gpuopt::emulation::detail

// ---------------------------------------------------------------------------------------- barriers

// The last parameter of what can wait; a caller leaves it out.
#define GPUOPT_EMULATION_SITE gpuopt::emulation::detail::Site site = gpuopt::emulation::detail::Site::here()

inline void __syncthreads(GPUOPT_EMULATION_SITE) {
  gpuopt::emulation::detail::blockCollective(gpuopt::emulation::detail::syncThreads, false, site);
}

inline int __syncthreads_count(int predicate, GPUOPT_EMULATION_SITE) {
  namespace emulated = gpuopt::emulation::detail;
  return static_cast<int>(emulated::blockCollective(emulated::syncThreadsCount, predicate != 0, site));
}

inline int __syncthreads_and(int predicate, GPUOPT_EMULATION_SITE) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::blockCollective(emulated::syncThreadsAnd, predicate == 0, site) == 0;
}

inline int __syncthreads_or(int predicate, GPUOPT_EMULATION_SITE) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::blockCollective(emulated::syncThreadsOr, predicate != 0, site) != 0;
}

inline void __syncwarp(unsigned mask = 0xFFFFFFFFu, GPUOPT_EMULATION_SITE) {
  gpuopt::emulation::detail::warpCollective(gpuopt::emulation::detail::syncWarp, mask, 0, 0, site);
}

// ---------------------------------------------------------------------------------------- shuffles

template <class T>
gpuopt::emulation::detail::Shuffled<T> __shfl_sync(unsigned mask, T value, int lane, int width = 32,
                                                   GPUOPT_EMULATION_SITE) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::shuffleFrom(emulated::shuffle, mask, value, width, site, [lane](unsigned self, unsigned w) {
    return (self & ~(w - 1)) | (static_cast<unsigned>(lane) & (w - 1));
  });
}

template <class T>
gpuopt::emulation::detail::Shuffled<T> __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                                                      GPUOPT_EMULATION_SITE) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::shuffleFrom(emulated::shuffleUp, mask, value, width, site, [delta](unsigned self, unsigned w) {
    return (self & (w - 1)) < delta % 32 ? self : self - delta % 32;
  });
}

template <class T>
gpuopt::emulation::detail::Shuffled<T> __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                                                        GPUOPT_EMULATION_SITE) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::shuffleFrom(emulated::shuffleDown, mask, value, width, site, [delta](unsigned self, unsigned w) {
    return (self & (w - 1)) + delta % 32 < w ? self + delta % 32 : self;
  });
}

template <class T>
gpuopt::emulation::detail::Shuffled<T> __shfl_xor_sync(unsigned mask, T value, int laneMask, int width = 32,
                                                       GPUOPT_EMULATION_SITE) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::shuffleFrom(emulated::shuffleXor, mask, value, width, site, [laneMask](unsigned self, unsigned w) {
    const unsigned from = self ^ (static_cast<unsigned>(laneMask) % 32);
    return from <= (self | (w - 1)) ? from : self;  // an earlier segment can be read, a later one cannot
  });
}

template <class T>
gpuopt::emulation::detail::Promoted<T> __shfl_sync(unsigned mask, T value, int lane, int width = 32,
                                                   GPUOPT_EMULATION_SITE) {
  return __shfl_sync(mask, static_cast<int>(value), lane, width, site);
}

template <class T>
gpuopt::emulation::detail::Promoted<T> __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                                                      GPUOPT_EMULATION_SITE) {
  return __shfl_up_sync(mask, static_cast<int>(value), delta, width, site);
}

template <class T>
gpuopt::emulation::detail::Promoted<T> __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                                                        GPUOPT_EMULATION_SITE) {
  return __shfl_down_sync(mask, static_cast<int>(value), delta, width, site);
}

template <class T>
gpuopt::emulation::detail::Promoted<T> __shfl_xor_sync(unsigned mask, T value, int laneMask, int width = 32,
                                                       GPUOPT_EMULATION_SITE) {
  return __shfl_xor_sync(mask, static_cast<int>(value), laneMask, width, site);
}

// ------------------------------------------------------------------- votes, matches and reductions

inline unsigned __ballot_sync(unsigned mask, int predicate, GPUOPT_EMULATION_SITE) {
  namespace emulated = gpuopt::emulation::detail;
  return static_cast<unsigned>(emulated::warpCollective(emulated::ballot, mask, predicate != 0, 0, site));
}

inline int __any_sync(unsigned mask, int predicate, GPUOPT_EMULATION_SITE) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::warpCollective(emulated::voteAny, mask, predicate != 0, 0, site) != 0;
}

inline int __all_sync(unsigned mask, int predicate, GPUOPT_EMULATION_SITE) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::warpCollective(emulated::voteAll, mask, predicate == 0, 0, site) == 0;
}

/// The calling lane alone: which lanes run together is for the hardware to say, and nothing may depend on it.
inline unsigned __activemask() { return gpuopt::emulation::detail::callingLane("__activemask").bit(); }

template <class T>
std::enable_if_t<gpuopt::emulation::detail::isShuffled<T>, unsigned> __match_any_sync(unsigned mask, T value,
                                                                                      GPUOPT_EMULATION_SITE) {
  namespace emulated = gpuopt::emulation::detail;
  return static_cast<unsigned>(emulated::warpCollective(emulated::matchAny, mask, emulated::toBits(value), 0, site));
}

/// The mask if all values are alike, and 0 otherwise.
template <class T>
std::enable_if_t<gpuopt::emulation::detail::isShuffled<T>, unsigned> __match_all_sync(unsigned mask, T value, int* same,
                                                                                      GPUOPT_EMULATION_SITE) {
  const unsigned lanes = __match_any_sync(mask, value, site);
  *same = __all_sync(mask, lanes == __ballot_sync(mask, 1, site), site);
  return *same != 0 ? lanes : 0;
}

#define GPUOPT_EMULATION_REDUCE(T, function, operation)                                         \
  inline T function(unsigned mask, T value, GPUOPT_EMULATION_SITE) {                            \
    namespace emulated = gpuopt::emulation::detail;                                             \
    return emulated::fromBits<T>(                                                               \
        emulated::warpCollective(emulated::operation, mask, emulated::toBits(value), 0, site)); \
  }

GPUOPT_EMULATION_REDUCE(int, __reduce_add_sync, reduceAdd<int>)
GPUOPT_EMULATION_REDUCE(int, __reduce_min_sync, reduceLess<int>)
GPUOPT_EMULATION_REDUCE(int, __reduce_max_sync, reduceGreater<int>)
GPUOPT_EMULATION_REDUCE(unsigned, __reduce_add_sync, reduceAdd<unsigned>)
GPUOPT_EMULATION_REDUCE(unsigned, __reduce_min_sync, reduceLess<unsigned>)
GPUOPT_EMULATION_REDUCE(unsigned, __reduce_max_sync, reduceGreater<unsigned>)
GPUOPT_EMULATION_REDUCE(unsigned, __reduce_and_sync, reduceAnd)
GPUOPT_EMULATION_REDUCE(unsigned, __reduce_or_sync, reduceOr)
GPUOPT_EMULATION_REDUCE(unsigned, __reduce_xor_sync, reduceXor)
#undef GPUOPT_EMULATION_REDUCE

// ------------------------------------------------------------------------------------------ others

namespace gpuopt::emulation::detail {

/// What assert() calls: the launch fails with cudaErrorAssert. Host code aborts, as everywhere.
[[noreturn]] inline void failAssertion(const char* condition, const char* file, int line, const char* function) {
  if (currentLane == nullptr) {
    std::fprintf(stderr, "%s:%d: %s: Assertion `%s' failed.\n", file, line, function, condition);
    std::abort();
  }
  const Site site{file, line};
  currentLane->block->failAssertion(*currentLane,
                                    text(site) + ": " + function + ": assertion `" + condition + "' failed", site);
}

}  // namespace gpuopt::emulation::detail

/// Lets other lanes run. A lane that spins until another lane has written something has to call this.
inline void __nanosleep(unsigned) {
  namespace emulated = gpuopt::emulation::detail;
  emulated::Lane& lane = emulated::callingLane("__nanosleep");
  lane.block->yield(lane);
}

[[noreturn]] inline void __trap(GPUOPT_EMULATION_SITE) {
  namespace emulated = gpuopt::emulation::detail;
  const emulated::Lane& lane = emulated::callingLane("__trap");
  lane.block->failInLane(lane, "__trap", site);
}

// A launch is complete before the next one starts.
inline void cudaGridDependencySynchronize() {}
inline void cudaTriggerProgrammaticLaunchCompletion() {}

#undef GPUOPT_EMULATION_SITE

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
