/// Cooperative groups of lanes of a warp: tiles, coalesced threads, and groups of a kind that is known at run time.
// SPDX-License-Identifier: MIT
#pragma once

#include "block_groups.hpp"

#include <cstring>
#include <type_traits>

// The last parameter of what can wait; a caller leaves it out.
#define GPUOPT_EMULATION_SITE gpuopt::emulation::detail::Site site = gpuopt::emulation::detail::Site::here()

namespace cooperative_groups {
namespace detail {

using gpuopt::emulation::detail::Site;

inline unsigned lane() { return thread_block::thread_rank() % 32; }

/// The lane of the rank-th bit of a mask.
inline unsigned laneOfRank(unsigned mask, unsigned rank) {
  for (; rank > 0 && mask != 0; --rank) mask &= mask - 1;
  return mask == 0 ? 32 : static_cast<unsigned>(__builtin_ctz(mask));
}

/// The bits of `lanes` that a mask names, side by side.
inline unsigned packed(unsigned lanes, unsigned mask) {
  unsigned result = 0;
  for (unsigned rank = 0; mask != 0; mask &= mask - 1, ++rank) result |= (lanes >> __builtin_ctz(mask) & 1) << rank;
  return result;
}

/// The value of another lane, of any type that can be copied by its bytes.
template <class T>
T valueOf(unsigned mask, const T& value, unsigned lane, Site site) {
  static_assert(std::is_trivially_copyable_v<T>, "a shuffle needs a type that is trivially copyable");
  unsigned words[(sizeof(T) + 3) / 4] = {};
  std::memcpy(words, &value, sizeof(T));
  for (unsigned& word : words) word = __shfl_sync(mask, word, static_cast<int>(lane), 32, site);
  T result;
  std::memcpy(static_cast<void*>(&result), words, sizeof(T));
  return result;
}

/// Lanes of one warp, which a mask names. Ranks are in the order of the lanes.
class LaneGroup {
 public:
  explicit LaneGroup(unsigned mask) : mask_(mask) {}

  unsigned size() const { return static_cast<unsigned>(__builtin_popcount(mask_)); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const { return static_cast<unsigned>(__builtin_popcount(mask_ & ((1u << lane()) - 1))); }
  void sync(GPUOPT_EMULATION_SITE) const { __syncwarp(mask_, site); }

  template <class T>
  T shfl(T value, unsigned rank, GPUOPT_EMULATION_SITE) const {
    return valueOf(mask_, value, laneOfRank(mask_, rank % size()), site);
  }
  template <class T>
  T shfl_up(T value, unsigned delta, GPUOPT_EMULATION_SITE) const {
    const unsigned rank = thread_rank();
    return valueOf(mask_, value, laneOfRank(mask_, rank < delta ? rank : rank - delta), site);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, GPUOPT_EMULATION_SITE) const {
    const unsigned rank = thread_rank();
    return valueOf(mask_, value, laneOfRank(mask_, rank + delta < size() ? rank + delta : rank), site);
  }

  int any(int predicate, GPUOPT_EMULATION_SITE) const { return __any_sync(mask_, predicate, site); }
  int all(int predicate, GPUOPT_EMULATION_SITE) const { return __all_sync(mask_, predicate, site); }
  unsigned ballot(int predicate, GPUOPT_EMULATION_SITE) const {
    return packed(__ballot_sync(mask_, predicate, site), mask_);
  }
  template <class T>
  unsigned match_any(T value, GPUOPT_EMULATION_SITE) const {
    return packed(__match_any_sync(mask_, value, site), mask_);
  }
  template <class T>
  unsigned match_all(T value, int& predicate, GPUOPT_EMULATION_SITE) const {
    const unsigned same = match_any(value, site);
    predicate = all(same == packed(mask_, mask_), site);
    return predicate != 0 ? same : 0;
  }

  unsigned mask() const { return mask_; }

 private:
  unsigned mask_;
};

/// The mask of the `size` neighbouring lanes that hold the calling one, of those that the block has.
inline unsigned tileMask(unsigned size) {
  const unsigned first = lane() / size * size, warpBegin = thread_block::thread_rank() - lane();
  const unsigned present = thread_block::size() - warpBegin;
  const unsigned lanes = size == 32 ? ~0u : ((1u << size) - 1) << first;
  return present >= 32 ? lanes : lanes & ((1u << present) - 1);
}

}  // namespace detail

/// SIZE neighbouring threads of a block, a power of two up to 32.
template <unsigned SIZE, class Parent = void>
class thread_block_tile : public detail::LaneGroup {
  static_assert(SIZE > 0 && SIZE <= 32 && (SIZE & (SIZE - 1)) == 0,
                "the emulated device has tiles of 1, 2, 4, 8, 16 and 32 threads");

 public:
  thread_block_tile() : detail::LaneGroup(detail::tileMask(SIZE)) {}
  template <class Other>
  thread_block_tile(const thread_block_tile<SIZE, Other>&) : thread_block_tile() {}

  template <class T>
  T shfl_xor(T value, unsigned laneMask, GPUOPT_EMULATION_SITE) const {
    return detail::valueOf(mask(), value, detail::lane() ^ (laneMask % SIZE), site);
  }
  static constexpr unsigned size() { return SIZE; }
  static constexpr unsigned num_threads() { return SIZE; }
  static unsigned thread_rank() { return detail::lane() % SIZE; }
  static unsigned meta_group_rank() { return thread_block::thread_rank() / SIZE; }
  static unsigned meta_group_size() { return (thread_block::size() + SIZE - 1) / SIZE; }
};

template <unsigned SIZE, class Parent>
thread_block_tile<SIZE, Parent> tiled_partition(const Parent&) {
  return {};
}

/// Threads that happen to run together.
class coalesced_group : public detail::LaneGroup {
 public:
  using LaneGroup::LaneGroup;
};

/// The calling thread alone: which threads run together is for the hardware to say, and nothing may depend on it.
inline coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

/// The threads of a group with the same predicate, or with the same label.
template <class Group>
coalesced_group binary_partition(const Group& group, bool predicate, GPUOPT_EMULATION_SITE) {
  const unsigned yes = __ballot_sync(group.mask(), predicate, site);
  return coalesced_group(predicate ? yes : group.mask() & ~yes);
}
template <class Group, class Label>
coalesced_group labeled_partition(const Group& group, Label label, GPUOPT_EMULATION_SITE) {
  return coalesced_group(__match_any_sync(group.mask(), label, site));
}

/// A block, or lanes of a warp: which of them is known at run time.
class thread_group {
 public:
  thread_group(const thread_block&) : isBlock_(true), lanes_(0) {}
  thread_group(const detail::LaneGroup& lanes) : isBlock_(false), lanes_(lanes) {}

  void sync(GPUOPT_EMULATION_SITE) const {
    if (isBlock_)
      __syncthreads(site);
    else
      lanes_.sync(site);
  }
  unsigned size() const { return isBlock_ ? thread_block::size() : lanes_.size(); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const { return isBlock_ ? thread_block::thread_rank() : lanes_.thread_rank(); }

 private:
  bool isBlock_;
  detail::LaneGroup lanes_;
};

/// Tiles of `size` threads, a power of two up to 32, of a block or of a larger tile.
inline thread_group tiled_partition(const thread_group&, unsigned size) {
  return detail::LaneGroup(detail::tileMask(size));
}

}  // namespace cooperative_groups

#undef GPUOPT_EMULATION_SITE
