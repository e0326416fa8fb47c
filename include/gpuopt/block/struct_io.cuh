/// \file
/// Arrays of structures at copy speed in your own kernels: StagedStructs, and StructTransferPolicy, which says how they
/// move.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/struct_tile.cuh>
#include <gpuopt/block/threads.cuh>
#include <gpuopt/warp/shuffle.cuh>

#include <cstddef>

GPUOPT_NAMESPACE_BEGIN

/// How structures move between an array and the threads that own them.
enum class StructTransfer {
  direct,    ///< each thread accesses its own structure: best for one access per thread, slow for more
  tile,      ///< through a warp's tile in shared memory: copy speed for any type
  exchange,  ///< through shuffles, without shared memory: types aligned to 4 bytes or more
};

namespace detail {

// Bytes that a thread takes at least, for types aligned to words and for others, and at most. Measured:
// benchmarks/results/struct_tuning.csv.
inline constexpr unsigned minLaneBytesOfWords = 24;
inline constexpr unsigned minLaneBytes = 40;
inline constexpr unsigned maxLaneBytes = 192;

// Structures per thread: as many as share a 16-byte vector, otherwise as few as fill whole words and the minimum above.
// One if that exceeds the maximum.
template <class T>
constexpr unsigned itemsOf() {
  if (16 % sizeof(T) == 0 && (sizeof(T) < 16 || isWord<T>)) return static_cast<unsigned>(16 / sizeof(T));
  constexpr unsigned MIN_BYTES = minAlignment<T> >= 4 ? minLaneBytesOfWords : minLaneBytes;
  unsigned items = 1;
  while (sizeof(T) * items < MIN_BYTES || sizeof(T) * items % 4 != 0) ++items;
  return items == 1 || sizeof(T) * items <= maxLaneBytes ? items : 1;
}

}  // namespace detail

/// How structures of type T are loaded and stored, and how many each thread takes: ITEMS, or the number that suits the
/// type if ITEMS is 0. The host functions use StructTransferPolicy<T>, and StagedStructs<T, BLOCK, ITEMS> uses
/// StructTransferPolicy<T, ITEMS>. To change it, specialise it for your own type (and any ITEMS), or pass StagedStructs
/// another class with these three members.
///
/// The default is `direct` for one structure of 1, 2, 4, 8 or 16 bytes, aligned to its size, and `tile` for everything
/// else: transformStructs of 64-byte structures then runs at 0.98 of copy speed, against 0.16 with `direct` (H200,
/// benchmarks/results/struct_tuning.csv).
template <class T, unsigned ITEMS = 0>
struct StructTransferPolicy {
  static constexpr unsigned items = ITEMS == 0 ? detail::itemsOf<T>() : ITEMS;  ///< structures per thread
  /// How threads load their structures.
  static constexpr StructTransfer load =
      detail::isWord<T> && items == 1 ? StructTransfer::direct : StructTransfer::tile;
  static constexpr StructTransfer store = load;  ///< how threads store their structures
};

/// A block's access to arrays of structures. Data is staged in shared memory, so that global memory is read and written
/// in full lines for any type. In a kernel of BLOCK threads, in any number of dimensions (threadRank() numbers them):
///
///     __shared__ gpuopt::StagedStructs<Particle, 256>::Storage storage;
///     const gpuopt::StagedStructs<Particle, 256> staged(storage);
///     for (auto tile : staged.tiles(n)) {
///       Particle p = tile.load(in);
///       p.mass *= 2;
///       tile.store(out, p);
///     }
///
/// T is any trivially copyable type. Arrays are in device memory at any address that T allows; multiples of 16 bytes
/// are fastest. `in` and `out` may be the same array, but must not overlap otherwise. BLOCK is 1 to 1024, preferably a
/// multiple of 32. Each thread takes ITEMS consecutive structures, so that types which are no multiple of 4 bytes still
/// fill words; StructTransferPolicy<T>::items is a good choice.
///
/// All lanes of a warp call load() and store() together, including those without a structure. Both synchronise the warp
/// and nothing else, since a warp only accesses its own structures. Other uses of the storage need a barrier of the
/// block first.
///
/// Cost: 32 * sizeof(T) * ITEMS + 32 bytes of shared memory per warp, rounded up to a multiple of 128, none if Policy
/// has no `tile`; above 48 KB it has to be dynamic, see dynamicShared. No bank conflicts if sizeof(T) * ITEMS is a
/// multiple of 4 bytes. Technique: a tile per warp with an XOR swizzle, filled by asynchronous 16-byte copies (by
/// 16-byte loads before sm_80) and written back by 16-byte stores. Misaligned arrays are shifted in shared memory and
/// written by words. Lanes of 16 bytes access aligned arrays directly. Tiles that the array does not fill move by words
/// as wide as the alignment of T. Figures: docs/struct_kernels.md.
///
/// \tparam Policy how structures are loaded and stored: see StructTransferPolicy
template <class T, unsigned BLOCK, unsigned ITEMS = 1, class Policy = StructTransferPolicy<T, ITEMS>>
class StagedStructs {
  using Layout = detail::StructTileLayout<T, BLOCK, ITEMS>;
  static constexpr bool EXCHANGES =
      Policy::load == StructTransfer::exchange || Policy::store == StructTransfer::exchange;
  static constexpr bool STAGES = Policy::load == StructTransfer::tile || Policy::store == StructTransfer::tile;
  static_assert(!EXCHANGES || alignof(T) >= 4,
                "gpuopt::StagedStructs: StructTransfer::exchange moves words: the alignment of T must be 4 or more");

 public:
  /// Shared memory of the block.
  using Storage = detail::WarpTiles<STAGES ? Layout::SHARED_BYTES : 0>;

  /// BLOCK * ITEMS consecutive structures. Thread t owns ITEMS of them, beginning with number t * ITEMS.
  class Tile : public detail::BlockTile<T, BLOCK, ITEMS> {
   public:
    /// The calling thread's structure of `in`; zero bytes if it does not exist.
    __device__ T load(const T* in) const {
      static_assert(ITEMS == 1, "gpuopt::StagedStructs: with ITEMS > 1, load an array of them");
      detail::StructItems<T, 1> result;
      read(in, result.values);
      return static_cast<T&&>(result.values[0]);
    }

    /// Loads the calling thread's structures of `in` to `items`; zero bytes for those that do not exist.
    __device__ void load(const T* in, T (&items)[ITEMS]) const { read(in, items); }

    /// Writes `value` to the calling thread's structure of `out`, if it exists.
    __device__ void store(T* out, const T& value) const {
      beginStore(out, value);
      finishStore(out);
    }

    /// Writes `items` to those of the calling thread's structures of `out` that exist.
    __device__ void store(T* out, const T (&items)[ITEMS]) const {
      begin(out, items);
      finishStore(out);
    }

    /// First half of store(), which may be called in a branch that every thread with a structure takes, such as if
    /// (has()). If `value` is computed in that branch, call this there: after the branch, the compiler would keep each
    /// byte of the structure in a register of its own.
    __device__ void beginStore(T* out, const T& value) const {
      static_assert(ITEMS == 1, "gpuopt::StagedStructs: with ITEMS > 1, store an array of them");
      begin(out, &value);
    }

    /// The same for `items`, in if (has(ITEMS - 1)); threads with fewer structures make another call.
    __device__ void beginStore(T* out, const T (&items)[ITEMS]) const { begin(out, items); }

    /// Second half of store(), called by all lanes of the warp with the same `out` before the tile is used again.
    __device__ void finishStore(T* out) const {
      if constexpr (Policy::store == StructTransfer::tile) this->finishStaged(out, shared_);
    }

   private:
    friend class StagedStructs;

    __device__ Tile(std::size_t number, std::size_t n, unsigned thread, unsigned char* shared)
        : detail::BlockTile<T, BLOCK, ITEMS>(number, n, thread), shared_(shared) {}

    __device__ void read(const T* in, void* bytes) const {
      if constexpr (Policy::load == StructTransfer::tile)
        this->readStaged(in, shared_, bytes);
      else if constexpr (Policy::load == StructTransfer::exchange)
        this->readExchanged(in, bytes);
      else
        this->readDirectly(in, bytes);
    }

    __device__ void begin(T* out, const void* bytes) const {
      if constexpr (Policy::store == StructTransfer::tile)
        this->beginStaged(out, shared_, bytes);
      else if constexpr (Policy::store == StructTransfer::exchange)
        this->writeExchanged(out, bytes);
      else
        this->writeDirectly(out, bytes);
    }

    unsigned char* shared_;
  };

  /// Iterates over the calling block's tiles.
  class Iterator {
   public:
    /// The current tile.
    __device__ Tile operator*() const { return staged_.tile(number_, n_); }
    /// Advances to the block's next tile.
    __device__ Iterator& operator++() {
      number_ += detail::gridSize();
      return *this;
    }
    /// Whether there is a current tile.
    __device__ bool operator!=(detail::TilesEnd) const { return number_ < Layout::tilesOf(n_); }

   private:
    friend class StagedStructs;
    __device__ Iterator(const StagedStructs& staged, std::size_t n)
        : staged_(staged), n_(n), number_(detail::blockRank()) {}

    StagedStructs staged_;
    std::size_t n_;
    std::size_t number_;
  };

  /// Called by every thread of the block, with the same `storage` in shared memory.
  ///
  /// \param thread the calling thread's rank; in blocks of one dimension, threadIdx.x is cheaper
  /// \param spreads whether the warps' tiles begin on different sectors of their rows of shared memory: 0.3 % faster
  ///                where an array in DRAM is read and another one written, up to 5 % slower elsewhere
  __device__ explicit StagedStructs(Storage& storage, unsigned thread = static_cast<unsigned>(threadRank()),
                                    bool spreads = false)
      : thread_(thread), shared_(storage.at(Layout::tileOffset(thread, spreads))) {
    detail::requireThreads("gpuopt::StagedStructs", BLOCK);
  }

  /// The calling block's tiles of arrays of n structures, for a range-based for loop. The blocks of a grid of any size
  /// and number of dimensions visit each structure once. All threads of a block get the same tiles.
  __device__ detail::TileRange<Iterator> tiles(std::size_t n) const { return {Iterator(*this, n)}; }

  /// The tile of arrays of n structures that begins with structure number * BLOCK * ITEMS. Structures from n on do not
  /// exist.
  __device__ Tile tile(std::size_t number, std::size_t n) const { return {number, n, thread_, shared_}; }

 private:
  unsigned thread_;
  unsigned char* shared_;
};

GPUOPT_NAMESPACE_END
