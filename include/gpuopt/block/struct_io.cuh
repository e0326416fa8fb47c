/// \file
/// Arrays of structures at the speed of a copy, in a user's own kernel: StagedStructs.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/thread/const_like.cuh>
#include <gpuopt/thread/vector.cuh>
#include <gpuopt/thread/word.cuh>
#include <gpuopt/warp/exchange.cuh>
#include <gpuopt/warp/shuffle.cuh>
#include <gpuopt/warp/struct_tile.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gpuopt {

/// How structures move between an array and the threads that own them.
enum class AccessWay {
  direct,    ///< each thread accesses its own: right where that is one access a thread, and slow elsewhere
  tile,      ///< through a warp's tile in shared memory: any type, the speed of a copy
  exchange,  ///< through shuffles, without shared memory: whole words (sizes and alignments of 4 bytes)
};

namespace detail {

// Structures a thread at a time. Of those that are words, what fills a vector; of others, what fills whole
// words, and enough for small blocks (64 threads) to be worth their launch; one where that takes a thread
// more than 128 bytes.
template <class T>
constexpr unsigned itemsOf() {
  if (isWord<T>) return static_cast<unsigned>(16 / sizeof(T));
  unsigned items = 1;
  while (64 * sizeof(T) * items < 1344 || sizeof(T) * items % 4 != 0) ++items;
  return items == 1 || sizeof(T) * items <= 128 ? items : 1;
}

// Threads of a block that reads and writes so many bytes a thread: 64, but enough for 2.6 KB. Devices start
// at most 1.66e9 blocks a second (trial kernels, H200).
constexpr unsigned structBlock(std::size_t bytes) {
  unsigned threads = 64;
  while (threads < 256 && threads * bytes < 2688) threads *= 2;
  return threads;
}

// The share of shared memory in the on-chip memory, in per cent, that kernels with tiles ask for. What the
// driver would choose leaves many sizes at 0.93 to 0.95 of the copy; with this they reach 0.98 (trial
// kernels, H200).
inline constexpr int structCarveout = 58;

}  // namespace detail

/// How a T is loaded and stored, and how many structures a thread takes at a time: ITEMS, or as many as suit
/// the type where ITEMS is 0. The host functions use AccessPlan<T>, StagedStructs<T, BLOCK, ITEMS>
/// AccessPlan<T, ITEMS>. Specialise it for a type of your own (and any ITEMS), or pass StagedStructs another
/// class with these three members.
///
/// Direct where what a thread takes is one access of 1, 2, 4, 8 or 16 bytes, by its type's alignment, a tile
/// for everything else. Read, modify and write by trial kernels, H200, ratio to the best copy, direct and
/// tile: 12 bytes 0.957 and 0.945 (with several structures a thread 0.99), 16 (aligned) 0.998 and 1.0, 20
/// 0.97 and 0.985, 28 0.31 and 0.98, 64 0.17 and 0.975, 128 0.34 (aligned) and 0.977.
template <class T, unsigned ITEMS = 0>
struct AccessPlan {
  static constexpr unsigned items = ITEMS == 0 ? detail::itemsOf<T>() : ITEMS;
  static constexpr AccessWay load =
      detail::isWord<T> && (items * sizeof(T) == detail::widestWord<items * sizeof(T)>) ? AccessWay::direct
                                                                                        : AccessWay::tile;
  static constexpr AccessWay store = load;
};

namespace detail {

// Bytes between global memory and a local object, by words as wide as WORD.
template <unsigned BYTES, unsigned WORD>
__device__ inline void readWords(const unsigned char* global, void* bytes) {
#pragma unroll(BYTES / WORD <= 256 ? BYTES / WORD : 1)
  for (unsigned i = 0; i < BYTES / WORD; ++i) {
    const auto word = reinterpret_cast<const Word<WORD>*>(global)[i];
    __builtin_memcpy(static_cast<unsigned char*>(bytes) + i * WORD, &word, WORD);
  }
}

template <unsigned BYTES, unsigned WORD>
__device__ inline void writeWords(unsigned char* global, const void* bytes) {
#pragma unroll(BYTES / WORD <= 256 ? BYTES / WORD : 1)
  for (unsigned i = 0; i < BYTES / WORD; ++i) {
    Word<WORD> word;
    __builtin_memcpy(&word, static_cast<const unsigned char*>(bytes) + i * WORD, WORD);
    storeWord<WORD>(global + i * WORD, word);
  }
}

// Room for a T, which need not be one that can be constructed.
template <class T>
union StructSlot {
  unsigned char bytes[sizeof(T)];
  T value;

  __device__ StructSlot() : bytes{} {}
};

// The calling block's number among those of a grid of one, two or three dimensions, and how many they are.
__device__ inline std::size_t blockRank() {
  return blockIdx.x + std::size_t{gridDim.x} * (blockIdx.y + std::size_t{gridDim.y} * blockIdx.z);
}
__device__ inline std::size_t gridSize() { return std::size_t{gridDim.x} * gridDim.y * gridDim.z; }

// What a range-based for loop takes.
struct TilesEnd {};

template <class Iterator>
struct TileRange {
  Iterator first;

  __device__ Iterator begin() const { return first; }
  __device__ TilesEnd end() const { return {}; }
};

// Shared memory for the tiles of a block's warps.
template <unsigned BYTES>
struct WarpTiles {
  alignas(16) unsigned char bytes[BYTES];

  __device__ unsigned char* at(unsigned place) { return bytes + place; }
};
template <>
struct WarpTiles<0> {
  __device__ unsigned char* at(unsigned) { return nullptr; }
};

// How much a block takes of an array at a time, and which shared memory it needs for that.
template <class T, unsigned BLOCK, unsigned ITEMS>
struct StructTileShape {
  static_assert(std::is_trivially_copyable_v<T>,
                "gpuopt: structures move as bytes, so their type must be trivially copyable");
  static_assert(BLOCK >= 1 && BLOCK <= 1024, "gpuopt: BLOCK, the threads of a block, must be 1 to 1024");
  static_assert(ITEMS >= 1, "gpuopt: ITEMS, the structures of a thread, must be at least 1");
  static constexpr std::size_t STRUCTS = std::size_t{BLOCK} * ITEMS;
  static constexpr unsigned LANE_BYTES = sizeof(T) * ITEMS;
  static constexpr unsigned WARP_BYTES = 32 * LANE_BYTES;
  static constexpr unsigned SHARED_BYTES = (BLOCK + 31) / 32 * WARP_BYTES;

  __device__ static std::size_t tilesOf(std::size_t n) { return n / STRUCTS + (n % STRUCTS != 0); }
};

// A block's share of an array: what is whose, and the ways between the array and the threads.
template <class T, unsigned BLOCK, unsigned ITEMS>
class BlockTile {
 public:
  /// The index in the array of the calling thread's structure i.
  __device__ std::size_t index(unsigned i = 0) const { return first_ + std::size_t{thread_} * ITEMS + i; }

  /// Whether the array has it.
  __device__ bool has(unsigned i = 0) const { return index(i) < n_; }

 protected:
  using Shape = StructTileShape<T, BLOCK, ITEMS>;
  static constexpr unsigned LANE_BYTES = Shape::LANE_BYTES;
  using Tile = WarpTile<LANE_BYTES, leastAlignment<T>>;

  __device__ BlockTile(std::size_t number, std::size_t n, unsigned thread)
      : first_(number * Shape::STRUCTS), n_(n), thread_(thread) {}

  __device__ unsigned lane() const { return thread_ % 32; }

  // Whether all lanes of the warp are there, and all of their structures. The same in all of them.
  __device__ bool isWhole() const { return lanes() == 32 && warpFirst() + 32 * ITEMS <= n_; }

  template <class Struct>
  __device__ auto warpBytes(Struct* array) const {
    return reinterpret_cast<ConstLike<Struct, unsigned char>*>(array + warpFirst());
  }

  // From the array to the warp's tile, and back. Without a barrier.
  __device__ void copyIn(unsigned char* shared, const T* in) const {
    if (isWhole())
      Tile::copyIn(shared, warpBytes(in), lane());
    else
      Tile::copyPartIn(shared, warpBytes(in), lane(), lanes(), bytesLeft());
  }
  __device__ void copyOut(T* out, const unsigned char* shared) const {
    if (isWhole())
      Tile::copyOut(warpBytes(out), shared, lane());
    else
      Tile::copyPartOut(warpBytes(out), shared, lane(), lanes(), bytesLeft());
  }

  // The first barrier waits for the other lanes' last use of the tile, the second for their copies.
  __device__ void readStaged(const T* in, unsigned char* shared, void* bytes) const {
    __syncwarp();
    copyIn(shared, in);
    __syncwarp();
    Tile::get(shared, lane(), bytes);
  }
  __device__ void writeStaged(T* out, unsigned char* shared, const void* bytes) const {
    __syncwarp();
    Tile::put(shared, lane(), bytes);
    __syncwarp();
    copyOut(out, shared);
  }

  // Through shuffles where the warp is whole.
  __device__ void readExchanged(const T* in, void* bytes) const {
    if (!isWhole()) return readDirectly(in, bytes);
    const auto* global = reinterpret_cast<const unsigned*>(warpBytes(in));
    unsigned words[LANE_BYTES / 4];
#pragma unroll
    for (unsigned i = 0; i < LANE_BYTES / 4; ++i) words[i] = global[i * 32 + lane()];
    warpStripedToBlocked(words);
    __builtin_memcpy(bytes, words, LANE_BYTES);
  }
  __device__ void writeExchanged(T* out, const void* bytes) const {
    if (!isWhole()) return writeDirectly(out, bytes);
    auto* global = reinterpret_cast<unsigned*>(warpBytes(out));
    unsigned words[LANE_BYTES / 4];
    __builtin_memcpy(words, bytes, LANE_BYTES);
    warpBlockedToStriped(words);
#pragma unroll
    for (unsigned i = 0; i < LANE_BYTES / 4; ++i) global[i * 32 + lane()] = words[i];
  }

  // By each thread itself.
  __device__ void readDirectly(const T* in, void* bytes) const {
    const auto* own = reinterpret_cast<const unsigned char*>(in + index());
    if (movesAtOnce(own)) return readWords<LANE_BYTES, widestWord<LANE_BYTES>>(own, bytes);
#pragma unroll
    for (unsigned i = 0; i < ITEMS; ++i) {
      unsigned char* item = static_cast<unsigned char*>(bytes) + i * sizeof(T);
      if (has(i))
        readWords<sizeof(T), leastAlignment<T>>(own + i * sizeof(T), item);
      else
        __builtin_memset(item, 0, sizeof(T));
    }
  }
  __device__ void writeDirectly(T* out, const void* bytes) const {
    auto* own = reinterpret_cast<unsigned char*>(out + index());
    if (movesAtOnce(own)) return writeWords<LANE_BYTES, widestWord<LANE_BYTES>>(own, bytes);
#pragma unroll
    for (unsigned i = 0; i < ITEMS; ++i)
      if (has(i))
        writeWords<sizeof(T), leastAlignment<T>>(own + i * sizeof(T),
                                                 static_cast<const unsigned char*>(bytes) + i * sizeof(T));
  }

 private:
  __device__ std::size_t warpFirst() const { return first_ + std::size_t{thread_ - lane()} * ITEMS; }

  // How many lanes the warp has: less than 32 at the end of a block.
  __device__ unsigned lanes() const {
    const unsigned first = thread_ - lane();
    return BLOCK % 32 == 0 || first + 32 <= BLOCK ? 32 : BLOCK - first;
  }

  // How much there is of a warp's structures.
  __device__ unsigned bytesLeft() const {
    if (warpFirst() >= n_) return 0;
    const unsigned most = lanes() * ITEMS;
    return static_cast<unsigned>((n_ - warpFirst() < most ? n_ - warpFirst() : most) * sizeof(T));
  }

  // Several structures of a thread that make one word, and lie so.
  __device__ bool movesAtOnce(const unsigned char* own) const {
    if constexpr (ITEMS > 1 && LANE_BYTES == widestWord<LANE_BYTES>)
      return has(ITEMS - 1) && reinterpret_cast<std::uintptr_t>(own) % LANE_BYTES == 0;
    else
      return false;
  }

  std::size_t first_;
  std::size_t n_;
  unsigned thread_;
};

}  // namespace detail

/// A block's access to arrays of structures, staged so that memory is read and written in whole lines
/// whatever the type. In a kernel of BLOCK threads, in any number of dimensions (threadRank() counts them):
///
///     __shared__ gpuopt::StagedStructs<Particle, 256>::Storage storage;
///     const gpuopt::StagedStructs<Particle, 256> staged(storage);
///     for (auto tile : staged.tiles(n)) {
///       Particle p = tile.load(in);
///       p.mass *= 2;
///       tile.store(out, p);
///     }
///
/// T is any trivially copyable type. Arrays lie in device memory, at any address that T may have; 16-byte
/// boundaries are fastest. in and out may be the same array, but may not overlap otherwise. BLOCK is 1 to
/// 1024, best a multiple of 32. ITEMS consecutive structures a thread make whole words of types that are
/// none: AccessPlan<T>::items suits.
///
/// All lanes of a warp call load() and store() together, those whose structure does not exist included: both
/// hold __syncwarp() and no other barrier, for a warp sees only its own structures. The storage can be used
/// for other things after a barrier of the block.
///
/// Cost: 32 * sizeof(T) * ITEMS bytes of shared memory for every warp, none where PLAN has no tile; above
/// 48 KB it has to be dynamic: see dynamicShared. No bank conflicts where sizeof(T) * ITEMS is a multiple of
/// 4. Technique: a warp's tile, copied by 16-byte vectors (by words, shifted if need be, where the address is
/// no multiple of 16), whose places are permuted by exclusive or.
///
/// \tparam PLAN which way to load and which to store: see AccessPlan
template <class T, unsigned BLOCK, unsigned ITEMS = 1, class PLAN = AccessPlan<T, ITEMS>>
class StagedStructs {
  using Shape = detail::StructTileShape<T, BLOCK, ITEMS>;
  static constexpr bool EXCHANGES = PLAN::load == AccessWay::exchange || PLAN::store == AccessWay::exchange;
  static constexpr bool STAGES = PLAN::load == AccessWay::tile || PLAN::store == AccessWay::tile;
  static_assert(
      !EXCHANGES || alignof(T) >= 4,
      "gpuopt::StagedStructs: AccessWay::exchange moves words: the alignment of T must be 4 or more");

 public:
  /// What the threads of a block share.
  using Storage = detail::WarpTiles<STAGES ? Shape::SHARED_BYTES : 0>;

  /// BLOCK * ITEMS consecutive structures, of which thread t has ITEMS from number t * ITEMS on.
  class Tile : public detail::BlockTile<T, BLOCK, ITEMS> {
   public:
    /// The calling thread's structure of `in`; zero bytes if there is none.
    __device__ T load(const T* in) const {
      static_assert(ITEMS == 1, "gpuopt::StagedStructs: with ITEMS > 1, load an array of them");
      detail::StructSlot<T> slot;
      read(in, slot.bytes);
      return static_cast<T&&>(slot.value);
    }

    /// The calling thread's structures of `in`; zero bytes for those that do not exist.
    __device__ void load(const T* in, T (&items)[ITEMS]) const { read(in, items); }

    /// Writes the calling thread's structure to its place in `out`, if there is one.
    __device__ void store(T* out, const T& value) const {
      static_assert(ITEMS == 1, "gpuopt::StagedStructs: with ITEMS > 1, store an array of them");
      write(out, &value);
    }

    /// Writes the calling thread's structures to their places in `out`, those that exist.
    __device__ void store(T* out, const T (&items)[ITEMS]) const { write(out, items); }

   private:
    friend class StagedStructs;

    __device__ Tile(std::size_t number, std::size_t n, unsigned thread, unsigned char* shared)
        : detail::BlockTile<T, BLOCK, ITEMS>(number, n, thread), shared_(shared) {}

    __device__ void read(const T* in, void* bytes) const {
      if constexpr (PLAN::load == AccessWay::tile)
        this->readStaged(in, shared_, bytes);
      else if constexpr (PLAN::load == AccessWay::exchange)
        this->readExchanged(in, bytes);
      else
        this->readDirectly(in, bytes);
    }

    __device__ void write(T* out, const void* bytes) const {
      if constexpr (PLAN::store == AccessWay::tile)
        this->writeStaged(out, shared_, bytes);
      else if constexpr (PLAN::store == AccessWay::exchange)
        this->writeExchanged(out, bytes);
      else
        this->writeDirectly(out, bytes);
    }

    unsigned char* shared_;
  };

  /// Goes through a block's tiles.
  class Iterator {
   public:
    __device__ Tile operator*() const { return staged_.tile(number_, n_); }
    __device__ Iterator& operator++() {
      number_ += detail::gridSize();
      return *this;
    }
    __device__ bool operator!=(detail::TilesEnd) const { return number_ < Shape::tilesOf(n_); }

   private:
    friend class StagedStructs;
    __device__ Iterator(const StagedStructs& staged, std::size_t n)
        : staged_(staged), n_(n), number_(detail::blockRank()) {}

    StagedStructs staged_;
    std::size_t n_;
    std::size_t number_;
  };

  /// Every thread of the block calls, with the same storage in shared memory.
  __device__ explicit StagedStructs(Storage& storage)
      : thread_(static_cast<unsigned>(threadRank())), shared_(storage.at(thread_ / 32 * Shape::WARP_BYTES)) {}

  /// The calling block's tiles of arrays of n structures, for a loop over them. Together, the blocks of a
  /// grid of any size and number of dimensions visit each structure once. All threads of a block get the same
  /// tiles.
  __device__ detail::TileRange<Iterator> tiles(std::size_t n) const { return {Iterator(*this, n)}; }

  /// The tile from structure number * BLOCK * ITEMS on, of arrays of n. Behind their end nothing exists.
  __device__ Tile tile(std::size_t number, std::size_t n) const { return {number, n, thread_, shared_}; }

 private:
  unsigned thread_;
  unsigned char* shared_;
};

}  // namespace gpuopt
