/// \file
/// Staged access to an array of structures that prefetches the next tile: PipelinedStructs.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/struct_io.cuh>
#include <gpuopt/block/threads.cuh>
#include <gpuopt/thread/async_copy.cuh>
#include <gpuopt/warp/shuffle.cuh>

#include <cstddef>

GPUOPT_NAMESPACE_BEGIN

/// StagedStructs for loops in which each block takes several tiles: while one is computed, the next is copied to shared
/// memory.
///
///     __shared__ gpuopt::PipelinedStructs<Particle, 256>::Storage storage;
///     const gpuopt::PipelinedStructs<Particle, 256> staged(storage);
///     for (auto tile : staged.tiles(in, n)) {
///       Particle p = tile.load();
///       p.mass *= 2;
///       tile.store(out, p);
///     }
///
/// T, BLOCK and ITEMS are those of StagedStructs. `out` may be `in`. All lanes of a warp go through the loop together;
/// after leaving it early, the storage cannot be used again.
///
/// Cost: twice the shared memory of StagedStructs. Copies are asynchronous on sm_80 and later if `in` is aligned to 16
/// bytes. Worthwhile if few warps fit on a multiprocessor or the work per structure is long; otherwise short-lived
/// blocks with StagedStructs are faster.
template <class T, unsigned BLOCK, unsigned ITEMS = 1>
class PipelinedStructs {
  using Layout = detail::StructTileLayout<T, BLOCK, ITEMS>;
  using Base = detail::BlockTile<T, BLOCK, ITEMS>;

 public:
  /// Shared memory of the block.
  struct Storage {
    /// Double buffer.
    detail::WarpTiles<Layout::SHARED_BYTES> tiles[2];
  };

  /// BLOCK * ITEMS consecutive structures. Thread t owns ITEMS of them, beginning with number t * ITEMS.
  class Tile : public Base {
   public:
    /// The calling thread's structure; zero bytes if it does not exist. Called once, before store().
    __device__ T load() const {
      static_assert(ITEMS == 1, "gpuopt::PipelinedStructs: with ITEMS > 1, load an array of them");
      detail::StructItems<T, 1> result;
      read(result.values);
      return static_cast<T&&>(result.values[0]);
    }

    /// Loads the calling thread's structures to `items`; zero bytes for those that do not exist. Called once, before
    /// store().
    __device__ void load(T (&items)[ITEMS]) const { read(items); }

    /// Writes `value` to the calling thread's structure of `out`, if it exists.
    __device__ void store(T* out, const T& value) const {
      static_assert(ITEMS == 1, "gpuopt::PipelinedStructs: with ITEMS > 1, store an array of them");
      this->writeStaged(out, shared_, &value);
    }

    /// Writes `items` to those of the calling thread's structures of `out` that exist.
    __device__ void store(T* out, const T (&items)[ITEMS]) const { this->writeStaged(out, shared_, items); }

   private:
    friend class PipelinedStructs;

    __device__ Tile(const T* in, std::size_t number, std::size_t n, unsigned thread, unsigned char* shared)
        : Base(number, n, thread), in_(in), shared_(shared) {}

    // Only these tiles are copied in advance.
    __device__ bool isAsync() const { return this->isAligned(in_); }

    __device__ unsigned char* smem() const { return Base::Tile::smemStart(this->tileOrigin(in_), shared_); }

    __device__ void startCopy() const {
      if (isAsync()) Base::Tile::startCopyIn(smem(), this->warpBytes(in_), this->lane(), 0);
      detail::commitAsyncCopies();
    }

    __device__ void read(void* bytes) const {
      if (!isAsync()) return this->readStaged(in_, shared_, bytes);
      __syncwarp();
      Base::Tile::loadLane(smem(), this->lane(), bytes);
      __syncwarp();
    }

    const T* in_;
    unsigned char* shared_;
  };

  /// Iterates over the calling block's tiles. The copy of each starts two iterations ahead.
  class Iterator {
   public:
    /// The current tile, after its copy has arrived.
    __device__ Tile operator*() const {
      detail::awaitAsyncCopies<1>();
      return tile(0);
    }
    /// Advances to the block's next tile and starts the copy of the one after it.
    __device__ Iterator& operator++() {
      number_ += detail::gridSize();
      buffer_ ^= 1;
      tile(1).startCopy();
      return *this;
    }
    /// Whether there is a current tile.
    __device__ bool operator!=(detail::TilesEnd) const { return number_ < Layout::tilesOf(n_); }

   private:
    friend class PipelinedStructs;
    __device__ Iterator(const PipelinedStructs& staged, const T* in, std::size_t n)
        : staged_(staged), in_(in), n_(n), number_(detail::blockRank()) {
      tile(0).startCopy();
      tile(1).startCopy();
    }

    // The tile `ahead` iterations from the current one.
    __device__ Tile tile(unsigned ahead) const {
      return {in_, number_ + ahead * detail::gridSize(), n_, staged_.thread_,
              staged_.shared_ + ((buffer_ + ahead) & 1) * Layout::SHARED_BYTES};
    }

    PipelinedStructs staged_;
    const T* in_;
    std::size_t n_;
    std::size_t number_;
    unsigned buffer_ = 0;
  };

  /// Called by every thread of the block, with the same `storage` in shared memory.
  __device__ explicit PipelinedStructs(Storage& storage)
      : thread_(static_cast<unsigned>(threadRank())), shared_(storage.tiles[0].at(Layout::tileOffset(thread_, false))) {
    detail::requireThreads("gpuopt::PipelinedStructs", BLOCK);
  }

  /// The calling block's tiles of the n structures of `in`, for one loop over them: see StagedStructs::tiles. The first
  /// copies start immediately.
  __device__ detail::TileRange<Iterator> tiles(const T* in, std::size_t n) const { return {Iterator(*this, in, n)}; }

 private:
  unsigned thread_;
  unsigned char* shared_;
};

GPUOPT_NAMESPACE_END
