/// \file
/// The cost of a warp's memory access, computed from its index pattern: globalAccess, sharedAccess and asyncCopy.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/core/word.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

/// The active lanes of an access. By default all 32.
struct LaneMask {
  /// Bit i is lane i, as in CUDA's own masks.
  unsigned mask = 0xffffffff;

  /// Lanes 0 to count - 1.
  __host__ __device__ static constexpr LaneMask first(unsigned count) {
    return LaneMask{count < 32 ? (1u << count) - 1 : 0xffffffff};
  }

  /// The lanes for which predicate(lane) is true.
#pragma nv_exec_check_disable
  template <class Predicate>
  __host__ __device__ static constexpr LaneMask where(Predicate predicate) {
    LaneMask lanes{0};
    for (unsigned lane = 0; lane < 32; ++lane)
      if (predicate(lane)) lanes.mask |= 1u << lane;
    return lanes;
  }

  /// Whether a lane is active.
  __host__ __device__ constexpr bool contains(unsigned lane) const { return (mask >> lane & 1) != 0; }
};

/// A warp's access to global memory. Counts are summed over its requests: an element that the compiler splits into
/// several accesses takes as many requests.
struct GlobalAccess {
  static constexpr unsigned LINE = 128;   ///< bytes of a cache line
  static constexpr unsigned SECTOR = 32;  ///< bytes of a sector, the smallest transfer; four make a line

  unsigned requests = 0;         ///< memory instructions
  unsigned lines = 0;            ///< cache lines touched
  unsigned sectors = 0;          ///< sectors touched: the traffic between the lanes and L1
  unsigned bytes = 0;            ///< bytes requested; a request counts bytes that several lanes want once
  unsigned distinctSectors = 0;  ///< sectors that hold the elements: the traffic to L1 if it caches them

  /// The fraction of the transferred bytes that is used, if sectors are transferred: 1 is best. 0 without active lanes.
  __host__ __device__ constexpr double utilisation() const {
    return sectors == 0 ? 0 : static_cast<double>(bytes) / (sectors * SECTOR);
  }

  /// The same if whole lines are transferred, as by compute capability 2 and 3.
  __host__ __device__ constexpr double lineUtilisation() const {
    return lines == 0 ? 0 : static_cast<double>(bytes) / (lines * LINE);
  }

  /// Nsight Compute's l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld (or st).
  __host__ __device__ constexpr double sectorsPerRequest() const {
    return requests == 0 ? 0 : static_cast<double>(sectors) / requests;
  }
};

/// A warp's access to shared memory. Counts are summed over its requests: an element that the compiler splits into
/// several accesses takes as many requests.
struct SharedAccess {
  unsigned requests = 0;    ///< memory instructions
  unsigned phases = 0;      ///< phases that the hardware splits them into: the cost without bank conflicts
  unsigned wavefronts = 0;  ///< passes through shared memory: the cost
  unsigned degree = 0;      ///< of the worst bank conflict: the most words of one bank in one phase

  /// Whether no two lanes of a phase access different words of one bank: the degree is at most 1.
  __host__ __device__ constexpr bool isConflictFree() const { return wavefronts == phases; }

  /// The passes that bank conflicts add: Nsight Compute's l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld (or st).
  __host__ __device__ constexpr unsigned conflicts() const { return wavefronts - phases; }

  /// Passes per request: Nsight Compute's l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld (or st) over the
  /// instructions.
  __host__ __device__ constexpr double wavefrontsPerRequest() const {
    return requests == 0 ? 0 : static_cast<double>(wavefronts) / requests;
  }
};

/// A warp's asynchronous copy from global to shared memory. Counts are summed over its requests.
struct AsyncCopy {
  unsigned requests = 0;         ///< memory instructions
  unsigned wavefronts = 0;       ///< passes through shared memory: the cost
  unsigned idealWavefronts = 0;  ///< the passes of as many bytes at best: one for 128 bytes

  /// Whether no request takes more passes than its bytes need.
  __host__ __device__ constexpr bool isIdeal() const { return wavefronts == idealWavefronts; }
};

namespace detail {

// A set of up to CAPACITY numbers, hashed into BANKS by their remainders.
template <unsigned CAPACITY, unsigned BANKS = 32>
class DistinctNumbers {
 public:
  __host__ __device__ constexpr void insert(std::size_t number) {
    const auto bank = static_cast<unsigned>(number % BANKS);
    unsigned* link = first_ + bank;
    for (; *link != 0; link = next_ + *link)
      if (numbers_[*link] == number) return;
    *link = ++size_;
    numbers_[size_] = number;
    if (++inBank_[bank] > fullest_) fullest_ = inBank_[bank];
  }

  __host__ __device__ constexpr unsigned size() const { return size_; }

  // The size of the fullest bank.
  __host__ __device__ constexpr unsigned fullest() const { return fullest_; }

 private:
  // Linked lists of indices into numbers_, one list per bank. Index 0 ends a list.
  std::size_t numbers_[CAPACITY + 1] = {};
  unsigned next_[CAPACITY + 1] = {};
  unsigned first_[BANKS] = {};
  unsigned inBank_[BANKS] = {};
  unsigned size_ = 0;
  unsigned fullest_ = 0;
};

// Not constexpr: at compile time the analysis stops here, and the compiler's error names this function.
__host__ __device__ inline void accessIsNotAlignedToItsSize() {
#if defined(__CUDA_ARCH__)
  __trap();
#else
  throwInvalid({"gpuopt: an access is not aligned to its size"});
#endif
}

// The address of each lane's element: base + stride * pattern(lane), modulo 2^64, so that negative indices work.
struct WarpAddresses {
  LaneMask lanes;
  std::size_t ofLane[32] = {};

#pragma nv_exec_check_disable
  template <class Pattern>
  __host__ __device__ constexpr WarpAddresses(const Pattern& pattern, std::size_t stride, std::size_t base,
                                              LaneMask activeLanes)
      : lanes(activeLanes) {
    static_assert(std::is_invocable_v<const Pattern&, unsigned>,
                  "gpuopt: an access pattern is a function of the lane, pattern(unsigned)");
    if constexpr (std::is_invocable_v<const Pattern&, unsigned>) {
      static_assert(std::is_integral_v<std::decay_t<std::invoke_result_t<const Pattern&, unsigned>>>,
                    "gpuopt: an access pattern gives integers: indices of elements, or byte addresses");
      for (unsigned lane = 0; lane < 32; ++lane)
        if (lanes.contains(lane)) ofLane[lane] = base + stride * static_cast<std::size_t>(pattern(lane));
    }
  }
};

// Adds one request: each active lane accesses ACCESS bytes at `offset` within its element.
template <unsigned ACCESS>
__host__ __device__ constexpr void addRequest(GlobalAccess& access, const WarpAddresses& warp, std::size_t offset) {
  DistinctNumbers<32> lines, sectors, accesses;  // an aligned access crosses no sector boundary
  for (unsigned lane = 0; lane < 32; ++lane)
    if (warp.lanes.contains(lane)) {
      const std::size_t address = warp.ofLane[lane] + offset;
      lines.insert(address / GlobalAccess::LINE);
      sectors.insert(address / GlobalAccess::SECTOR);
      accesses.insert(address / ACCESS);
    }
  access.requests += accesses.size() > 0;
  access.lines += lines.size();
  access.sectors += sectors.size();
  access.bytes += accesses.size() * ACCESS;
}

// The number of banks if a bank were as wide as an access: aligned accesses of 8 or 16 bytes overlap in all of their
// banks or in none. Also the lanes of a phase.
template <unsigned ACCESS>
inline constexpr unsigned widestBanks = ACCESS < 4 ? 32 : 128 / ACCESS;

// Adds one request, split into phases of LANES lanes.
template <unsigned ACCESS, unsigned LANES>
__host__ __device__ constexpr void addPhases(SharedAccess& access, const WarpAddresses& warp, std::size_t offset) {
  constexpr unsigned WORD = ACCESS < 4 ? 4 : ACCESS;
  access.requests += warp.lanes.mask != 0;
  for (unsigned begin = 0; begin < 32; begin += LANES) {
    DistinctNumbers<LANES, widestBanks<ACCESS>> words;
    for (unsigned lane = begin; lane < begin + LANES; ++lane)
      if (warp.lanes.contains(lane)) words.insert((warp.ofLane[lane] + offset) / WORD);
    access.phases += words.size() > 0;
    access.wavefronts += words.fullest();
    if (words.fullest() > access.degree) access.degree = words.fullest();
  }
}

template <unsigned ACCESS>
__host__ __device__ constexpr void addRequest(SharedAccess& access, const WarpAddresses& warp, std::size_t offset) {
  addPhases<ACCESS, widestBanks<ACCESS>>(access, warp, offset);
}

// Loads can be cheaper than stores.
struct SharedLoad : SharedAccess {};

// Whether in every pair of lanes that differ in this bit, both access the same element or one is inactive.
__host__ __device__ constexpr bool pairsAgree(const WarpAddresses& warp, unsigned bit) {
  for (unsigned lane = 0; lane < 32; ++lane)
    if (warp.lanes.contains(lane) && warp.lanes.contains(lane ^ bit) && warp.ofLane[lane] != warp.ofLane[lane ^ bit])
      return false;
  return true;
}

template <unsigned ACCESS>
__host__ __device__ constexpr void addRequest(SharedLoad& access, const WarpAddresses& warp, std::size_t offset) {
  constexpr unsigned LANES = widestBanks<ACCESS>;
  if (LANES < 32 && (pairsAgree(warp, 1) || pairsAgree(warp, 2)))
    addPhases<ACCESS, (LANES < 32 ? 2 * LANES : LANES)>(access, warp, offset);
  else
    addPhases<ACCESS, LANES>(access, warp, offset);
}

// What the vectors of 16 bytes have in common that one pass of an asynchronous copy moves.
struct CopyPass {
  std::size_t line;  // of global memory
  std::size_t row;   // of shared memory: 128 bytes
  unsigned twist;    // lowest two bits of the XOR of a vector's indices in the line and in the row
  unsigned halves;   // of a sector: the first (1), the second (2), both (3)
  unsigned repeat;   // how often the row has got the vector before: a pass reads it for one place

  __host__ __device__ constexpr bool operator==(const CopyPass& other) const {
    return line == other.line && row == other.row && twist == other.twist && halves == other.halves &&
           repeat == other.repeat;
  }
};

__host__ __device__ constexpr CopyPass copyPassOf(unsigned lane, const WarpAddresses& shared,
                                                  const WarpAddresses& global, std::size_t offset) {
  const std::size_t to = shared.ofLane[lane] + offset, from = global.ofLane[lane] + offset;
  CopyPass pass{from / 128, to / 128, static_cast<unsigned>((to ^ from) / 16 % 4), 1u << from / 16 % 2, 0};
  for (unsigned i = 0; i < 32; ++i) {
    if (!shared.lanes.contains(i)) continue;
    const std::size_t otherTo = shared.ofLane[i] + offset, otherFrom = global.ofLane[i] + offset;
    if (otherTo == (to ^ 16) && otherFrom == (from ^ 16)) pass.halves = 3;
    pass.repeat +=
        i < lane && otherFrom == from && otherTo != to && otherTo / 128 == to / 128 && (otherTo ^ to) / 16 % 4 == 0;
  }
  return pass;
}

// The passes of a request for 16 bytes a lane. They bypass L1, and come from L2 by sectors.
__host__ __device__ constexpr unsigned passesPastCache(const WarpAddresses& shared, const WarpAddresses& global,
                                                       std::size_t offset) {
  CopyPass passes[32] = {};
  unsigned count = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!shared.lanes.contains(lane)) continue;
    passes[count] = copyPassOf(lane, shared, global, offset);
    unsigned same = 0;
    while (!(passes[same] == passes[count])) ++same;
    count += same == count;
  }
  return count;
}

// The same for 4 or 8 bytes a lane. They are read from L1, which has the banks of shared memory, but reads a word for
// one lane only.
template <unsigned ACCESS>
__host__ __device__ constexpr unsigned passesThroughCache(const WarpAddresses& shared, const WarpAddresses& global,
                                                          std::size_t offset) {
  SharedAccess written;
  addRequest<ACCESS>(written, shared, offset);
  unsigned read = 0;
  constexpr unsigned LANES = widestBanks<ACCESS>;
  for (unsigned begin = 0; begin < 32; begin += LANES) {
    unsigned lanesOfBank[LANES] = {};
    unsigned maxLanes = 0;
    for (unsigned lane = begin; lane < begin + LANES; ++lane) {
      if (!global.lanes.contains(lane)) continue;
      const unsigned lanes = ++lanesOfBank[(global.ofLane[lane] + offset) / ACCESS % LANES];
      if (lanes > maxLanes) maxLanes = lanes;
    }
    read += maxLanes;
  }
  return written.wavefronts > read ? written.wavefronts : read;
}

template <unsigned ACCESS>
__host__ __device__ constexpr void addCopy(AsyncCopy& copy, const WarpAddresses& shared, const WarpAddresses& global,
                                           std::size_t offset) {
  DistinctNumbers<32> written;
  for (unsigned lane = 0; lane < 32; ++lane)
    if (shared.lanes.contains(lane)) written.insert((shared.ofLane[lane] + offset) / ACCESS);
  copy.requests += written.size() > 0;
  copy.idealWavefronts += (written.size() * ACCESS + 127) / 128;
  if constexpr (ACCESS == 16)
    copy.wavefronts += passesPastCache(shared, global, offset);
  else
    copy.wavefronts += passesThroughCache<ACCESS>(shared, global, offset);
}

// Adds the requests for elements of SIZE bytes, ACCESS bytes at a time.
template <std::size_t SIZE, unsigned ACCESS, class Access>
__host__ __device__ constexpr void addElements(Access& access, const WarpAddresses& warp) {
  constexpr bool IS_ACCESS = ACCESS == 1 || ACCESS == 2 || ACCESS == 4 || ACCESS == 8 || ACCESS == 16;
  static_assert(IS_ACCESS, "gpuopt: an access has 1, 2, 4, 8 or 16 bytes");
  static_assert(!IS_ACCESS || SIZE % ACCESS == 0, "gpuopt: an element consists of whole accesses");
  if constexpr (IS_ACCESS) {
    for (unsigned lane = 0; lane < 32; ++lane)
      if (warp.ofLane[lane] % ACCESS != 0) accessIsNotAlignedToItsSize();
    for (std::size_t offset = 0; offset < SIZE; offset += ACCESS) addRequest<ACCESS>(access, warp, offset);
  }
}

template <std::size_t SIZE, unsigned ACCESS>
__host__ __device__ constexpr GlobalAccess analyseGlobal(const WarpAddresses& warp) {
  GlobalAccess access;
  addElements<SIZE, ACCESS>(access, warp);
  DistinctNumbers<32 * (SIZE / GlobalAccess::SECTOR + 2)> sectors;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (std::size_t offset = 0; offset < SIZE && warp.lanes.contains(lane); offset += ACCESS)
      sectors.insert((warp.ofLane[lane] + offset) / GlobalAccess::SECTOR);
  access.distinctSectors = sectors.size();
  return access;
}

template <std::size_t SIZE, unsigned ACCESS, class Access>
__host__ __device__ constexpr SharedAccess analyseShared(const WarpAddresses& warp) {
  Access access;
  addElements<SIZE, ACCESS>(access, warp);
  return access;
}

template <std::size_t SIZE, unsigned ACCESS>
__host__ __device__ constexpr AsyncCopy analyseCopy(const WarpAddresses& shared, const WarpAddresses& global) {
  constexpr bool IS_COPY = ACCESS == 4 || ACCESS == 8 || ACCESS == 16;
  static_assert(IS_COPY, "gpuopt: an asynchronous copy has 4, 8 or 16 bytes");
  static_assert(!IS_COPY || SIZE % ACCESS == 0, "gpuopt: an element consists of whole accesses");
  AsyncCopy copy;
  if constexpr (IS_COPY) {
    for (unsigned lane = 0; lane < 32; ++lane)
      if ((shared.ofLane[lane] | global.ofLane[lane]) % ACCESS != 0) accessIsNotAlignedToItsSize();
    for (std::size_t offset = 0; offset < SIZE; offset += ACCESS) addCopy<ACCESS>(copy, shared, global, offset);
  }
  return copy;
}

// Bytes of the widest access to elements of type T.
template <class T>
inline constexpr auto widestAccess = static_cast<unsigned>(minAlignment<T>);

}  // namespace detail

/// Analyses a warp whose lanes each load or store element pattern(lane) of an array of T in global memory. The pattern
/// maps a lane to an integer and is called for the active `lanes` only. The array begins `base` bytes after a line
/// boundary; memory from cudaMalloc begins at one.
///
/// ACCESS is the width of one access in bytes. The default is the widest, up to 16, that size and alignment of T allow.
/// An element of several accesses takes as many requests: a float3 takes three of 4 bytes. Pass ACCESS where your code
/// accesses less: 4 for a float4 that is read member by member.
///
/// Requirements: elements are aligned to ACCESS. Otherwise a constant expression does not compile, the host throws
/// std::invalid_argument, and the device traps. The active lanes are taken to be converged.
///
/// Source of the rules: CUDA C++ Programming Guide, compute capabilities 5.0 and later.
template <class T, unsigned ACCESS = detail::widestAccess<T>, class Pattern>
__host__ __device__ constexpr GlobalAccess globalAccess(const Pattern& pattern, LaneMask lanes = {},
                                                        std::size_t base = 0) {
  return detail::analyseGlobal<sizeof(T), ACCESS>({pattern, sizeof(T), base, lanes});
}

/// The same for accesses of BYTES (1, 2, 4, 8 or 16) bytes at byte address address(lane).
template <unsigned BYTES, class Address>
__host__ __device__ constexpr GlobalAccess globalAccess(const Address& address, LaneMask lanes = {}) {
  return detail::analyseGlobal<BYTES, BYTES>({address, 1, 0, lanes});
}

/// Analyses a warp whose lanes each load or store element pattern(lane) of an array of T in shared memory. Parameters,
/// ACCESS and requirements are those of globalAccess; the array begins `base` bytes after a multiple of 128 bytes in
/// shared memory.
///
/// 4-byte word w is in bank w % 32. In one pass (wavefront) a bank serves one word, to all lanes that access it.
/// Accesses of up to 4 bytes take one phase of 32 lanes, of 8 bytes two phases of 16 lanes, of 16 bytes four phases of
/// 8 lanes. The passes of a phase are the degree of its bank conflict: the most different words of one bank.
///
/// Exact for stores, an upper bound for loads: see sharedLoad.
template <class T, unsigned ACCESS = detail::widestAccess<T>, class Pattern>
__host__ __device__ constexpr SharedAccess sharedAccess(const Pattern& pattern, LaneMask lanes = {},
                                                        std::size_t base = 0) {
  return detail::analyseShared<sizeof(T), ACCESS, SharedAccess>({pattern, sizeof(T), base, lanes});
}

/// The same for accesses of BYTES (1, 2, 4, 8 or 16) bytes at byte address address(lane).
template <unsigned BYTES, class Address>
__host__ __device__ constexpr SharedAccess sharedAccess(const Address& address, LaneMask lanes = {}) {
  return detail::analyseShared<BYTES, BYTES, SharedAccess>({address, 1, 0, lanes});
}

/// sharedAccess for loads. The hardware merges two phases into one if in all pairs of lanes i and i ^ 1, or in all
/// pairs i and i ^ 2, both read the same 8 or 16 bytes or one is inactive; the passes and the degree are then those of
/// the merged phase. Never more than sharedAccess. T, ACCESS, `pattern`, `lanes` and `base` are those of sharedAccess.
///
/// Source of the rule: NVIDIA on compute capability 7.x; an H200's counters agree (docs/access.md).
template <class T, unsigned ACCESS = detail::widestAccess<T>, class Pattern>
__host__ __device__ constexpr SharedAccess sharedLoad(const Pattern& pattern, LaneMask lanes = {},
                                                      std::size_t base = 0) {
  return detail::analyseShared<sizeof(T), ACCESS, detail::SharedLoad>({pattern, sizeof(T), base, lanes});
}

/// The same for loads of BYTES (1, 2, 4, 8 or 16) bytes at byte address address(lane).
template <unsigned BYTES, class Address>
__host__ __device__ constexpr SharedAccess sharedLoad(const Address& address, LaneMask lanes = {}) {
  return detail::analyseShared<BYTES, BYTES, detail::SharedLoad>({address, 1, 0, lanes});
}

/// Analyses a warp whose lanes each copy an element from global to shared memory asynchronously (`cp.async`,
/// `__pipeline_memcpy_async`): element global(lane) of an array of T in global memory becomes element shared(lane) of
/// an array in shared memory. The arrays begin `globalBase` and `sharedBase` bytes after a multiple of 128 bytes.
/// ACCESS is 4, 8 or 16; other parameters and requirements are those of globalAccess, which counts the sectors.
///
/// Copies of 16 bytes bypass L1. One pass moves vectors of 16 bytes from one 128-byte line to one 128-byte row of
/// shared memory: whole sectors, or the same half of sectors, and only vectors whose indices in the line and in the row
/// differ in the same of their lowest two bits. So it is best if both addresses are equal modulo 128. Copies of 4 and 8
/// bytes take the passes of the larger bank conflict, of the addresses in shared memory or of those in global memory,
/// where lanes that read the same word conflict, too; more if both conflict.
///
/// Source of the rules: an H200's counters (docs/access.md).
template <class T, unsigned ACCESS = detail::widestAccess<T>, class Shared, class Global>
__host__ __device__ constexpr AsyncCopy asyncCopy(const Shared& shared, const Global& global, LaneMask lanes = {},
                                                  std::size_t sharedBase = 0, std::size_t globalBase = 0) {
  return detail::analyseCopy<sizeof(T), ACCESS>({shared, sizeof(T), sharedBase, lanes},
                                                {global, sizeof(T), globalBase, lanes});
}

/// The same for copies of BYTES (4, 8 or 16) bytes from byte address global(lane) to byte address shared(lane).
template <unsigned BYTES, class Shared, class Global>
__host__ __device__ constexpr AsyncCopy asyncCopy(const Shared& shared, const Global& global, LaneMask lanes = {}) {
  return detail::analyseCopy<BYTES, BYTES>({shared, 1, 0, lanes}, {global, 1, 0, lanes});
}

GPUOPT_NAMESPACE_END
