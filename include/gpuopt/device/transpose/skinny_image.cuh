/// \file
/// Narrow matrices in shared memory: how their records lie there, and how they come and go.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/core/fast_divide.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/device/transpose/smem.cuh>
#include <gpuopt/device/transpose/tuning.cuh>
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

template <bool TO_RECORDS_, class In, class Out, class Function>
struct SkinnyLayout : TransposeAtom<In, Out, Function> {
  using Atoms = TransposeAtom<In, Out, Function>;
  using Line = std::conditional_t<TO_RECORDS_, typename Atoms::Source, typename Atoms::Result>;
  using Image = std::conditional_t<TO_RECORDS_, typename Atoms::Result, typename Atoms::Source>;
  using Vector = std::conditional_t<isWord<Line>, uint4, Line>;
  static constexpr bool TO_RECORDS = TO_RECORDS_;
  static constexpr int BLOCK = skinnyMaxThreads;
  static constexpr int BLOCKS = skinnyMinThreadsPerSm / BLOCK;  // of a multiprocessor
  static constexpr unsigned LOADS_IN_FLIGHT = skinnyLoadsInFlight;
  static constexpr unsigned COUNT = Atoms::COUNT;                  // atoms of an element
  static constexpr unsigned PACK = sizeof(Vector) / sizeof(Line);  // atoms of a vector
  static constexpr unsigned LINE_ELEMENT = sizeof(Line) * COUNT;   // bytes
  static constexpr unsigned ELEMENT = sizeof(Image) * COUNT;       // bytes in the image
  static constexpr unsigned ACCESS = smallerOf<unsigned>(alignof(Image), 16);
  static constexpr unsigned ALIGNMENT = largerOf<unsigned>(alignof(Image), 16);
  // Where the vectors of a line begin. Those that are written make whole sectors: none is shared by two
  // tiles.
  static constexpr unsigned LINE_ALIGNMENT = TO_RECORDS ? 16 : 32;
  // Atoms on both sides of a tile go to a margin of the image, sooner than that each is asked where it
  // belongs. A function, though, is called for elements of the tile alone.
  static constexpr bool MARGIN = TO_RECORDS && std::is_same_v<Function, Identity>;
  // The pieces of the image that change places (see swizzled()). Small elements make so many accesses that it
  // pays to permute words, and not just 16-byte range.
  static constexpr unsigned SWIZZLED_BYTES = sizeof(Image) <= 2 ? 4 : 16;
};

// What all blocks have in common.
struct SkinnyShape {
  std::uintptr_t inBegin;
  std::uintptr_t inEnd;
  std::size_t records;
  unsigned lines;
  unsigned tileRecords;
  unsigned tiles;     // of a matrix
  unsigned halo;      // records that a tile shares with the one before
  unsigned margin;    // bytes before and behind the image
  unsigned vectors;   // vectors of all lines of a tile
  unsigned laneBits;  // 2^laneBits lanes take neighbouring vectors of a line
  FixedShiftDivisor<18> byLines;
  Swizzle swizzle;
  bool dense;  // no gaps between records
};

// The part of a matrix that a block moves.
struct SkinnyRegion {
  std::size_t matrix;
  std::size_t first;  // record of the image
  unsigned count;     // records in the image
  unsigned halo;      // of them
};

__device__ inline SkinnyRegion skinnyRegion(const SkinnyShape& shape) {
  SkinnyRegion region;
  region.matrix = blockIdx.x / shape.tiles;
  const unsigned tile = blockIdx.x % shape.tiles;
  region.halo = tile == 0 ? 0 : shape.halo;
  region.first = std::size_t{tile} * shape.tileRecords - region.halo;
  const std::size_t left = shape.records - region.first;
  region.count =
      left < shape.tileRecords + region.halo ? static_cast<unsigned>(left) : shape.tileRecords + region.halo;
  return region;
}

// Lanes at this distance in bytes access different banks.
template <class Layout>
Swizzle laneSwizzle(std::size_t distance) {
  constexpr unsigned UNIT = Layout::SWIZZLED_BYTES;
  const auto power = static_cast<unsigned>(smallerOf(powerOfTwoIn(distance), std::size_t{128}));
  return {swizzleShift(distance, UNIT == 4 ? 2 : 4, UNIT == 4 ? 5 : 3), power > UNIT ? power - UNIT : 0};
}

// The records of a region: in global memory from `address` on, `stride` bytes apart, in the image from
// `origin` on.
struct SkinnyRecords {
  unsigned char* image;
  std::uintptr_t address;
  std::size_t stride;
  unsigned origin;
  unsigned width;  // bytes of a record
  unsigned bytes;  // of all
};

template <class Layout>
__device__ inline SkinnyRecords skinnyRecords(const void* matrices, std::size_t offset, std::size_t ld,
                                              const SkinnyShape& shape, unsigned count) {
  SkinnyRecords records;
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
__device__ inline void moveAccesses(const SkinnyRecords& records, const SkinnyShape& shape, unsigned low,
                                    unsigned high, Move move) {
#pragma unroll 4
  for (unsigned byte = low + threadIdx.x * Layout::ACCESS; byte < high; byte += blockDim.x * Layout::ACCESS)
    move(reinterpret_cast<Word<Layout::ACCESS>*>(records.image + shape.swizzle(records.origin + byte)),
         records.address + byte / records.width * records.stride + byte % records.width);
}

// The 16-byte range of the image, [low, high), that move whole.
struct ImageVectors {
  unsigned low;
  unsigned high;
  unsigned head;  // bytes of the records before them
  unsigned tail;  // where the bytes behind them begin
};

// The range at the ends hold bytes that belong to others; they count if `wholeHead` and `wholeTail` say
// so.
__device__ inline ImageVectors imageVectors(const SkinnyRecords& records, bool wholeHead, bool wholeTail) {
  ImageVectors range;
  const unsigned end = records.origin + records.bytes;
  range.low = wholeHead ? records.origin / 16 : (records.origin + 15) / 16;
  range.high = wholeTail ? (end + 15) / 16 : end / 16;
  if (range.high < range.low) range.high = range.low;
  const unsigned low = range.low * 16;
  const unsigned high = range.high * 16;
  range.head = low <= records.origin ? 0 : low < end ? low - records.origin : records.bytes;
  range.tail = high < end ? high - records.origin : records.bytes;
  return range;
}

__device__ inline uint4* vectorAt(const SkinnyRecords& records, const SkinnyShape& shape, unsigned vector) {
  return reinterpret_cast<uint4*>(records.image + shape.swizzle(vector * 16) / 16 * 16);
}

// A vector's words in the order in which they lie in the image, or back.
template <class Layout>
__device__ inline uint4 permutedWords(uint4 words, const SkinnyShape& shape, unsigned vector) {
  if constexpr (Layout::SWIZZLED_BYTES == 4) {
    const unsigned place = shape.swizzle(vector * 16);
    if (place & 4) words = make_uint4(words.y, words.x, words.w, words.z);
    if (place & 8) words = make_uint4(words.z, words.w, words.x, words.y);
  }
  return words;
}

template <class Layout>
__device__ inline void loadRecords(const SkinnyRecords& records, const SkinnyShape& shape) {
  const auto load = [](auto* place, std::uintptr_t address) {
    *place = *reinterpret_cast<decltype(place)>(address);
  };
  if (!shape.dense) return moveAccesses<Layout>(records, shape, 0, records.bytes, load);
  const std::uintptr_t end = records.address + records.bytes;
  const auto range =
      imageVectors(records, records.address / 16 * 16 >= shape.inBegin, (end + 15) / 16 * 16 <= shape.inEnd);
  const std::uintptr_t base = records.address - records.origin;
  for (unsigned g = range.low + threadIdx.x; g < range.high; g += Layout::LOADS_IN_FLIGHT * blockDim.x) {
    uint4 vectors[Layout::LOADS_IN_FLIGHT];
#pragma unroll
    for (unsigned i = 0; i < Layout::LOADS_IN_FLIGHT; ++i)
      if (g + i * blockDim.x < range.high)
        vectors[i] =
            loadVector<Caching::normal>(reinterpret_cast<const void*>(base + (g + i * blockDim.x) * 16));
#pragma unroll
    for (unsigned i = 0; i < Layout::LOADS_IN_FLIGHT; ++i)
      if (g + i * blockDim.x < range.high)
        *vectorAt(records, shape, g + i * blockDim.x) =
            permutedWords<Layout>(vectors[i], shape, g + i * blockDim.x);
  }
  moveAccesses<Layout>(records, shape, 0, range.head, load);
  moveAccesses<Layout>(records, shape, range.tail, records.bytes, load);
}

template <class Layout>
__device__ inline void storeRecords(const SkinnyRecords& records, const SkinnyShape& shape) {
  const auto store = [](auto* place, std::uintptr_t address) {
    *reinterpret_cast<decltype(place)>(address) = *place;
  };
  if (!shape.dense) return moveAccesses<Layout>(records, shape, 0, records.bytes, store);
  const auto range = imageVectors(records, false, false);
  const std::uintptr_t base = records.address - records.origin;
#pragma unroll 4
  for (unsigned g = range.low + threadIdx.x; g < range.high; g += blockDim.x)
    *reinterpret_cast<uint4*>(base + g * 16) = permutedWords<Layout>(*vectorAt(records, shape, g), shape, g);
  moveAccesses<Layout>(records, shape, 0, range.head, store);
  moveAccesses<Layout>(records, shape, range.tail, records.bytes, store);
}

}  // namespace detail
GPUOPT_NAMESPACE_END
