/// \file
/// What an access of a warp costs, worked out from its pattern: globalAccess and sharedAccess.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/core/word.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

/// The lanes of a warp that take part in an access: all of them, unless said otherwise.
struct LaneMask {
  /// One bit for each lane, that of lane 0 lowest, as in the masks of CUDA's own functions.
  unsigned mask = 0xffffffff;

  /// Lanes 0 to count - 1.
  __host__ __device__ static constexpr LaneMask first(unsigned count) {
    return LaneMask{count < 32 ? (1u << count) - 1 : 0xffffffff};
  }

  /// Those for which predicate(lane) holds.
#pragma nv_exec_check_disable
  template <class Predicate>
  __host__ __device__ static constexpr LaneMask where(Predicate predicate) {
    LaneMask lanes{0};
    for (unsigned lane = 0; lane < 32; ++lane)
      if (predicate(lane)) lanes.mask |= 1u << lane;
    return lanes;
  }

  /// Whether a lane takes part.
  __host__ __device__ constexpr bool contains(unsigned lane) const { return (mask >> lane & 1) != 0; }
};

/// What an access of a warp to global memory touches. Counts are sums over the requests; an element takes one
/// request for each access that the compiler makes of it.
struct GlobalAccess {
  static constexpr unsigned LINE = 128;   ///< bytes of a cache line
  static constexpr unsigned SECTOR = 32;  ///< bytes of a sector, the least that moves; a line has four

  unsigned requests = 0;         ///< instructions that access memory
  unsigned lines = 0;            ///< lines touched
  unsigned sectors = 0;          ///< sectors touched: what moves between the lanes and L1
  unsigned bytes = 0;            ///< bytes that lanes ask for, each counted once a request
  unsigned distinctSectors = 0;  ///< sectors that hold the elements: what L1 fetches if it keeps them

  /// The share of the bytes moved that is used, where sectors move: 1 is best. 0 if no lane takes part.
  __host__ __device__ constexpr double utilisation() const { return share(sectors * SECTOR); }

  /// The same where whole lines move, as on devices of compute capability 2 and 3.
  __host__ __device__ constexpr double lineUtilisation() const { return share(lines * LINE); }

  /// What Nsight Compute shows as l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld (or st).
  __host__ __device__ constexpr double sectorsPerRequest() const {
    return requests == 0 ? 0 : static_cast<double>(sectors) / requests;
  }

 private:
  __host__ __device__ constexpr double share(unsigned moved) const {
    return moved == 0 ? 0 : static_cast<double>(bytes) / moved;
  }
};

/// What an access of a warp to shared memory costs. Counts are sums over the requests; an element takes one
/// request for each access that the compiler makes of it.
struct SharedAccess {
  unsigned requests = 0;    ///< instructions that access memory
  unsigned phases = 0;      ///< parts that the hardware splits them into: the cost without conflicts
  unsigned wavefronts = 0;  ///< passes through shared memory: the cost
  unsigned degree = 0;      ///< of the worst conflict: the most words that one phase wants of one bank

  /// Whether no two lanes of a phase want different words of a bank: the degree is 1.
  __host__ __device__ constexpr bool isConflictFree() const { return wavefronts == phases; }

  /// Passes that conflicts add: Nsight Compute's l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld (or
  /// st).
  __host__ __device__ constexpr unsigned conflicts() const { return wavefronts - phases; }

  /// The passes of one request: its l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld over the instructions.
  __host__ __device__ constexpr double wavefrontsPerRequest() const {
    return requests == 0 ? 0 : static_cast<double>(wavefronts) / requests;
  }
};

namespace detail {

// Up to CAPACITY different numbers, sorted into BANKS by their remainders.
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

  // How many the fullest bank has.
  __host__ __device__ constexpr unsigned fullest() const { return fullest_; }

 private:
  // Lists of the numbers' places, which count from 1; 0 ends a list.
  std::size_t numbers_[CAPACITY + 1] = {};
  unsigned next_[CAPACITY + 1] = {};
  unsigned first_[BANKS] = {};
  unsigned inBank_[BANKS] = {};
  unsigned size_ = 0;
  unsigned fullest_ = 0;
};

// Not a constant expression: an analysis at compile time ends here, and the compiler shows the name.
__host__ __device__ inline void accessIsNotAlignedToItsSize() {
#if defined(__CUDA_ARCH__)
  __trap();
#else
  throwInvalid({"gpuopt: an access is not aligned to its size"});
#endif
}

// Where the elements of a warp begin: at base + stride * pattern(lane). Negative answers of the pattern count
// back from 2^64, as in the arithmetic of pointers.
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

// Adds one request: of every lane the ACCESS bytes at `offset` of its element.
template <unsigned ACCESS>
__host__ __device__ constexpr void addRequest(GlobalAccess& access, const WarpAddresses& warp,
                                              std::size_t offset) {
  DistinctNumbers<32> lines, sectors, accesses;  // an access lies in one line and in one sector
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

// Banks as wide as an access: aligned accesses of two or four words share all of their banks or none. As many
// lanes are served at once.
template <unsigned ACCESS>
inline constexpr unsigned widestBanks = ACCESS < 4 ? 32 : 128 / ACCESS;

// Adds one request that is split into phases of LANES lanes each.
template <unsigned ACCESS, unsigned LANES>
__host__ __device__ constexpr void addPhases(SharedAccess& access, const WarpAddresses& warp,
                                             std::size_t offset) {
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
__host__ __device__ constexpr void addRequest(SharedAccess& access, const WarpAddresses& warp,
                                              std::size_t offset) {
  addPhases<ACCESS, widestBanks<ACCESS>>(access, warp, offset);
}

// What loads cost, which may be less.
struct SharedLoad : SharedAccess {};

// Whether of all pairs of lanes that differ in this bit, both want the same, or one wants nothing.
__host__ __device__ constexpr bool pairsAgree(const WarpAddresses& warp, unsigned bit) {
  for (unsigned lane = 0; lane < 32; ++lane)
    if (warp.lanes.contains(lane) && warp.lanes.contains(lane ^ bit) &&
        warp.ofLane[lane] != warp.ofLane[lane ^ bit])
      return false;
  return true;
}

template <unsigned ACCESS>
__host__ __device__ constexpr void addRequest(SharedLoad& access, const WarpAddresses& warp,
                                              std::size_t offset) {
  constexpr unsigned LANES = widestBanks<ACCESS>;
  if (LANES < 32 && (pairsAgree(warp, 1) || pairsAgree(warp, 2)))
    addPhases<ACCESS, (LANES < 32 ? 2 * LANES : LANES)>(access, warp, offset);
  else
    addPhases<ACCESS, LANES>(access, warp, offset);
}

// Elements of SIZE bytes, by accesses of ACCESS bytes each.
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

// The sectors that hold the elements.
template <std::size_t SIZE, unsigned ACCESS>
__host__ __device__ constexpr unsigned sectorsOf(const WarpAddresses& warp) {
  DistinctNumbers<32 * (SIZE / GlobalAccess::SECTOR + 2)> sectors;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (std::size_t offset = 0; offset < SIZE && warp.lanes.contains(lane); offset += ACCESS)
      sectors.insert((warp.ofLane[lane] + offset) / GlobalAccess::SECTOR);
  return sectors.size();
}

template <std::size_t SIZE, unsigned ACCESS>
__host__ __device__ constexpr GlobalAccess analyseGlobal(const WarpAddresses& warp) {
  GlobalAccess access;
  addElements<SIZE, ACCESS>(access, warp);
  access.distinctSectors = sectorsOf<SIZE, ACCESS>(warp);
  return access;
}

template <std::size_t SIZE, unsigned ACCESS, class Access>
__host__ __device__ constexpr SharedAccess analyseShared(const WarpAddresses& warp) {
  Access access;
  addElements<SIZE, ACCESS>(access, warp);
  return access;
}

// The widest access to elements of T.
template <class T>
inline constexpr auto widestAccess = static_cast<unsigned>(leastAlignment<T>);

}  // namespace detail

/// What a warp touches when each lane loads or stores the element pattern(lane) of an array of T in global
/// memory. The pattern is a function of the lane that gives an integer; it is called for `lanes` only. The
/// array begins `base` bytes from where a line does: memory from cudaMalloc begins where a line does.
///
/// An access has ACCESS bytes: unless said otherwise as many as alignment and size of T allow, up to 16. An
/// element of several accesses takes as many requests, one after another: a float3 takes three of 4 bytes.
/// Pass ACCESS where code does otherwise: 4 for the members of a float4, one by one.
///
/// Requirements: the elements are aligned to ACCESS. In a constant expression others do not compile; at run
/// time they throw std::invalid_argument on the host and trap on the device. All lanes of an access are taken
/// to access at once, as they do unless they diverged.
///
/// Source of the rules: CUDA C++ Programming Guide, compute capabilities 5.0 and later.
template <class T, unsigned ACCESS = detail::widestAccess<T>, class Pattern>
__host__ __device__ constexpr GlobalAccess globalAccess(const Pattern& pattern, LaneMask lanes = {},
                                                        std::size_t base = 0) {
  return detail::analyseGlobal<sizeof(T), ACCESS>({pattern, sizeof(T), base, lanes});
}

/// The same for accesses of BYTES bytes, 1, 2, 4, 8 or 16, at the byte addresses address(lane).
template <unsigned BYTES, class Address>
__host__ __device__ constexpr GlobalAccess globalAccess(const Address& address, LaneMask lanes = {}) {
  return detail::analyseGlobal<BYTES, BYTES>({address, 1, 0, lanes});
}

/// What it costs when each lane loads or stores the element pattern(lane) of an array of T in shared memory.
/// Parameters, ACCESS and requirements are those of globalAccess; `base` counts from the beginning of shared
/// memory, or from any multiple of 128 bytes in it.
///
/// 4-byte word w lies in bank w % 32. A bank serves one word at a time, to all lanes that want it. Narrow
/// accesses and those of 4 bytes are one phase; accesses of 8 bytes are two, for 16 lanes each, and of 16
/// bytes four, for 8 lanes each. A phase takes as many passes (wavefronts) as the most different words that
/// it wants of one bank: that is the degree of the conflict.
///
/// That holds for stores, and for loads that save nothing: see sharedLoad.
template <class T, unsigned ACCESS = detail::widestAccess<T>, class Pattern>
__host__ __device__ constexpr SharedAccess sharedAccess(const Pattern& pattern, LaneMask lanes = {},
                                                        std::size_t base = 0) {
  return detail::analyseShared<sizeof(T), ACCESS, SharedAccess>({pattern, sizeof(T), base, lanes});
}

/// The same for accesses of BYTES bytes, 1, 2, 4, 8 or 16, at the byte addresses address(lane).
template <unsigned BYTES, class Address>
__host__ __device__ constexpr SharedAccess sharedAccess(const Address& address, LaneMask lanes = {}) {
  return detail::analyseShared<BYTES, BYTES, SharedAccess>({address, 1, 0, lanes});
}

/// sharedAccess for loads, with what they save: if of all pairs of lanes i and i ^ 1, or of all pairs i and
/// i ^ 2, both read the same 8 or 16 bytes or one reads nothing, then two phases go as one, and take as many
/// passes as the most words that both together want of one bank. Never more than sharedAccess says. T,
/// ACCESS, `pattern`, `lanes` and `base` as there.
///
/// Source of the rule: NVIDIA on compute capability 7.x; an H200's counters agree (docs/access.md).
template <class T, unsigned ACCESS = detail::widestAccess<T>, class Pattern>
__host__ __device__ constexpr SharedAccess sharedLoad(const Pattern& pattern, LaneMask lanes = {},
                                                      std::size_t base = 0) {
  return detail::analyseShared<sizeof(T), ACCESS, detail::SharedLoad>({pattern, sizeof(T), base, lanes});
}

/// The same for loads of BYTES bytes, 1, 2, 4, 8 or 16, at the byte addresses address(lane).
template <unsigned BYTES, class Address>
__host__ __device__ constexpr SharedAccess sharedLoad(const Address& address, LaneMask lanes = {}) {
  return detail::analyseShared<BYTES, BYTES, detail::SharedLoad>({address, 1, 0, lanes});
}

GPUOPT_NAMESPACE_END
