/// Counts what one request of a warp costs, by the rules of <gpuopt/access.cuh>.
// SPDX-License-Identifier: MIT
#pragma once

#include "gpuopt_emulation/profile.hpp"

#include <gpuopt/access.cuh>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <unordered_map>

namespace gpuopt::emulation::detail {

/// One request: what each lane of the mask accesses.
struct WarpRequest {
  std::array<std::uintptr_t, WARP_LANES> addresses;
  unsigned mask;
  unsigned bytes;  // of a lane: 1, 2, 4, 8 or 16, and every address is a multiple of it
};

/// The 32-byte sectors that a launch has touched.
class TouchedSectors {
 public:
  void insert(std::uintptr_t sector) {
    const std::uintptr_t page = sector / SECTORS;
    if (page != lastPage_ || last_ == nullptr) {
      lastPage_ = page;
      last_ = &pages_[page];
    }
    const std::uintptr_t bit = sector % SECTORS;
    (*last_)[bit / 64] |= std::uint64_t{1} << (bit % 64);
  }

  void insert(const TouchedSectors& other) {
    for (const auto& [page, words] : other.pages_)
      for (std::size_t i = 0; i < words.size(); ++i) pages_[page][i] |= words[i];
  }

  std::uint64_t size() const {
    std::uint64_t count = 0;
    for (const auto& [page, words] : pages_)
      for (const std::uint64_t word : words) count += static_cast<unsigned>(__builtin_popcountll(word));
    return count;
  }

 private:
  static constexpr std::uintptr_t SECTORS = 2048;  // of a page: 64 KiB of memory in 256 bytes
  using Page = std::array<std::uint64_t, SECTORS / 64>;
  std::unordered_map<std::uintptr_t, Page> pages_;
  std::uintptr_t lastPage_ = 0;
  Page* last_ = nullptr;
};

inline constexpr long long NO_STRIDE = INT64_MIN;

/// The distance from lane to lane, within rows of neighbouring lanes: a 16 x 16 block has two rows in a warp.
struct Stride {
  long long bytes = NO_STRIDE;
  unsigned rowLanes = WARP_LANES;

  bool operator==(const Stride& other) const { return bytes == other.bytes && rowLanes == other.rowLanes; }
};

/// The stride that most requests have, after Boyer and Moore: one candidate and its votes.
struct StrideVote {
  Stride candidate;
  std::uint64_t votes = 0;

  void add(const Stride& stride, std::uint64_t count = 1) {
    if (votes == 0) candidate = stride;
    if (stride == candidate)
      votes += count;
    else
      votes -= (std::min)(votes, count);
  }
};

/// What is counted of one instruction.
struct InstructionCounts {
  AccessCounts counts;
  StrideVote stride;
  std::uint64_t single = 0;      // requests of one lane, which have no stride
  std::uint64_t misaligned = 0;  // requests that do not begin at a sector
  unsigned bytes = 0;
  unsigned worstDegree = 0;

  void add(const InstructionCounts& other) {
    counts += other.counts;
    stride.add(other.stride.candidate, other.stride.votes);
    single += other.single;
    misaligned += other.misaligned;
    bytes = (std::max)(bytes, other.bytes);
    worstDegree = (std::max)(worstDegree, other.worstDegree);
  }
};

/// The distance between the addresses of lanes in a row if it is the same everywhere.
inline long long strideInRows(const WarpRequest& request, unsigned rowLanes) {
  long long stride = NO_STRIDE;
  unsigned last = WARP_LANES;
  for (unsigned mask = request.mask; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(mask));
    if (last < WARP_LANES && lane / rowLanes == last / rowLanes) {
      const auto distance = static_cast<long long>(request.addresses[lane] - request.addresses[last]);
      const auto lanes = static_cast<long long>(lane - last);
      if (distance % lanes != 0 || (stride != NO_STRIDE && stride != distance / lanes)) return NO_STRIDE;
      stride = distance / lanes;
    }
    last = lane;
  }
  return stride;
}

/// The distance between most neighbouring lanes: others repeat the last element of an array, or begin another row.
inline Stride strideOfMost(const WarpRequest& request) {
  StrideVote vote;
  unsigned pairs = 0, same = 0;
  const auto forEachPair = [&request](auto visit) {
    for (unsigned mask = request.mask & request.mask >> 1; mask != 0; mask &= mask - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(mask));
      visit(Stride{static_cast<long long>(request.addresses[lane + 1] - request.addresses[lane])});
    }
  };
  forEachPair([&](const Stride& distance) { vote.add(distance); });
  forEachPair([&](const Stride& distance) {
    ++pairs;
    same += distance == vote.candidate;
  });
  const bool isCommon =
      4 * same >= 3 * pairs && pairs > 0 && vote.candidate.bytes != 0;  // many equal indices: a gather
  return isCommon ? vote.candidate : Stride{};
}

inline Stride strideOf(const WarpRequest& request) {
  constexpr unsigned SHORTEST = 4;  // any two lanes have a stride
  for (unsigned rowLanes = WARP_LANES; rowLanes >= SHORTEST; rowLanes /= 2) {
    const long long stride = strideInRows(request, rowLanes);
    if (stride != NO_STRIDE) return {stride, rowLanes};
  }
  return strideOfMost(request);
}

/// The distinct values of addresses / DIVISOR. Addresses mostly rise from lane to lane, and need no set then.
template <class Visit>
unsigned countDistinct(const WarpRequest& request, std::uintptr_t divisor, Visit visit) {
  std::array<std::uintptr_t, WARP_LANES> found;
  unsigned count = 0;
  bool rises = true;
  for (unsigned mask = request.mask; mask != 0; mask &= mask - 1) {
    const std::uintptr_t number = request.addresses[static_cast<unsigned>(__builtin_ctz(mask))] / divisor;
    if (count > 0 && number == found[count - 1]) continue;
    rises = rises && (count == 0 || number > found[count - 1]);
    found[count++] = number;
  }
  if (!rises) {
    std::sort(found.begin(), found.begin() + count);
    count = static_cast<unsigned>(std::unique(found.begin(), found.begin() + count) - found.begin());
  }
  for (unsigned i = 0; i < count; ++i) visit(found[i]);
  return count;
}

inline void addGlobal(InstructionCounts& instruction, const WarpRequest& request, TouchedSectors& touched) {
  constexpr std::uintptr_t SECTOR = GlobalAccess::SECTOR;
  AccessCounts& counts = instruction.counts;
  const unsigned sectors = countDistinct(request, SECTOR, [&](std::uintptr_t sector) { touched.insert(sector); });
  const unsigned distinct = countDistinct(request, request.bytes, [](std::uintptr_t) {});
  ++counts.requests;
  counts.lanes += static_cast<unsigned>(__builtin_popcount(request.mask));
  counts.bytes += distinct * request.bytes;
  counts.sectors += sectors;
  counts.idealSectors += (distinct * request.bytes + SECTOR - 1) / SECTOR;
  counts.repeatedLanes += static_cast<unsigned>(__builtin_popcount(request.mask)) - distinct;
  instruction.misaligned += request.addresses[static_cast<unsigned>(__builtin_ctz(request.mask))] % SECTOR != 0;
}

template <unsigned BYTES>
SharedAccess analyseShared(const WarpRequest& request, bool isLoad) {
  const auto address = [&request](unsigned lane) { return request.addresses[lane]; };
  return isLoad ? sharedLoad<BYTES>(address, LaneMask{request.mask})
                : sharedAccess<BYTES>(address, LaneMask{request.mask});
}

inline SharedAccess analyseShared(const WarpRequest& request, bool isLoad) {
  switch (request.bytes) {
    case 1:
      return analyseShared<1>(request, isLoad);
    case 2:
      return analyseShared<2>(request, isLoad);
    case 4:
      return analyseShared<4>(request, isLoad);
    case 8:
      return analyseShared<8>(request, isLoad);
    default:
      return analyseShared<16>(request, isLoad);
  }
}

inline void addShared(InstructionCounts& instruction, const WarpRequest& request, bool isLoad) {
  const SharedAccess access = analyseShared(request, isLoad);
  AccessCounts& counts = instruction.counts;
  const unsigned lanes = static_cast<unsigned>(__builtin_popcount(request.mask));
  const unsigned distinct = countDistinct(request, request.bytes, [](std::uintptr_t) {});
  ++counts.requests;
  counts.lanes += lanes;
  counts.bytes += distinct * request.bytes;
  counts.wavefronts += access.wavefronts;
  counts.idealWavefronts += access.phases;
  counts.repeatedLanes += lanes - distinct;
  instruction.worstDegree = (std::max)(instruction.worstDegree, access.degree);
}

template <unsigned BYTES>
AsyncCopy analyseCopy(const WarpRequest& to, const WarpRequest& from) {
  return asyncCopy<BYTES>([&to](unsigned lane) { return to.addresses[lane]; },
                          [&from](unsigned lane) { return from.addresses[lane]; }, LaneMask{to.mask});
}

inline void addAsyncCopy(InstructionCounts& instruction, const WarpRequest& to, const WarpRequest& from) {
  const AsyncCopy copy = to.bytes == 16  ? analyseCopy<16>(to, from)
                         : to.bytes == 8 ? analyseCopy<8>(to, from)
                                         : analyseCopy<4>(to, from);
  AccessCounts& counts = instruction.counts;
  ++counts.requests;
  counts.lanes += static_cast<unsigned>(__builtin_popcount(to.mask));
  counts.bytes += countDistinct(to, to.bytes, [](std::uintptr_t) {}) * to.bytes;
  counts.wavefronts += copy.wavefronts;
  counts.idealWavefronts += copy.idealWavefronts;
}

}  // namespace gpuopt::emulation::detail
