/// \file
/// Skinny matrices in shared memory: the image of their records, and how it is loaded and stored.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/device/transpose/byte_run.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/device/transpose/tuning.cuh>
#include <gpuopt/thread/vector.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// One side of a skinny transposition has up to 32 long rows, the *lines*; the other has many short rows, the *records*,
// usually without gaps. A block keeps an image of some records in shared memory, byte for byte and with the
// misalignment that they have in global memory. The records move as one run of bytes, whatever their length; the lines
// move in 16-byte vectors, each line with its own alignment. Neighbouring elements of a line are one record apart in
// the image. A figure is in docs/transpose_kernels.md.
template <bool TO_RECORDS_, class In, class Out, class Function>
struct SkinnyLayout : TransposeAtom<In, Out, Function> {
  using Atoms = TransposeAtom<In, Out, Function>;
  using Line = std::conditional_t<TO_RECORDS_, typename Atoms::Source, typename Atoms::Result>;
  using Image = std::conditional_t<TO_RECORDS_, typename Atoms::Result, typename Atoms::Source>;
  using Vector = std::conditional_t<isWord<Line>, uint4, Line>;
  static constexpr bool TO_RECORDS = TO_RECORDS_;
  static constexpr int BLOCK = skinnyMaxThreads;
  static constexpr int BLOCKS = skinnyMinThreadsPerSm / BLOCK;  // per multiprocessor
  static constexpr unsigned LOADS_IN_FLIGHT = skinnyLoadsInFlight;
  static constexpr unsigned COUNT = Atoms::COUNT;                              // atoms of an element
  static constexpr unsigned PACK = sizeof(Vector) / sizeof(Line);              // atoms of a vector
  static constexpr unsigned LINE_ELEMENT = sizeof(Line) * COUNT;               // bytes
  static constexpr unsigned ELEMENT = sizeof(Image) * COUNT;                   // bytes in the image
  static constexpr unsigned ACCESS = smallerOf<unsigned>(alignof(Image), 16);  // bytes, at any element
  static constexpr unsigned ALIGNMENT = largerOf<unsigned>(alignof(Image), 16);
  // Vectors of a line begin at multiples of this. Stores cover full sectors, which no two tiles share.
  static constexpr unsigned LINE_ALIGNMENT = TO_RECORDS ? 16 : 32;
  // The first and last vectors of a line hold atoms of neighbouring tiles. A margin of the image takes them, which
  // saves a bounds check per atom. A function must not be called for them, so it has no margin.
  static constexpr bool MARGIN = TO_RECORDS && std::is_same_v<Function, Identity>;
  // The swizzle permutes words of small elements, which make many accesses, and vectors of others.
  static constexpr unsigned SWIZZLED_BYTES = sizeof(Image) <= 2 ? 4 : 16;
};

// The args of the problem, for all blocks.
struct SkinnyArgs {
  std::uintptr_t inBegin;
  std::uintptr_t inEnd;
  std::size_t records;
  unsigned lines;
  unsigned tileRecords;
  unsigned tiles;     // of a matrix
  unsigned halo;      // records that a tile shares with the previous one
  unsigned margin;    // bytes before and after the image
  unsigned vectors;   // of all lines of a tile
  unsigned laneBits;  // 2^laneBits lanes take neighbouring vectors of a line
  FixedShiftDivisor<18> byLines;
  Swizzle swizzle;
  bool dense;  // records have no gaps
};

// The part of a matrix that a block moves.
struct SkinnyRegion {
  std::size_t matrix;
  std::size_t first;  // record
  unsigned count;     // of records
  unsigned halo;      // how many of these the previous tile has, too
};

__device__ inline SkinnyRegion skinnyRegion(const SkinnyArgs& args) {
  SkinnyRegion region;
  region.matrix = blockIdx.x / args.tiles;
  const unsigned tile = blockIdx.x % args.tiles;
  region.halo = tile == 0 ? 0 : args.halo;
  region.first = std::size_t{tile} * args.tileRecords - region.halo;
  const std::size_t left = args.records - region.first;
  region.count = left < args.tileRecords + region.halo ? static_cast<unsigned>(left) : args.tileRecords + region.halo;
  return region;
}

// The swizzle for lanes that access the image at this distance in bytes.
template <class Layout>
Swizzle laneSwizzle(std::size_t distance) {
  constexpr unsigned UNIT = Layout::SWIZZLED_BYTES;
  const auto power = static_cast<unsigned>(smallerOf(powerOfTwoIn(distance), std::size_t{128}));
  return {swizzleShift(distance, UNIT == 4 ? 2 : 4, UNIT == 4 ? 5 : 3), power > UNIT ? power - UNIT : 0};
}

// The records of a region.
struct SkinnyRecords {
  unsigned char* image;
  std::uintptr_t address;  // of the first record in global memory
  std::size_t stride;      // bytes between records there
  unsigned origin;         // of the first record in the image
  unsigned width;          // bytes of a record
  unsigned bytes;          // of all records
};

template <class Layout>
__device__ inline SkinnyRecords skinnyRecords(const void* matrices, std::size_t offset, std::size_t ld,
                                              const SkinnyArgs& args, unsigned count) {
  SkinnyRecords records;
  records.image = dynamicShared<unsigned char>();
  records.address = reinterpret_cast<std::uintptr_t>(matrices) + offset * Layout::ELEMENT;
  records.stride = ld * Layout::ELEMENT;
  records.origin = args.margin + records.address % Layout::ALIGNMENT;
  records.width = args.lines * Layout::ELEMENT;
  records.bytes = count * records.width;
  return records;
}

// Calls move(shared, address) for the bytes [low, high) of the records, ACCESS bytes at a time.
template <class Layout, class Move>
__device__ inline void moveAccesses(const SkinnyRecords& records, const SkinnyArgs& args, unsigned low, unsigned high,
                                    Move move) {
#pragma unroll 4
  for (unsigned byte = low + threadIdx.x * Layout::ACCESS; byte < high; byte += blockDim.x * Layout::ACCESS)
    move(reinterpret_cast<Word<Layout::ACCESS>*>(records.image + args.swizzle(records.origin + byte)),
         records.address + byte / records.width * records.stride + byte % records.width);
}

// The 16-byte vectors of the image that move as such, [low, high).
struct ImageVectors {
  unsigned low;
  unsigned high;
  unsigned head;  // bytes of the records before the vectors
  unsigned tail;  // offset of the bytes after them
};

// The vectors at both ends hold bytes of other regions. `withFirst` and `withLast` say whether they count.
__device__ inline ImageVectors imageVectors(const SkinnyRecords& records, bool withFirst, bool withLast) {
  ImageVectors range;
  const unsigned end = records.origin + records.bytes;
  range.low = withFirst ? records.origin / 16 : (records.origin + 15) / 16;
  range.high = withLast ? (end + 15) / 16 : end / 16;
  if (range.high < range.low) range.high = range.low;
  const unsigned low = range.low * 16;
  const unsigned high = range.high * 16;
  range.head = low <= records.origin ? 0 : low < end ? low - records.origin : records.bytes;
  range.tail = high < end ? high - records.origin : records.bytes;
  return range;
}

__device__ inline uint4* vectorAt(const SkinnyRecords& records, const SkinnyArgs& args, unsigned vector) {
  return reinterpret_cast<uint4*>(records.image + args.swizzle(vector * 16) / 16 * 16);
}

// Permutes the words of a vector as the swizzle does; twice is the original order.
template <class Layout>
__device__ inline uint4 permutedWords(uint4 words, const SkinnyArgs& args, unsigned vector) {
  if constexpr (Layout::SWIZZLED_BYTES == 4) {
    const unsigned offset = args.swizzle(vector * 16);
    if (offset & 4) words = make_uint4(words.y, words.x, words.w, words.z);
    if (offset & 8) words = make_uint4(words.z, words.w, words.x, words.y);
  }
  return words;
}

template <class Layout>
__device__ inline void loadRecords(const SkinnyRecords& records, const SkinnyArgs& args) {
  const auto load = [](auto* shared, std::uintptr_t address) {
    *shared = *reinterpret_cast<decltype(shared)>(address);
  };
  if (!args.dense) return moveAccesses<Layout>(records, args, 0, records.bytes, load);
  const std::uintptr_t end = records.address + records.bytes;
  const auto range =
      imageVectors(records, records.address / 16 * 16 >= args.inBegin, (end + 15) / 16 * 16 <= args.inEnd);
  const std::uintptr_t base = records.address - records.origin;
  for (unsigned v = range.low + threadIdx.x; v < range.high; v += Layout::LOADS_IN_FLIGHT * blockDim.x) {
    uint4 vectors[Layout::LOADS_IN_FLIGHT];
#pragma unroll
    for (unsigned i = 0; i < Layout::LOADS_IN_FLIGHT; ++i)
      if (v + i * blockDim.x < range.high)
        vectors[i] = loadVector<Caching::normal>(reinterpret_cast<const void*>(base + (v + i * blockDim.x) * 16));
#pragma unroll
    for (unsigned i = 0; i < Layout::LOADS_IN_FLIGHT; ++i)
      if (v + i * blockDim.x < range.high)
        *vectorAt(records, args, v + i * blockDim.x) = permutedWords<Layout>(vectors[i], args, v + i * blockDim.x);
  }
  moveAccesses<Layout>(records, args, 0, range.head, load);
  moveAccesses<Layout>(records, args, range.tail, records.bytes, load);
}

template <class Layout>
__device__ inline void storeRecords(const SkinnyRecords& records, const SkinnyArgs& args) {
  const auto store = [](auto* shared, std::uintptr_t address) {
    *reinterpret_cast<decltype(shared)>(address) = *shared;
  };
  if (!args.dense) return moveAccesses<Layout>(records, args, 0, records.bytes, store);
  const auto range = imageVectors(records, false, false);
  const std::uintptr_t base = records.address - records.origin;
#pragma unroll 4
  for (unsigned v = range.low + threadIdx.x; v < range.high; v += blockDim.x)
    *reinterpret_cast<uint4*>(base + v * 16) = permutedWords<Layout>(*vectorAt(records, args, v), args, v);
  moveAccesses<Layout>(records, args, 0, range.head, store);
  moveAccesses<Layout>(records, args, range.tail, records.bytes, store);
}

GPUOPT_DETAIL_END
