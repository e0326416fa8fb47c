/// \file
/// Staged access to an array of structures with the next ones on their way: PipelinedStructs.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/struct_io.cuh>
#include <gpuopt/block/threads.cuh>
#include <gpuopt/thread/async_copy.cuh>
#include <gpuopt/warp/shuffle.cuh>
#include <gpuopt/warp/struct_tile.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

GPUOPT_NAMESPACE_BEGIN

/// StagedStructs for loops in which each thread takes several tiles: while one is computed, the next one is
/// copied to shared memory, past the registers.
///
///     __shared__ gpuopt::PipelinedStructs<Particle, 256>::Storage storage;
///     const gpuopt::PipelinedStructs<Particle, 256> staged(storage);
///     for (auto tile : staged.tiles(in, n)) {
///       Particle p = tile.load();
///       p.mass *= 2;
///       tile.store(out, p);
///     }
///
/// T, BLOCK, ITEMS, and who calls: as with StagedStructs. out may be in. All lanes of a warp go through the
/// loop together; if they leave it before its end, the storage can not be used again.
///
/// Cost: twice the shared memory of StagedStructs, 64 * (sizeof(T) * ITEMS + 1) bytes for every warp. The
/// copies are asynchronous where `in` lies at a 16-byte boundary and on sm_80 and later. It pays where few
/// warps fit on a multiprocessor or f takes long; else short-lived blocks with StagedStructs are faster.
template <class T, unsigned BLOCK, unsigned ITEMS = 1>
class PipelinedStructs {
  using Shape = detail::StructTileShape<T, BLOCK, ITEMS>;
  using Base = detail::BlockTile<T, BLOCK, ITEMS>;

 public:
  /// What the threads of a block share.
  struct Storage {
    /// One to compute, one to fill.
    detail::WarpTiles<Shape::SHARED_BYTES> tiles[2];
  };

  /// BLOCK * ITEMS consecutive structures, of which thread t has ITEMS from number t * ITEMS on.
  class Tile : public Base {
   public:
    /// The calling thread's structure; zero bytes if there is none. Called once, before store().
    __device__ T load() const {
      static_assert(ITEMS == 1, "gpuopt::PipelinedStructs: with ITEMS > 1, load an array of them");
      detail::StructSlot<T> slot;
      read(slot.bytes);
      return static_cast<T&&>(slot.value);
    }

    /// Sets `items` to the calling thread's structures; zero bytes for those that do not exist. Called once,
    /// before store().
    __device__ void load(T (&items)[ITEMS]) const { read(items); }

    /// Writes `value`, the calling thread's structure, to its place in `out`, if there is one.
    __device__ void store(T* out, const T& value) const {
      static_assert(ITEMS == 1, "gpuopt::PipelinedStructs: with ITEMS > 1, store an array of them");
      this->writeStaged(out, shared_, &value);
    }

    /// Writes `items`, the calling thread's structures, to their places in `out`, those that exist.
    __device__ void store(T* out, const T (&items)[ITEMS]) const { this->writeStaged(out, shared_, items); }

   private:
    friend class PipelinedStructs;

    __device__ Tile(const T* in, std::size_t number, std::size_t n, unsigned thread, unsigned char* shared)
        : Base(number, n, thread), in_(in), shared_(shared) {}

    __device__ bool isAsync() const { return this->isPlain(in_); }

    __device__ void start() const {
      if (isAsync())
        Base::Tile::startCopyIn(Base::Tile::placeOf(this->origin(in_), shared_), this->warpBytes(in_),
                                this->lane(), 0);
      detail::commitAsyncCopies();
    }

    __device__ void read(void* bytes) const {
      if (!isAsync()) return this->readStaged(in_, shared_, bytes);
      __syncwarp();
      Base::Tile::get(Base::Tile::placeOf(this->origin(in_), shared_), this->lane(), bytes);
      __syncwarp();
    }

    const T* in_;
    unsigned char* shared_;
  };

  /// Goes through a block's tiles, each of which has its copy started two steps before.
  class Iterator {
   public:
    /// The tile that it is at, once its copy has arrived.
    __device__ Tile operator*() const {
      detail::awaitAsyncCopies<1>();
      return tile(0);
    }
    /// Goes on to the block's next tile, and starts the copy of the one after it.
    __device__ Iterator& operator++() {
      number_ += detail::gridSize();
      buffer_ ^= 1;
      tile(1).start();
      return *this;
    }
    /// Whether there is a tile left.
    __device__ bool operator!=(detail::TilesEnd) const { return number_ < Shape::tilesOf(n_); }

   private:
    friend class PipelinedStructs;
    __device__ Iterator(const PipelinedStructs& staged, const T* in, std::size_t n)
        : staged_(staged), in_(in), n_(n), number_(detail::blockRank()) {
      tile(0).start();
      tile(1).start();
    }

    // The tile so many steps ahead.
    __device__ Tile tile(unsigned ahead) const {
      return {in_, number_ + ahead * detail::gridSize(), n_, staged_.thread_,
              staged_.shared_ + ((buffer_ + ahead) & 1) * Shape::SHARED_BYTES};
    }

    PipelinedStructs staged_;
    const T* in_;
    std::size_t n_;
    std::size_t number_;
    unsigned buffer_ = 0;
  };

  /// Every thread of the block calls, with the same storage in shared memory.
  __device__ explicit PipelinedStructs(Storage& storage)
      : thread_(static_cast<unsigned>(threadRank())),
        shared_(storage.tiles[0].at(thread_ / 32 * Shape::WARP_BYTES)) {
    detail::requireThreads("gpuopt::PipelinedStructs", BLOCK);
  }

  /// The calling block's tiles of the n structures of `in`, for one loop over them: see StagedStructs::tiles.
  /// The first copies start at once.
  __device__ detail::TileRange<Iterator> tiles(const T* in, std::size_t n) const {
    return {Iterator(*this, in, n)};
  }

 private:
  unsigned thread_;
  unsigned char* shared_;
};

GPUOPT_NAMESPACE_END
