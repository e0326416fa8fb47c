/// \file
/// A block's tile of an array of structures: which thread owns which structure, and how they move.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/thread/vector.cuh>
#include <gpuopt/warp/exchange.cuh>
#include <gpuopt/warp/struct_tile.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// Copies BYTES between global memory and a local object, by words of WORD bytes.
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

// COUNT structures that are not constructed.
template <class T, unsigned COUNT>
union StructItems {
  T values[COUNT];

  __device__ StructItems() {}
};

// The calling block's index in a grid of one, two or three dimensions, and the number of blocks.
__device__ inline std::size_t blockRank() {
  return blockIdx.x + std::size_t{gridDim.x} * (blockIdx.y + std::size_t{gridDim.y} * blockIdx.z);
}
__device__ inline std::size_t gridSize() { return std::size_t{gridDim.x} * gridDim.y * gridDim.z; }

// The range of a block's tiles, for range-based for loops.
struct TilesEnd {};

template <class Iterator>
struct TileRange {
  Iterator first;

  __device__ Iterator begin() const { return first; }
  __device__ TilesEnd end() const { return {}; }
};

// A pass over shared memory: what an asynchronous copy writes at once. The tile of each warp begins on such a boundary:
// a request then takes 4 passes, and 6 or 7 where tiles straddle boundaries.
inline constexpr unsigned sharedPass = 128;

// Shared memory for the tiles of a block's warps.
template <unsigned BYTES>
struct WarpTiles {
  alignas(sharedPass) unsigned char bytes[BYTES];

  __device__ unsigned char* at(unsigned offset) { return bytes + offset; }
};
template <>
struct WarpTiles<0> {
  __device__ unsigned char* at(unsigned) { return nullptr; }
};

// The size of a block's tile in structures, and of its shared memory.
template <class T, unsigned BLOCK, unsigned ITEMS>
struct StructTileLayout {
  static_assert(std::is_trivially_copyable_v<T>,
                "gpuopt: structures move as bytes, so their type must be trivially copyable");
  static_assert(BLOCK >= 1 && BLOCK <= 1024, "gpuopt: BLOCK, the threads of a block, must be 1 to 1024");
  static_assert(ITEMS >= 1, "gpuopt: ITEMS, the structures of a thread, must be at least 1");
  static constexpr std::size_t STRUCTS = std::size_t{BLOCK} * ITEMS;
  static constexpr unsigned LANE_BYTES = sizeof(T) * ITEMS;
  static constexpr unsigned WARP_BYTES = roundUpTo(WarpTile<LANE_BYTES>::SHARED_BYTES, sharedPass);
  static constexpr unsigned SHARED_BYTES = (BLOCK + 31) / 32 * WARP_BYTES;
  static constexpr bool CAN_SPREAD = WARP_BYTES - WarpTile<LANE_BYTES>::SHARED_BYTES >= 3 * 32;

  __device__ static std::size_t tilesOf(std::size_t n) { return n / STRUCTS + (n % STRUCTS != 0); }

  // Where the tile of a thread's warp begins. Those of four warps that spread begin on each sector of a row.
  __device__ static unsigned tileOffset(unsigned thread, bool spreads) {
    const unsigned warp = thread / 32;
    return warp * WARP_BYTES + (CAN_SPREAD && spreads ? warp % 4 * 32 : 0);
  }
};

// A block's structures of an array of n, and every way to load and store them.
//   read/writeStaged()      through the warp's tile in shared memory
//   read/writeExchanged()   through shuffles
//   read/writeDirectly()    by each thread itself
// Each leaves the shared memory free for the next.
template <class T, unsigned BLOCK, unsigned ITEMS>
class BlockTile {
 public:
  /// The index in the array of the calling thread's structure i.
  __device__ std::size_t index(unsigned i = 0) const { return first_ + (thread_ * ITEMS + i); }

  /// Whether that structure exists.
  __device__ bool has(unsigned i = 0) const { return index(i) < n_; }

  /// Whether the structures of all threads exist. The condition is uniform in the block and so almost free.
  __device__ bool isFull() const { return first_ + Layout::STRUCTS <= n_; }

 protected:
  using Layout = StructTileLayout<T, BLOCK, ITEMS>;
  static constexpr unsigned LANE_BYTES = Layout::LANE_BYTES;
  static constexpr auto LANE_WORD = static_cast<unsigned>(widestWord<LANE_BYTES>);
  using Tile = WarpTile<LANE_BYTES, minAlignment<T>>;

  __device__ BlockTile(std::size_t number, std::size_t n, unsigned thread)
      : first_(number * Layout::STRUCTS), n_(n), thread_(thread) {}

  __device__ unsigned lane() const { return thread_ % 32; }

  // Whether the tile is full and the warp has 32 lanes.
  __device__ bool isFullWarp() const { return isFull() && (BLOCK % 32 == 0 || thread_ - lane() + 32 <= BLOCK); }

  // Whether, in addition, the tile begins at a 16-byte boundary.
  __device__ bool isAligned(const T* array) const { return isFullWarp() && Tile::misalignment(tileOrigin(array)) == 0; }

  // Whether, in addition to isFullWarp(), the array has 16 bytes before and after the tile.
  __device__ bool hasNeighbours() const { return isFullWarp() && first_ > 0 && first_ + Layout::STRUCTS + 16 <= n_; }

  // An address that has the tile's offset within a sector. Blocks of full warps span whole sectors, so that the array's
  // own address will do.
  template <class Struct>
  __device__ Struct* tileOrigin(Struct* array) const {
    return BLOCK % 32 == 0 ? array : array + first_;
  }

  // The addresses of the warp's and of the calling thread's structures.
  template <class Struct>
  __device__ auto warpBytes(Struct* array) const {
    return reinterpret_cast<ConstLike<Struct, unsigned char>*>(array + first_) + warp() * (32 * LANE_BYTES);
  }
  template <class Struct>
  __device__ auto ownBytes(Struct* array) const {
    return reinterpret_cast<ConstLike<Struct, unsigned char>*>(array + index());
  }

  __device__ void readStaged(const T* in, unsigned char* shared, void* bytes) const {
    unsigned char* tile = Tile::smemStart(tileOrigin(in), shared);
    unsigned misalignment = 0;
    if (isAligned(in)) {
      if constexpr (LANE_BYTES == 16) return readWords<LANE_BYTES, LANE_WORD>(ownBytes(in), bytes);
      Tile::copyIn(tile, warpBytes(in), lane(), 0);
    } else if (hasNeighbours()) {
      misalignment = Tile::misalignment(tileOrigin(in));
      Tile::copyIn(tile, warpBytes(in), lane(), misalignment);
    } else {
      Tile::copyPartialIn(tile, warpBytes(in), lane(), lanes(), bytesLeft());
    }
    Tile::loadLane(tile, lane(), bytes, misalignment);
    __syncwarp();
  }

  // In two steps, the first of which may be in a branch that some lanes do not take.
  __device__ void writeStaged(T* out, unsigned char* shared, const void* bytes) const {
    beginStaged(out, shared, bytes);
    finishStaged(out, shared);
  }
  __device__ void beginStaged(T* out, unsigned char* shared, const void* bytes) const {
    if (LANE_BYTES == 16 && isAligned(out))
      writeWords<LANE_BYTES, LANE_WORD>(ownBytes(out), bytes);
    else
      Tile::storeLane(shared, lane(), bytes);
  }
  __device__ void finishStaged(T* out, const unsigned char* shared) const {
    if (LANE_BYTES == 16 && isAligned(out)) return;
    __syncwarp();
    if (isAligned(out)) {
      Tile::copyVectorsOut(warpBytes(out), shared, lane());
      return __syncwarp();
    }
    if (isFullWarp())
      Tile::copyWordsOut(warpBytes(out), shared, lane());
    else
      Tile::copyPartialOut(warpBytes(out), shared, lane(), lanes(), bytesLeft());
    __syncwarp();
  }

  __device__ void readExchanged(const T* in, void* bytes) const {
    if (!isFullWarp()) return readDirectly(in, bytes);
    const auto* global = reinterpret_cast<const unsigned*>(warpBytes(in));
    unsigned words[LANE_BYTES / 4];
#pragma unroll
    for (unsigned i = 0; i < LANE_BYTES / 4; ++i) words[i] = global[i * 32 + lane()];
    warpStripedToBlocked(words);
    __builtin_memcpy(bytes, words, LANE_BYTES);
  }
  __device__ void writeExchanged(T* out, const void* bytes) const {
    if (!isFullWarp()) return writeDirectly(out, bytes);
    auto* global = reinterpret_cast<unsigned*>(warpBytes(out));
    unsigned words[LANE_BYTES / 4];
    __builtin_memcpy(words, bytes, LANE_BYTES);
    warpBlockedToStriped(words);
#pragma unroll
    for (unsigned i = 0; i < LANE_BYTES / 4; ++i) global[i * 32 + lane()] = words[i];
  }

  __device__ void readDirectly(const T* in, void* bytes) const {
#pragma unroll
    for (unsigned i = 0; i < ITEMS; ++i) {
      unsigned char* item = static_cast<unsigned char*>(bytes) + i * sizeof(T);
      if (has(i))
        readWords<sizeof(T), minAlignment<T>>(ownBytes(in) + i * sizeof(T), item);
      else
        __builtin_memset(item, 0, sizeof(T));
    }
  }
  __device__ void writeDirectly(T* out, const void* bytes) const {
#pragma unroll
    for (unsigned i = 0; i < ITEMS; ++i)
      if (has(i))
        writeWords<sizeof(T), minAlignment<T>>(ownBytes(out) + i * sizeof(T),
                                               static_cast<const unsigned char*>(bytes) + i * sizeof(T));
  }

 private:
  __device__ unsigned warp() const { return thread_ / 32; }

  // The lanes of the warp: fewer than 32 in the last one if BLOCK is no multiple of 32.
  __device__ unsigned lanes() const {
    const unsigned first = warp() * 32;
    return BLOCK % 32 == 0 || first + 32 <= BLOCK ? 32 : BLOCK - first;
  }

  // The bytes of the warp's structures that exist.
  __device__ unsigned bytesLeft() const {
    const std::size_t first = first_ + std::size_t{warp()} * 32 * ITEMS;
    const unsigned maxElements = lanes() * ITEMS;
    if (first >= n_) return 0;
    return static_cast<unsigned>((n_ - first < maxElements ? n_ - first : maxElements) * sizeof(T));
  }

  std::size_t first_;
  std::size_t n_;
  unsigned thread_;
};

GPUOPT_DETAIL_END
