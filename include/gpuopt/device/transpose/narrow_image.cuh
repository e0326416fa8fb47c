/// \file
/// Narrow matrices in shared memory: how their records lie there, and how they come and go.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/thread/vector.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// One of the two matrices consists of up to 32 long *lines*, the other one of many short *records*, most
// often without gaps between them. A block holds an image of some records in shared memory, byte for byte as
// they lie in global memory modulo 16. So the records move as one run of bytes, whatever their length, and
// the lines by 16-byte vectors, each line with its own alignment; the elements of such a vector are one
// record apart in the image.

template <class Policy, bool TO_RECORDS_, class In, class Out, class Function>
struct NarrowLayout : TransposeAtom<In, Out, Function> {
  using Atoms = TransposeAtom<In, Out, Function>;
  using Line = std::conditional_t<TO_RECORDS_, typename Atoms::Source, typename Atoms::Result>;
  using Image = std::conditional_t<TO_RECORDS_, typename Atoms::Result, typename Atoms::Source>;
  using Vector = std::conditional_t<isWord<Line>, uint4, Line>;
  static constexpr bool TO_RECORDS = TO_RECORDS_;
  static constexpr int BLOCK = Policy::BLOCK;
  static constexpr int BLOCKS = Policy::THREADS / BLOCK;  // of a multiprocessor
  static constexpr int ITEMS = Policy::ITEMS;
  static constexpr unsigned COUNT = Atoms::COUNT;                  // atoms of an element
  static constexpr unsigned PACK = sizeof(Vector) / sizeof(Line);  // atoms of a vector
  static constexpr unsigned LINE_ELEMENT = sizeof(Line) * COUNT;   // bytes
  static constexpr unsigned ELEMENT = sizeof(Image) * COUNT;       // bytes in the image
  static constexpr unsigned GRAIN = smallerOf<unsigned>(alignof(Image), 16);
  static constexpr unsigned ALIGNMENT = largerOf<unsigned>(alignof(Image), 16);
  // Where the vectors of a line begin. Those that are written make whole sectors: none is shared by two
  // tiles.
  static constexpr unsigned START = TO_RECORDS ? 16 : 32;
  // Atoms on both sides of a tile go to a margin of the image, sooner than that each is asked where it
  // belongs. A function, though, is called for elements of the tile alone.
  static constexpr bool MARGIN = TO_RECORDS && std::is_same_v<Function, Identity>;
  // The pieces of the image that change places (see swizzled()). Small elements make so many accesses that it
  // pays to permute words, and not just 16-byte granules.
  static constexpr unsigned PIECE = sizeof(Image) <= 2 ? 4 : 16;
};

// What all blocks have in common.
struct NarrowShape {
  std::uintptr_t inBegin;
  std::uintptr_t inEnd;
  std::size_t records;
  unsigned lines;
  unsigned tile;        // records
  unsigned tiles;       // of a matrix
  unsigned halo;        // records that a tile shares with the one before
  unsigned margin;      // bytes before and behind the image
  unsigned items;       // vectors of all lines of a tile
  unsigned laneBits;    // 2^laneBits lanes take neighbouring vectors of a line
  unsigned reciprocal;  // 2^18 / lines, rounded up
  unsigned swizzle;     // a shift, see swizzled()
  unsigned exchanged;   // bits of an address that the swizzle changes, maybe none
  bool dense;           // no gaps between records
};

inline constexpr unsigned reciprocalBits = 18;

// The part of a matrix that a block moves.
struct NarrowPiece {
  std::size_t matrix;
  std::size_t first;  // record of the image
  unsigned count;     // records in the image
  unsigned halo;      // of them
};

__device__ inline NarrowPiece narrowPiece(const NarrowShape& shape) {
  NarrowPiece piece;
  piece.matrix = blockIdx.x / shape.tiles;
  const unsigned tile = blockIdx.x % shape.tiles;
  piece.halo = tile == 0 ? 0 : shape.halo;
  piece.first = std::size_t{tile} * shape.tile - piece.halo;
  const std::size_t left = shape.records - piece.first;
  piece.count = left < shape.tile + piece.halo ? static_cast<unsigned>(left) : shape.tile + piece.halo;
  return piece;
}

// Lanes that take neighbouring vectors of a line meet in the image at a distance that is a power of two times
// an odd number: in addresses that differ in the bits from that power on, and are alike in those below, some
// of which tell banks apart. To these, bits above are added, so that pieces of each 128 bytes change places.
__host__ __device__ inline unsigned swizzled(const NarrowShape& shape, unsigned byte) {
  return byte ^ (byte >> shape.swizzle & shape.exchanged);
}

// Lanes at this distance in bytes shall lie in different banks.
template <class Layout>
void spreadLanes(NarrowShape& shape, std::size_t distance) {
  constexpr unsigned ROW = 128;  // bytes of all banks
  const std::size_t power = powerOfTwoIn(distance);
  const auto alike = static_cast<unsigned>(smallerOf<std::size_t>(power, ROW));
  shape.exchanged = alike > Layout::PIECE ? alike - Layout::PIECE : 0;
  shape.swizzle = Layout::PIECE == 4 ? 5 : 3;  // from ROW to PIECE
  for (std::size_t row = ROW; row < power; row *= 2) ++shape.swizzle;
}

// The records of a piece: in global memory from `address` on, `stride` bytes apart, in the image from
// `origin` on.
struct NarrowRecords {
  unsigned char* image;
  std::uintptr_t address;
  std::size_t stride;
  unsigned origin;
  unsigned width;  // bytes of a record
  unsigned bytes;  // of all
};

template <class Layout>
__device__ inline NarrowRecords narrowRecords(const void* matrices, std::size_t offset, std::size_t ld,
                                              const NarrowShape& shape, unsigned count) {
  NarrowRecords records;
  records.image = dynamicShared<unsigned char>();
  records.address = reinterpret_cast<std::uintptr_t>(matrices) + offset * Layout::ELEMENT;
  records.stride = ld * Layout::ELEMENT;
  records.origin = shape.margin + records.address % Layout::ALIGNMENT;
  records.width = shape.lines * Layout::ELEMENT;
  records.bytes = count * records.width;
  return records;
}

// move(place in the image, address) for each grain of the bytes [low, high) of the records.
template <class Layout, class Move>
__device__ inline void moveGrains(const NarrowRecords& records, const NarrowShape& shape, unsigned low,
                                  unsigned high, Move move) {
#pragma unroll 4
  for (unsigned byte = low + threadIdx.x * Layout::GRAIN; byte < high; byte += blockDim.x * Layout::GRAIN)
    move(reinterpret_cast<Word<Layout::GRAIN>*>(records.image + swizzled(shape, records.origin + byte)),
         records.address + byte / records.width * records.stride + byte % records.width);
}

// The 16-byte granules of the image, [low, high), that move whole.
struct NarrowGranules {
  unsigned low;
  unsigned high;
  unsigned head;  // bytes of the records before them
  unsigned tail;  // where the bytes behind them begin
};

// The granules at the ends hold bytes that belong to others; they count if `wholeHead` and `wholeTail` say
// so.
__device__ inline NarrowGranules narrowGranules(const NarrowRecords& records, bool wholeHead,
                                                bool wholeTail) {
  NarrowGranules granules;
  const unsigned end = records.origin + records.bytes;
  granules.low = wholeHead ? records.origin / 16 : (records.origin + 15) / 16;
  granules.high = wholeTail ? (end + 15) / 16 : end / 16;
  if (granules.high < granules.low) granules.high = granules.low;
  const unsigned low = granules.low * 16;
  const unsigned high = granules.high * 16;
  granules.head = low <= records.origin ? 0 : low < end ? low - records.origin : records.bytes;
  granules.tail = high < end ? high - records.origin : records.bytes;
  return granules;
}

__device__ inline uint4* granuleAt(const NarrowRecords& records, const NarrowShape& shape, unsigned granule) {
  return reinterpret_cast<uint4*>(records.image + swizzled(shape, granule * 16) / 16 * 16);
}

// A granule's words in the order in which they lie in the image, or back.
template <class Layout>
__device__ inline uint4 granuleWords(uint4 words, const NarrowShape& shape, unsigned granule) {
  if constexpr (Layout::PIECE == 4) {
    const unsigned place = swizzled(shape, granule * 16);
    if (place & 4) words = make_uint4(words.y, words.x, words.w, words.z);
    if (place & 8) words = make_uint4(words.z, words.w, words.x, words.y);
  }
  return words;
}

template <class Layout>
__device__ inline void loadRecords(const NarrowRecords& records, const NarrowShape& shape) {
  const auto load = [](auto* place, std::uintptr_t address) {
    *place = *reinterpret_cast<decltype(place)>(address);
  };
  if (!shape.dense) return moveGrains<Layout>(records, shape, 0, records.bytes, load);
  const std::uintptr_t end = records.address + records.bytes;
  const auto granules = narrowGranules(records, records.address / 16 * 16 >= shape.inBegin,
                                       (end + 15) / 16 * 16 <= shape.inEnd);
  const std::uintptr_t base = records.address - records.origin;
  for (unsigned g = granules.low + threadIdx.x; g < granules.high; g += Layout::ITEMS * blockDim.x) {
    uint4 vectors[Layout::ITEMS];
#pragma unroll
    for (unsigned i = 0; i < Layout::ITEMS; ++i)
      if (g + i * blockDim.x < granules.high)
        vectors[i] =
            loadVector<Caching::normal>(reinterpret_cast<const void*>(base + (g + i * blockDim.x) * 16));
#pragma unroll
    for (unsigned i = 0; i < Layout::ITEMS; ++i)
      if (g + i * blockDim.x < granules.high)
        *granuleAt(records, shape, g + i * blockDim.x) =
            granuleWords<Layout>(vectors[i], shape, g + i * blockDim.x);
  }
  moveGrains<Layout>(records, shape, 0, granules.head, load);
  moveGrains<Layout>(records, shape, granules.tail, records.bytes, load);
}

template <class Layout>
__device__ inline void storeRecords(const NarrowRecords& records, const NarrowShape& shape) {
  const auto store = [](auto* place, std::uintptr_t address) {
    *reinterpret_cast<decltype(place)>(address) = *place;
  };
  if (!shape.dense) return moveGrains<Layout>(records, shape, 0, records.bytes, store);
  const auto granules = narrowGranules(records, false, false);
  const std::uintptr_t base = records.address - records.origin;
#pragma unroll 4
  for (unsigned g = granules.low + threadIdx.x; g < granules.high; g += blockDim.x)
    *reinterpret_cast<uint4*>(base + g * 16) = granuleWords<Layout>(*granuleAt(records, shape, g), shape, g);
  moveGrains<Layout>(records, shape, 0, granules.head, store);
  moveGrains<Layout>(records, shape, granules.tail, records.bytes, store);
}

}  // namespace detail
GPUOPT_NAMESPACE_END
