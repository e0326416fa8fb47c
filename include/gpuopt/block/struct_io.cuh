/// \file
/// Arrays of structures at the speed of a copy, in a user's own kernel: StagedStructs.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/threads.cuh>
#include <gpuopt/core/const_like.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/thread/vector.cuh>
#include <gpuopt/warp/exchange.cuh>
#include <gpuopt/warp/shuffle.cuh>
#include <gpuopt/warp/struct_tile.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

/// How structures move between an array and the threads that own them.
enum class StructTransfer {
  direct,    ///< each thread accesses its own: right where that is one access, and slow elsewhere
  tile,      ///< through a warp's tile in shared memory: any type, the speed of a copy
  exchange,  ///< through shuffles, without shared memory: whole words (sizes and alignments of 4 bytes)
};

namespace detail {

// Structures a thread at a time. Where a vector holds several, or it is one by its alignment, as many as
// fill it. Else what fills whole words, and enough of them: 24 bytes of types made of words (12-byte
// ones: 1.0 of the copy cold and 0.93 warm; 48 bytes cost 1 and 5 % in trial kernels), 40 of others
// (3-byte ones, misaligned: 0.98; with 24 bytes 0.85 in trial kernels; H200, 2026-11-22). One where
// whole words take a thread more than 192 bytes.
template <class T>
constexpr unsigned itemsOf() {
  if (16 % sizeof(T) == 0 && (sizeof(T) < 16 || isWord<T>)) return static_cast<unsigned>(16 / sizeof(T));
  constexpr unsigned LEAST = leastAlignment<T> >= 4 ? 24 : 40;
  unsigned items = 1;
  while (sizeof(T) * items < LEAST || sizeof(T) * items % 4 != 0) ++items;
  return items == 1 || sizeof(T) * items <= 192 ? items : 1;
}

// The share of shared memory in the on-chip memory, in per cent, that kernels with tiles ask for. Loads past
// the registers need no more than room for the blocks (256 bytes, ratio to the best copy: 28 % 0.82, 44 to
// 86 % 0.98); those through registers and the L1 cache need that too (8 to 256 bytes, least ratio: the
// driver's choice 0.94, 58 % 0.98, 100 % 0.93; H200, 2026-11-22).
inline constexpr int structCarveout = 58;

}  // namespace detail

/// How a T is loaded and stored, and how many structures a thread takes at a time: ITEMS, or as many as suit
/// the type where ITEMS is 0. The host functions use StructTransferPolicy<T>, StagedStructs<T, BLOCK, ITEMS>
/// StructTransferPolicy<T, ITEMS>. Specialise it for a type of your own (and any ITEMS), or pass
/// StagedStructs another class with these three members.
///
/// Direct for one structure of 1, 2, 4, 8 or 16 bytes, aligned to its size; a tile for everything else.
/// transformStructs of 1 GiB, ratio to the best copy, direct and by this plan (H200, 2026-11-22): 16
/// bytes 1.0 and 1.0, 32 bytes 0.26 (aligned to 16: 0.81) and 1.0, 64 bytes 0.16 (0.66) and 0.98 (0.99).
template <class T, unsigned ITEMS = 0>
struct StructTransferPolicy {
  static constexpr unsigned items = ITEMS == 0 ? detail::itemsOf<T>() : ITEMS;  ///< structures a thread
  /// How threads get their structures.
  static constexpr StructTransfer load =
      detail::isWord<T> && items == 1 ? StructTransfer::direct : StructTransfer::tile;
  static constexpr StructTransfer store = load;  ///< how threads put their structures back
};

namespace detail {

// Bytes between global memory and a local object, by words as wide as WORD.
template <unsigned BYTES, unsigned WORD>
__device__ inline void readWords(const unsigned char* global, void* bytes) {
#pragma unroll BYTES / WORD <= 256 ? BYTES / WORD : 1
  for (unsigned i = 0; i < BYTES / WORD; ++i) {
    const auto word = reinterpret_cast<const Word<WORD>*>(global)[i];
    __builtin_memcpy(static_cast<unsigned char*>(bytes) + i * WORD, &word, WORD);
  }
}

template <unsigned BYTES, unsigned WORD>
__device__ inline void writeWords(unsigned char* global, const void* bytes) {
#pragma unroll BYTES / WORD <= 256 ? BYTES / WORD : 1
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

// Shared memory for the tiles of a block's warps, aligned as sectors are.
template <unsigned BYTES>
struct WarpTiles {
  alignas(32) unsigned char bytes[BYTES];

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
  static constexpr unsigned WARP_BYTES = WarpTile<LANE_BYTES>::SHARED_BYTES;
  static constexpr unsigned SHARED_BYTES = (BLOCK + 31) / 32 * WARP_BYTES;

  __device__ static std::size_t tilesOf(std::size_t n) { return n / STRUCTS + (n % STRUCTS != 0); }
};

// A block's share of an array: what is whose, and the ways between the array and the threads.
template <class T, unsigned BLOCK, unsigned ITEMS>
class BlockTile {
 public:
  /// The index in the array of the calling thread's structure i.
  __device__ std::size_t index(unsigned i = 0) const { return first_ + own(i); }

  /// Whether the array has it.
  __device__ bool has(unsigned i = 0) const { return index(i) < n_; }

  /// Whether it has those of all threads: known to the whole block, so that a condition costs next to
  /// nothing.
  __device__ bool isFull() const { return first_ + Shape::STRUCTS <= n_; }

 protected:
  using Shape = StructTileShape<T, BLOCK, ITEMS>;
  static constexpr unsigned LANE_BYTES = Shape::LANE_BYTES;
  static constexpr auto LANE_WORD = static_cast<unsigned>(widestWord<LANE_BYTES>);
  using Tile = WarpTile<LANE_BYTES, leastAlignment<T>>;

  __device__ BlockTile(std::size_t number, std::size_t n, unsigned thread)
      : first_(number * Shape::STRUCTS), n_(n), thread_(thread) {}

  __device__ unsigned lane() const { return thread_ % 32; }

  // Whether the whole block's structures exist, and the warp has all of its lanes.
  __device__ bool isWhole() const { return isFull() && (BLOCK % 32 == 0 || thread_ - lane() + 32 <= BLOCK); }

  // The same, where vectors are enough: the block's structures begin at a 16-byte boundary.
  __device__ bool isPlain(const T* array) const { return isWhole() && Tile::offsetOf(origin(array)) == 0; }

  // Whether 16 bytes of the array lie on either side of the warp's, all of which exist.
  __device__ bool isInner() const { return isWhole() && first_ > 0 && first_ + Shape::STRUCTS + 16 <= n_; }

  // What lies in an array as the block's structures do, within sectors. Complete warps fill sectors.
  template <class Struct>
  __device__ Struct* origin(Struct* array) const {
    return BLOCK % 32 == 0 ? array : array + first_;
  }

  // The warp's and the calling thread's structures in an array.
  template <class Struct>
  __device__ auto warpBytes(Struct* array) const {
    return reinterpret_cast<ConstLike<Struct, unsigned char>*>(array + first_) + warp() * (32 * LANE_BYTES);
  }
  template <class Struct>
  __device__ auto ownBytes(Struct* array) const {
    return reinterpret_cast<ConstLike<Struct, unsigned char>*>(array + index());
  }

  // The calling thread's structures from and to the array, through the warp's tile. Each step leaves the tile
  // free for the next one. Of the two steps of writing, the first can stand in a condition.
  __device__ void readStaged(const T* in, unsigned char* shared, void* bytes) const {
    unsigned char* tile = Tile::placeOf(origin(in), shared);
    unsigned offset = 0;
    if (isPlain(in)) {
      if constexpr (LANE_BYTES == 16) return readWords<LANE_BYTES, LANE_WORD>(ownBytes(in), bytes);
      Tile::copyIn(tile, warpBytes(in), lane(), 0);
    } else if (isInner()) {
      offset = Tile::offsetOf(origin(in));
      Tile::copyIn(tile, warpBytes(in), lane(), offset);
    } else {
      Tile::copyPartIn(tile, warpBytes(in), lane(), lanes(), bytesLeft());
    }
    Tile::get(tile, lane(), bytes, offset);
    __syncwarp();
  }
  __device__ void writeStaged(T* out, unsigned char* shared, const void* bytes) const {
    beginStaged(out, shared, bytes);
    finishStaged(out, shared);
  }
  __device__ void beginStaged(T* out, unsigned char* shared, const void* bytes) const {
    if (LANE_BYTES == 16 && isPlain(out))
      writeWords<LANE_BYTES, LANE_WORD>(ownBytes(out), bytes);
    else
      Tile::put(shared, lane(), bytes);
  }
  __device__ void finishStaged(T* out, const unsigned char* shared) const {
    if (LANE_BYTES == 16 && isPlain(out)) return;
    __syncwarp();
    if (isPlain(out)) {
      Tile::copyOut(warpBytes(out), shared, lane());
      return __syncwarp();
    }
    if (isWhole())
      Tile::copyWordsOut(warpBytes(out), shared, lane());
    else
      Tile::copyPartOut(warpBytes(out), shared, lane(), lanes(), bytesLeft());
    __syncwarp();
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
#pragma unroll
    for (unsigned i = 0; i < ITEMS; ++i) {
      unsigned char* item = static_cast<unsigned char*>(bytes) + i * sizeof(T);
      if (has(i))
        readWords<sizeof(T), leastAlignment<T>>(ownBytes(in) + i * sizeof(T), item);
      else
        __builtin_memset(item, 0, sizeof(T));
    }
  }
  __device__ void writeDirectly(T* out, const void* bytes) const {
#pragma unroll
    for (unsigned i = 0; i < ITEMS; ++i)
      if (has(i))
        writeWords<sizeof(T), leastAlignment<T>>(ownBytes(out) + i * sizeof(T),
                                                 static_cast<const unsigned char*>(bytes) + i * sizeof(T));
  }

 private:
  __device__ unsigned warp() const { return thread_ / 32; }

  // The number in the tile of the calling thread's structure i.
  __device__ unsigned own(unsigned i) const { return thread_ * ITEMS + i; }

  // How many lanes the warp has: less than 32 at the end of a block.
  __device__ unsigned lanes() const {
    const unsigned first = warp() * 32;
    return BLOCK % 32 == 0 || first + 32 <= BLOCK ? 32 : BLOCK - first;
  }

  // How much there is of a warp's structures.
  __device__ unsigned bytesLeft() const {
    const std::size_t first = first_ + std::size_t{warp()} * 32 * ITEMS;
    const unsigned most = lanes() * ITEMS;
    if (first >= n_) return 0;
    return static_cast<unsigned>((n_ - first < most ? n_ - first : most) * sizeof(T));
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
/// none: StructTransferPolicy<T>::items suits.
///
/// All lanes of a warp call load() and store() together, those whose structure does not exist included: both
/// hold __syncwarp() and no other barrier, for a warp sees only its own structures. The storage can be used
/// for other things after a barrier of the block.
///
/// Cost: 32 * sizeof(T) * ITEMS + 32 bytes of shared memory for every warp, none where PLAN has no tile;
/// above 48 KB it has to be dynamic: see dynamicShared. No bank conflicts where sizeof(T) * ITEMS is a
/// multiple of 4 bytes. Technique: a warp's tile, whose places are permuted by exclusive or. It comes in by
/// asynchronous copies of 16 bytes (before sm_80 by vectors) and leaves by vectors; where the array begins
/// between two vectors, it is shifted in shared memory, and leaves by words. Threads with 16 bytes each move
/// them directly, if the array's address is a multiple of 16. Tiles that the array does not fill move by
/// words as wide as T's alignment.
///
/// \tparam PLAN which way to load and which to store: see StructTransferPolicy
template <class T, unsigned BLOCK, unsigned ITEMS = 1, class PLAN = StructTransferPolicy<T, ITEMS>>
class StagedStructs {
  using Shape = detail::StructTileShape<T, BLOCK, ITEMS>;
  static constexpr bool EXCHANGES =
      PLAN::load == StructTransfer::exchange || PLAN::store == StructTransfer::exchange;
  static constexpr bool STAGES = PLAN::load == StructTransfer::tile || PLAN::store == StructTransfer::tile;
  static_assert(
      !EXCHANGES || alignof(T) >= 4,
      "gpuopt::StagedStructs: StructTransfer::exchange moves words: the alignment of T must be 4 or more");

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

    /// Writes `value`, the calling thread's structure, to its place in `out`, if there is one.
    __device__ void store(T* out, const T& value) const {
      static_assert(ITEMS == 1, "gpuopt::StagedStructs: with ITEMS > 1, store an array of them");
      write(out, &value);
    }

    /// Writes `items`, the calling thread's structures, to their places in `out`, those that exist.
    __device__ void store(T* out, const T (&items)[ITEMS]) const { write(out, items); }

    /// store() of `value` in two steps, of which the first may stand in a condition that holds for all
    /// threads with a structure, such as if (has()). What is made in that condition is best put into the tile
    /// there: behind its end, the compiler takes structures of bytes apart.
    __device__ void beginStore(T* out, const T& value) const {
      static_assert(ITEMS == 1, "gpuopt::StagedStructs: with ITEMS > 1, store an array of them");
      begin(out, &value);
    }

    /// The same for the calling thread's structures: if (has(ITEMS - 1)), and another call for the rest.
    __device__ void beginStore(T* out, const T (&items)[ITEMS]) const { begin(out, items); }

    /// The second step, for all lanes of a warp, with the same `out`, before the tile is used again.
    __device__ void finishStore(T* out) const {
      if constexpr (PLAN::store == StructTransfer::tile) this->finishStaged(out, shared_);
    }

   private:
    friend class StagedStructs;

    __device__ Tile(std::size_t number, std::size_t n, unsigned thread, unsigned char* shared)
        : detail::BlockTile<T, BLOCK, ITEMS>(number, n, thread), shared_(shared) {}

    __device__ void read(const T* in, void* bytes) const {
      if constexpr (PLAN::load == StructTransfer::tile)
        this->readStaged(in, shared_, bytes);
      else if constexpr (PLAN::load == StructTransfer::exchange)
        this->readExchanged(in, bytes);
      else
        this->readDirectly(in, bytes);
    }

    __device__ void begin(T* out, const void* bytes) const {
      if constexpr (PLAN::store == StructTransfer::tile)
        this->beginStaged(out, shared_, bytes);
      else
        write(out, bytes);
    }

    __device__ void write(T* out, const void* bytes) const {
      if constexpr (PLAN::store == StructTransfer::tile)
        this->writeStaged(out, shared_, bytes);
      else if constexpr (PLAN::store == StructTransfer::exchange)
        this->writeExchanged(out, bytes);
      else
        this->writeDirectly(out, bytes);
    }

    unsigned char* shared_;
  };

  /// Goes through a block's tiles.
  class Iterator {
   public:
    /// The tile that it is at.
    __device__ Tile operator*() const { return staged_.tile(number_, n_); }
    /// Goes on to the block's next tile.
    __device__ Iterator& operator++() {
      number_ += detail::gridSize();
      return *this;
    }
    /// Whether there is a tile left.
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
  ///
  /// \param thread the calling thread's number; in blocks of one dimension, threadIdx.x is cheaper
  __device__ explicit StagedStructs(Storage& storage, unsigned thread = static_cast<unsigned>(threadRank()))
      : thread_(thread), shared_(storage.at(thread_ / 32 * Shape::WARP_BYTES)) {
    detail::requireThreads("gpuopt::StagedStructs", BLOCK);
  }

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

GPUOPT_NAMESPACE_END
