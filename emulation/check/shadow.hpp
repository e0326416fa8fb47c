/// What is known of every byte that kernels touch: its latest accesses, and whether it was written at all.
// SPDX-License-Identifier: MIT
#pragma once

#include "gpuopt_emulation/limits.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

namespace gpuopt::emulation::detail {

enum class AccessWay : std::uint8_t { read, write, volatileRead, volatileWrite, atomicRead, atomicWrite, copy };

inline bool isWrite(AccessWay way) {
  return way != AccessWay::read && way != AccessWay::volatileRead && way != AccessWay::atomicRead;
}
inline bool isAtomic(AccessWay way) { return way == AccessWay::atomicRead || way == AccessWay::atomicWrite; }
inline bool isVolatile(AccessWay way) { return way == AccessWay::volatileRead || way == AccessWay::volatileWrite; }
/// Whether two such accesses to one address at the same time are allowed.
inline bool isStrong(AccessWay way) { return isAtomic(way) || isVolatile(way); }

/// Of few instructions where nobody else holds it.
class SpinLock {
 public:
  void lock() {
    while (isHeld_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() { isHeld_.clear(std::memory_order_release); }

 private:
  std::atomic_flag isHeld_ = ATOMIC_FLAG_INIT;
};

/// An access to bytes of one word. A run is one block of one launch; its clock is that of clocks.hpp.
struct Record {
  std::uint32_t run;  ///< 0: none
  std::uint32_t time;
  std::uint64_t pc : 47;  ///< where the hook returns to
  std::uint64_t lane : 10;
  std::uint64_t mask : 4;  ///< of the word's bytes
  std::uint64_t wayBits : 3;

  Record() : Record(0, 0, 0, 0, AccessWay::read) {}
  Record(std::uint32_t itsRun, std::uint32_t itsTime, std::uintptr_t itsPc, unsigned itsLane, AccessWay itsWay)
      : run(itsRun),
        time(itsTime),
        pc(itsPc & ((std::uintptr_t{1} << 47) - 1)),
        lane(itsLane & (MAX_BLOCK_THREADS - 1)),
        mask(0),
        wayBits(static_cast<unsigned>(itsWay) & 7u) {}
  AccessWay way() const { return static_cast<AccessWay>(wayBits); }
  bool isWrite() const { return detail::isWrite(way()); }
  bool isOf(const Record& other) const { return run == other.run && lane == other.lane; }
};
static_assert(sizeof(Record) == 16, "16 bytes for each byte of memory");

/// How much one reader says of another: 0 for the same thread, 3 for threads of two blocks.
inline unsigned distance(const Record& a, const Record& b) {
  if (a.run != b.run || a.mask != b.mask) return 3;
  return a.lane / 32 != b.lane / 32 ? 2 : a.lane != b.lane ? 1 : 0;
}

/// The latest accesses to a word that are not ordered before another one of them.
class Cell {
 public:
  /// Adds an access. Returns an earlier one that it races with; its run is 0 if there is none.
  template <class IsOrdered, class IsRace>
  Record add(const Record& now, IsOrdered isOrdered, IsRace isRace) {
    Record found;
    Record* slot = nullptr;
    for (Record& old : records_) {
      if (old.run == 0) {
        slot = &old;
        continue;
      }
      if (old.isOf(now) && old.time == now.time && old.wayBits == now.wayBits && old.mask == now.mask) {
        old.pc = now.pc;
        return {};
      }
      const bool ordered = isOrdered(old);
      if (!ordered && (old.mask & now.mask) != 0 && (old.isWrite() || now.isWrite()) && isRace(old, now) &&
          (found.run == 0 || found.isWrite()))
        found = old;
      if (!ordered || !stands(now, old)) continue;
      old = Record();
      slot = &old;
    }
    if (slot == nullptr) slot = leastTelling(now);
    if (slot != nullptr) *slot = now;
    return found;
  }

  /// An access to some of the bytes that is unordered with another one and conflicts with it; its run is 0 if there is
  /// none.
  template <class IsOrdered>
  Record find(const Record& now, IsOrdered isOrdered) const {
    for (const Record& old : records_)
      if (old.run != 0 && (old.mask & now.mask) != 0 && (old.isWrite() || now.isWrite()) && !isOrdered(old)) return old;
    return {};
  }

  /// Ends the asynchronous copies of a thread to this word: what follows them is ordered by its clock.
  void finishCopies(std::uint32_t run, unsigned lane, std::uint32_t time) {
    for (Record& record : records_)
      if (record.run == run && record.lane == lane && record.way() == AccessWay::copy) {
        record.time = time;
        record.wayBits = static_cast<unsigned>(AccessWay::write) & 7u;
      }
  }

 private:
  /// Whether whatever races with an older access races with the one that comes after it, too.
  static bool stands(const Record& now, const Record& old) {
    const bool hidesKind = now.isWrite() || !old.isWrite();
    return (old.mask & ~now.mask) == 0 && hidesKind && (isStrong(old.way()) || !isStrong(now.way()));
  }

  /// Of all reads the one that is nearest to another; null if the new access is a read and all others are writes.
  Record* leastTelling(const Record& now) {
    Record* least = nullptr;
    unsigned nearest = 4;
    for (Record& candidate : records_) {
      if (candidate.isWrite()) continue;
      unsigned own = now.isWrite() ? 3 : distance(candidate, now);
      for (const Record& other : records_)
        if (&other != &candidate && !other.isWrite()) own = (std::min)(own, distance(candidate, other));
      if (own >= nearest) continue;
      nearest = own;
      least = &candidate;
    }
    return least == nullptr && now.isWrite() ? &records_[0] : least;
  }

  std::array<Record, 4> records_;
};
static_assert(sizeof(Cell) == 64);

/// What bytes of a word are besides their accesses: masks.
struct ByteState {
  static constexpr std::uint8_t ALL = 0xF;
  std::uint8_t unwritten;    ///< memory of the device that nothing has written
  std::uint8_t outside : 4;  ///< beside an allocation
  std::uint8_t isHosts : 1;  ///< not a mask: the host can access the word, too

  void add(ByteState other, unsigned mask) {
    unwritten = static_cast<std::uint8_t>(unwritten | (other.unwritten & mask));
    outside = static_cast<std::uint8_t>(outside | (other.outside & mask)) & ALL;
    isHosts = static_cast<std::uint8_t>(isHosts | other.isHosts) & 1;
  }
  void markWritten(unsigned mask) { unwritten = static_cast<std::uint8_t>(unwritten & ~mask); }
};

/// The bytes from an address on, up to the end of its word or of a range.
inline unsigned bytesOfWord(std::uintptr_t address, std::uintptr_t end) {
  const std::uintptr_t stop = (std::min)(address / 4 * 4 + 4, end);
  return ((1u << (stop - address)) - 1u) << address % 4;
}

/// A value for each word of the address space, at first all zeros. The system gives memory to what is touched.
template <class Value>
class WordMap {
 public:
  /// The values of the words from `address` on, up to the next multiple of REGION.
  Value* at(std::uintptr_t address) {
    std::atomic<Value*>& region = regions_[(address / REGION) % REGIONS];
    Value* values = region.load(std::memory_order_acquire);
    if (values == nullptr) values = create(region);
    return values + address % REGION / 4;
  }

  /// Whether values other than zeros are possible at an address.
  bool isUsed(std::uintptr_t address) const { return regions_[(address / REGION) % REGIONS] != nullptr; }

  /// Makes the values of a range zeros again.
  void clear(std::uintptr_t address, std::size_t bytes) {
    constexpr std::size_t PAGE = 4096;
    for (const std::uintptr_t end = address + bytes; address < end;) {
      const std::uintptr_t stop = (std::min)(end, (address / REGION + 1) * REGION);
      auto* const first = reinterpret_cast<unsigned char*>(at(address));
      auto* const last = first + (stop - address + 3) / 4 * sizeof(Value);
      auto* const firstPage = first + (PAGE - reinterpret_cast<std::uintptr_t>(first) % PAGE) % PAGE;
      auto* const lastPage = last - reinterpret_cast<std::uintptr_t>(last) % PAGE;
      if (firstPage < lastPage) {
        std::memset(first, 0, static_cast<std::size_t>(firstPage - first));
        madvise(firstPage, static_cast<std::size_t>(lastPage - firstPage), MADV_DONTNEED);
        std::memset(lastPage, 0, static_cast<std::size_t>(last - lastPage));
      } else {
        std::memset(first, 0, static_cast<std::size_t>(last - first));
      }
      address = stop;
    }
  }

 private:
  static constexpr std::uintptr_t REGION = std::uintptr_t{1} << 30, REGIONS = std::uintptr_t{1} << 17;

  Value* create(std::atomic<Value*>& region) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (region == nullptr) {
      void* const memory = mmap(nullptr, REGION / 4 * sizeof(Value), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (memory == MAP_FAILED) {
        std::fprintf(stderr, "gpuopt emulation: GPUOPT_EMULATION_CHECK: the system gives no address space\n");
        std::abort();
      }
      region = static_cast<Value*>(memory);
    }
    return region;
  }

  std::mutex mutex_;
  std::array<std::atomic<Value*>, REGIONS> regions_{};
};

}  // namespace gpuopt::emulation::detail
