/// \file
/// Transposes of any alignment, leading dimension and element size: rows are staged byte for byte.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/device/transpose/tuning.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/thread/async_copy.cuh>

#include <cstddef>
#include <cstdint>

GPUOPT_DETAIL_BEGIN

// BLOCK threads load ROWS x COLS elements into shared memory and write them by stores of VECTOR bytes, or of one atom
// if that is wider. Figures are in docs/transpose_kernels.md.
template <unsigned ROWS_, unsigned COLS_, unsigned BLOCK_, unsigned VECTOR_>
struct StagedTile {
  static constexpr unsigned ROWS = ROWS_;
  static constexpr unsigned COLS = COLS_;
  static constexpr unsigned BLOCK = BLOCK_;
  static constexpr unsigned VECTOR = VECTOR_;
};

template <std::size_t IN, std::size_t OUT, bool IS_WIDE>
using StagedTileOf = StagedTile<rowsTileShape(IN, OUT, IS_WIDE).rows, rowsTileShape(IN, OUT, IS_WIDE).cols,
                                rowsTileShape(IN, OUT, IS_WIDE).threads, rowsTileShape(IN, OUT, IS_WIDE).storeBytes>;

// How a tile is divided among the threads of a block.
template <class Tile, class In, class Out, class Function>
struct StagedLayout : Tile, TransposeAtom<In, Out, Function> {
  using Atom = TransposeAtom<In, Out, Function>;
  using typename Atom::Result;
  using typename Atom::Source;
  static constexpr unsigned SIZE = sizeof(In);
  static constexpr unsigned RESULT = sizeof(Result);
  static constexpr bool PACKS = RESULT < Tile::VECTOR && RESULT == alignof(Result);
  static constexpr unsigned PACK = PACKS ? Tile::VECTOR / RESULT : 1;  // atoms per store
  static constexpr unsigned STORES = Tile::ROWS * Atom::COUNT / PACK;  // per column
  // A thread's columns are ACROSS apart, so that all have the same misalignment in the destination.
  static constexpr unsigned PERIOD = sectorBytes / greatestCommonDivisor(sizeof(Out), sectorBytes);
  static constexpr unsigned ACROSS = smallerOf(Tile::COLS, largerOf(Tile::BLOCK / 32, PERIOD));
  static constexpr unsigned ALONG = Tile::BLOCK / ACROSS;
  // A warp's columns are SPACING apart, so that columns of sub-word elements are in different banks.
  static constexpr unsigned SPACING = sizeof(Source) < 4 ? smallerOf<unsigned>(4 / sizeof(Source), ACROSS) : 1;
  static constexpr unsigned IN_ALIGNMENT = alignof(In);
  static constexpr unsigned ACCESS = smallerOf(IN_ALIGNMENT, 16U);  // bytes
  static constexpr unsigned ROW_BYTES = Tile::COLS * SIZE;
  static constexpr unsigned MIN_PITCH = ROW_BYTES + 2 * (16 - ACCESS);  // no vector has bytes of two rows

  static_assert(Tile::BLOCK % ACROSS == 0 && Tile::COLS % ACROSS == 0);
  static_assert(ACROSS == Tile::COLS || ACROSS % PERIOD == 0);
  static_assert(PACK == 1 || Tile::ROWS * sizeof(Out) % sectorBytes == 0);
};

struct StagedArgs {
  std::uintptr_t inEnd;  // end of the input's memory
  unsigned rowTiles;
  unsigned colTiles;
  unsigned halo;        // rows that a tile shares with the previous one
  unsigned pitch;       // bytes from row to row in shared memory
  unsigned skew;        // bytes added to the pitch after the rows of each store
  unsigned columnBits;  // a warp stores 2^columnBits columns at once
};

// The region of a matrix that a block moves. Its rows count from `base`; those in [low, high) exist.
struct StagedRegion {
  std::size_t matrix;
  std::size_t base;  // the first tile's is negative, modulo 2^64
  std::size_t firstCol;
  unsigned low;
  unsigned high;
  unsigned width;
};

template <class Layout, class Problem>
__device__ inline StagedRegion stagedRegion(const Problem& problem, const StagedArgs& args) {
  const unsigned strip = blockIdx.x / args.rowTiles;
  const std::size_t row = std::size_t{blockIdx.x % args.rowTiles} * Layout::ROWS;
  StagedRegion region;
  region.matrix = strip / args.colTiles;
  region.firstCol = std::size_t{strip % args.colTiles} * Layout::COLS;
  region.base = row - args.halo;
  region.low = row == 0 ? args.halo : 0;
  const std::size_t rows = problem.rows - region.base;
  region.high = rows < Layout::ROWS + args.halo ? static_cast<unsigned>(rows) : Layout::ROWS + args.halo;
  const std::size_t cols = problem.cols - region.firstCol;
  region.width = cols < Layout::COLS ? static_cast<unsigned>(cols) : Layout::COLS;
  return region;
}

// The offset of a row in shared memory.
template <class Layout>
__host__ __device__ inline unsigned rowOffset(const StagedArgs& args, unsigned row) {
  unsigned offset = row * args.pitch;
  if constexpr (Layout::PACK > Layout::COUNT) offset += row * Layout::COUNT / Layout::PACK * args.skew;
  return offset;
}

// Copies 16 bytes of a row, as far as they are inside of the input. The copy asks L2 for the whole line of 128 bytes:
// the neighbouring tile needs the rest of it, and every element size gains 0.01.
template <bool INSIDE>
__device__ inline void copyRowVector(unsigned char* shared, std::uintptr_t global, std::uintptr_t begin,
                                     std::uintptr_t end) {
  if (INSIDE || (global >= begin && global + 16 <= end)) {
    copyAsync16<true>(shared, reinterpret_cast<const void*>(global));
  } else {
#pragma unroll 1
    for (unsigned i = 0; i < 16; ++i)
      if (global + i >= begin && global + i < end) shared[i] = *reinterpret_cast<const unsigned char*>(global + i);
  }
}

// Stages the rows [low, high) of a region. Each keeps its misalignment to a sector. Neighbouring lanes copy whole
// sectors: two warps that share one would load it twice.
template <bool INSIDE, class Layout, class Problem>
__device__ inline void stageRows(unsigned char* shared, const Problem& problem, const StagedArgs& args,
                                 const StagedRegion& region, std::uintptr_t source) {
  constexpr unsigned VECTORS =
      (Layout::ROW_BYTES + 2 * sectorBytes - Layout::ACCESS - 1) / sectorBytes * 2;  // of a row
  const auto begin = reinterpret_cast<std::uintptr_t>(problem.in);
  const unsigned origin = source % sectorBytes;
#pragma unroll 4
  for (unsigned i = region.low * VECTORS + threadIdx.x; i < region.high * VECTORS; i += Layout::BLOCK) {
    const unsigned row = i / VECTORS;
    const unsigned offset = i % VECTORS * 16;
    const unsigned target = origin + rowOffset<Layout>(args, row);
    const unsigned misaligned = target % sectorBytes;
    if (offset + 16 > misaligned && offset < misaligned + region.width * Layout::SIZE)
      copyRowVector<INSIDE>(shared + (target - misaligned + offset),
                            source + row * (problem.inLd * Layout::SIZE) - misaligned + offset, begin, args.inEnd);
  }
}

// One store: PACK atoms of one row of the destination.
template <class Layout, class Function>
__device__ inline void storeAtoms(unsigned char* out, const unsigned char* const (&from)[Layout::PACK], unsigned offset,
                                  const Function& function) {
  using Source = typename Layout::Source;
  using Result = typename Layout::Result;
  if constexpr (Layout::PACK == 1) {
    *reinterpret_cast<Result*>(out) = function(*reinterpret_cast<const Source*>(from[0] + offset));
  } else {
    Result results[Layout::PACK];
#pragma unroll
    for (unsigned k = 0; k < Layout::PACK; ++k)
      results[k] = function(*reinterpret_cast<const Source*>(from[k] + offset));
    Word<Layout::VECTOR> vector;
    __builtin_memcpy(&vector, results, sizeof(vector));
    *reinterpret_cast<Word<Layout::VECTOR>*>(out) = vector;
  }
}

// One store to each of a thread's columns, `step` bytes apart in the destination.
template <class Layout, class Function>
__device__ inline void storeAcross(unsigned char* out, std::size_t step,
                                   const unsigned char* const (&from)[Layout::PACK], unsigned column, unsigned width,
                                   const Function& function) {
  if (width == Layout::COLS) {
#pragma unroll
    for (unsigned c = 0; c < Layout::COLS; c += Layout::ACROSS, out += step)
      storeAtoms<Layout>(out, from, c * Layout::SIZE, function);
  } else {
#pragma unroll 1
    for (unsigned c = 0; column + c < width; c += Layout::ACROSS, out += step)
      storeAtoms<Layout>(out, from, c * Layout::SIZE, function);
  }
}

// Writes the columns of a region to rows of the destination. Each column is shifted so that its stores begin at a
// sector boundary: no sector is then written by two tiles.
template <class Layout, class Problem>
__device__ inline void storeColumns(const unsigned char* staged, const Problem& problem, const StagedArgs& args,
                                    const StagedRegion& region) {
  using Source = typename Layout::Source;
  constexpr unsigned COUNT = Layout::COUNT;
  constexpr unsigned PACK = Layout::PACK;
  constexpr unsigned ACROSS = Layout::ACROSS;
  constexpr unsigned GROUP = ACROSS / Layout::SPACING;
  const unsigned thread = threadIdx.x >> args.columnBits;
  const unsigned number = (thread / Layout::ALONG << args.columnBits) | (threadIdx.x & ((1U << args.columnBits) - 1));
  const unsigned column = number % GROUP * Layout::SPACING + number / GROUP;
  const std::size_t step = ACROSS * problem.outLd * sizeof(*problem.out);
  // Modulo 2^64: a shifted column may begin before the matrix.
  const std::size_t outRow =
      (region.matrix * problem.outStride + (region.firstCol + column) * problem.outLd) * sizeof(*problem.out);
  const unsigned shift = (reinterpret_cast<std::uintptr_t>(problem.out) + outRow) % sectorBytes / Layout::RESULT;
#pragma unroll 1
  for (unsigned store = thread % Layout::ALONG; store < Layout::STORES; store += Layout::ALONG) {
    const unsigned first = args.halo * COUNT - shift + store * PACK;
    unsigned char* out = reinterpret_cast<unsigned char*>(problem.out) +
                         static_cast<std::ptrdiff_t>(outRow + (region.base * COUNT + first) * Layout::RESULT);
    const auto atom = [&](unsigned i) {
      return staged + (rowOffset<Layout>(args, i / COUNT) + i % COUNT * sizeof(Source) + column * Layout::SIZE);
    };
    if (first >= region.low * COUNT && first + PACK <= region.high * COUNT) {
      const unsigned char* from[PACK];
#pragma unroll
      for (unsigned k = 0; k < PACK; ++k) from[k] = atom(first + k);
      storeAcross<Layout>(out, step, from, column, region.width, problem.function);
    } else {
#pragma unroll 1
      for (unsigned i = 0; i < PACK; ++i)
        if (first + i >= region.low * COUNT && first + i < region.high * COUNT)
#pragma unroll 1
          for (unsigned c = 0; column + c < region.width; c += ACROSS)
            reinterpret_cast<typename Layout::Result*>(out + c / ACROSS * step)[i] =
                problem.function(*reinterpret_cast<const Source*>(atom(first + i) + c * Layout::SIZE));
    }
  }
}

// Transposes a region. Every thread of the block calls, once.
template <class Layout, class Problem>
__device__ inline void transposeRegion(const Problem& problem, const StagedArgs& args, const StagedRegion& region) {
  unsigned char* shared = dynamicShared<unsigned char>();
  const std::size_t ld = problem.inLd * Layout::SIZE;
  const std::uintptr_t source = reinterpret_cast<std::uintptr_t>(problem.in) +
                                (region.matrix * problem.inStride + region.firstCol) * Layout::SIZE + region.base * ld;
  const bool inside = source + region.low * ld >= reinterpret_cast<std::uintptr_t>(problem.in) + 15 &&
                      source + (region.high - 1) * ld + region.width * Layout::SIZE + 15 <= args.inEnd;
  if (inside)
    stageRows<true, Layout>(shared, problem, args, region, source);
  else
    stageRows<false, Layout>(shared, problem, args, region, source);
  awaitAsyncCopies();
  __syncthreads();
  storeColumns<Layout>(shared + source % sectorBytes, problem, args, region);
}

template <class Layout, class Problem>
GPUOPT_KERNEL void __launch_bounds__(Layout::BLOCK, RESIDENT_THREADS / Layout::BLOCK)
    transposeStagedKernel(const Problem problem, const StagedArgs args) {
  waitForPreviousKernel();
  transposeRegion<Layout>(problem, args, stagedRegion<Layout>(problem, args));
}

template <class Layout>
std::size_t stagedBytes(const StagedArgs& args) {
  return roundUp(rowOffset<Layout>(args, Layout::ROWS + args.halo) + sectorBytes, 16);
}

template <class Layout, class Problem>
StagedArgs stagedArgs(const Problem& problem) {
  constexpr unsigned COUNT = Layout::COUNT;
  constexpr unsigned PACK = Layout::PACK;
  const std::size_t ld = problem.inLd * Layout::SIZE;
  StagedArgs args;
  args.inEnd = inEndOf(problem);
  constexpr std::size_t OUT = sizeof(*problem.out);
  const unsigned aligned = rowAlignment(reinterpret_cast<std::uintptr_t>(problem.out), problem.outLd * OUT,
                                        problem.batch, problem.outStride * OUT);
  args.halo = ceilDivide32((sectorBytes - aligned) / Layout::RESULT, COUNT);
  args.rowTiles = static_cast<unsigned>(ceilDivide(problem.rows + args.halo, Layout::ROWS));
  args.colTiles = static_cast<unsigned>(ceilDivide(problem.cols, Layout::COLS));
  // Rows keep their misalignment to a sector. The bytes that the lanes of a warp gather at once are then a power of two
  // apart, modulo the 128 bytes of all banks, and neighbouring columns use the banks between them.
  constexpr unsigned PERIOD = COUNT > 1 && PACK > COUNT ? 128 : sectorBytes;
  args.pitch = Layout::MIN_PITCH + static_cast<unsigned>((ld % sectorBytes - Layout::MIN_PITCH) % PERIOD);
  if (PERIOD == sectorBytes && Layout::IN_ALIGNMENT <= sectorBytes && args.pitch % 64 == 0) args.pitch += sectorBytes;
  const std::size_t stride = powerOfTwoIn(ld | sectorBytes) * PACK / COUNT;
  args.skew = stride > sectorBytes ? sectorBytes : 0;
  // Bank conflicts up to the degree TOLERATED cost less than stores to many rows.
  constexpr unsigned TOLERATED = COUNT > 1 ? 1 : Layout::RESULT == 2 || Layout::RESULT == 4 ? 4 : 2;
  constexpr unsigned MAX_SPAN = smallerOf(PACK * Layout::RESULT, Layout::ACROSS / Layout::SPACING);
  constexpr unsigned WORD = largerOf<unsigned>(sizeof(typename Layout::Source), 4);
  args.columnBits = 0;
  while (args.columnBits < 3 && (2U << args.columnBits) <= MAX_SPAN &&
         (WORD * TOLERATED << 1 << args.columnBits) <= stride)
    ++args.columnBits;
  return args;
}

GPUOPT_DETAIL_END
