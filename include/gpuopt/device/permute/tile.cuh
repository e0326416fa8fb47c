/// \file
/// Permutations by tiles of merged slices: a block stages runs of the input as they are in memory, and gathers runs of
/// the output from them.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/device/permute/grid.cuh>
#include <gpuopt/device/permute/lanes.cuh>
#include <gpuopt/device/permute/problem.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/thread/async_copy.cuh>
#include <gpuopt/thread/transpose.cuh>
#include <gpuopt/thread/vector.cuh>
#include <gpuopt/thread/vector_part.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// Blocks that a multiprocessor can hold at a time, by the registers of its threads: vectors of small elements take
// more.
constexpr unsigned permuteBlocks(std::size_t elementBytes) { return elementBytes == 1 ? 4 : elementBytes == 2 ? 6 : 8; }

// An axis of a tile, and the bytes from one of its indices to the next: in global memory, and in shared memory.
struct PermuteTileAxis {
  Divisor extent;
  int shared;
  std::ptrdiff_t global;
};

// A tile is a number of parts. Each is a set of input rows, which are contiguous, and a set of output rows, which are
// contiguous.
struct PermuteTilePlan {
  PermuteGrid grid;
  PermuteCut inCut;   // cuts the input rows, and the number of output rows or their length
  PermuteCut outCut;  // cuts the output rows, and the number of input rows or their length
  PermuteCut partCut;
  struct CutCounts {
    bool in;   // outCut lowers the number of input rows
    bool out;  // inCut that of output rows
  } countCut;

  unsigned parts;
  unsigned partBytes;  // in shared memory
  unsigned partAxes;
  struct PartAxis {
    Divisor extent;
    std::ptrdiff_t in;  // bytes
    std::ptrdiff_t out;
  } part[permuteTileRank];  // the axes that number the parts

  unsigned inRows;      // of a full tile
  unsigned inRowBytes;  // bytes of one
  unsigned inVectors;   // 16-byte accesses of one
  unsigned inPitch;     // bytes in shared memory from row to row
  struct Skew {
    unsigned bytes;  // more after every 2^shift rows
    unsigned shift;
  } inSkew;
  bool inLines;        // other accesses need the rest of the lines of 128 bytes, too
  unsigned inLanes;    // threads along a row
  unsigned inRowStep;  // rows that threads load at a time
  Divisor byInLanes;
  unsigned inRowAxes;
  PermuteTileAxis inRow[permuteTileRank];  // the axes that number the input rows

  unsigned outRows;
  unsigned outRowElements;
  unsigned outVectors;   // 16-byte accesses of an output row
  unsigned outBoundary;  // bytes: vectors are counted from such a boundary on, so that no store tears a sector
  bool outGroups;        // the elements of several rows that are neighbours in shared memory fill its words
  PermuteLanes outLanes;
  unsigned outRowAxes;
  PermuteTileAxis outRow[permuteTileRank];  // the axes that number the output rows
  unsigned outAxes;
  PermuteTileAxis outElement[permuteTileRank];  // the axes within an output row; `shared` is 0 for those of input rows
  unsigned first;                               // shared bytes of the element with all indices 0

  unsigned bufferOffset;  // in shared memory, behind the tables
};

// What the kernel gets. `in` and `out` are the addresses of the elements with all indices 0.
template <class In, class Out, class Function>
struct PermuteTileArgs {
  const unsigned char* in;
  unsigned char* out;
  std::uintptr_t inBegin;  // of the input's memory
  std::uintptr_t inEnd;
  PermuteTilePlan shape;
  Function function;
};

// A row of either tensor: bytes from the tile's first element in global memory, and from the buffer in shared memory.
struct alignas(16) PermuteRow {
  std::ptrdiff_t global;
  unsigned shared;
  unsigned isInside;  // all 16-byte words that an input row touches are in the input's memory
};

// The tile of a block: where it begins, and its sizes.
struct PermuteRegion {
  std::ptrdiff_t in = 0;
  std::ptrdiff_t out = 0;
  unsigned parts;
  unsigned inRows;  // of a part
  unsigned inRowBytes;
  unsigned outRows;
  unsigned outRowElements;
};

__device__ inline PermuteRegion permuteRegion(const PermuteTilePlan& shape) {
  const PermuteTileIndex tile = permuteTileIndex(shape.grid, shape.inCut, shape.outCut, shape.partCut);
  PermuteRegion region{tile.in,          tile.out,      shape.parts,         shape.inRows,
                       shape.inRowBytes, shape.outRows, shape.outRowElements};
  const auto cut = [](unsigned& size, const PermuteCut& by) { size = size / by.length * by.last; };
  if (tile.isInLast) {
    cut(region.inRowBytes, shape.inCut);
    if (shape.countCut.out) cut(region.outRows, shape.inCut);
  }
  if (tile.isOutLast) {
    cut(region.outRowElements, shape.outCut);
    if (shape.countCut.in) cut(region.inRows, shape.outCut);
  }
  if (tile.isPartLast) cut(region.parts, shape.partCut);
  return region;
}

// The offset of an index of several axes.
template <class Add>
__device__ inline void visitDigits(const PermuteTileAxis* axes, unsigned rank, unsigned index, Add add) {
  for (unsigned k = 0; k < rank; ++k) {
    const unsigned quotient = axes[k].extent.divide(index);
    add(axes[k], index - quotient * axes[k].extent.divisor);
    index = quotient;
  }
}

// Where an input row of a part begins in shared memory, before the misalignment of the part is added.
__device__ inline unsigned inRowShared(const PermuteTilePlan& shape, unsigned row, std::ptrdiff_t global) {
  return row * shape.inPitch + (row >> shape.inSkew.shift) * shape.inSkew.bytes + (static_cast<unsigned>(global) & 15);
}

template <class In, class Out, class Function>
class PermuteTile {
  using Args = PermuteTileArgs<In, Out, Function>;
  static constexpr bool onlyMoves = std::is_same_v<Function, Identity>;
  static constexpr bool PACKS = sizeof(Out) < 16 && isWord<Out>;
  static constexpr unsigned PACK = PACKS ? 16 / sizeof(Out) : 1;
  static constexpr unsigned VECTOR = PACK * sizeof(Out);
  static constexpr bool ROTATES = onlyMoves && (PACK == 2 || PACK == 4);
  static constexpr unsigned GROUP = onlyMoves && sizeof(Out) < 4 ? 4 / sizeof(Out) : 1;  // elements of a word

 public:
  __device__ explicit PermuteTile(const Args& args) : args_(args), shape_(args.shape) {
    unsigned char* const shared = dynamicShared<unsigned char>();
    outRows_ = reinterpret_cast<PermuteRow*>(shared);
    inRows_ = outRows_ + shape_.parts * shape_.outRows;
    elements_ = reinterpret_cast<unsigned*>(inRows_ + shape_.parts * shape_.inRows);
    buffer_ = shared + shape_.bufferOffset;
  }

  __device__ void move() {
    const PermuteRegion region = permuteRegion(shape_);
    const auto source = reinterpret_cast<std::uintptr_t>(args_.in + region.in);
    tabulateInRows(region, source);
    waitForPreviousKernel();
    __syncthreads();
    stage(region, source);
    tabulateOutRows(region, source);
    tabulateElements();
    awaitAsyncCopies();
    __syncthreads();
    if constexpr (GROUP > 1)
      if (shape_.outGroups) return storeGroups(region);
    store(region);
  }

 private:
  // The part of a row's number, and where that begins: the misalignment of its first element is that of shared memory.
  struct Part {
    std::ptrdiff_t in = 0;
    std::ptrdiff_t out = 0;
    unsigned shared = 0;
  };

  __device__ Part partOf(unsigned index, std::uintptr_t source) const {
    Part part;
    part.shared = index * shape_.partBytes;
    for (unsigned k = 0; k < shape_.partAxes; ++k) {
      const unsigned quotient = shape_.part[k].extent.divide(index);
      const unsigned digit = index - quotient * shape_.part[k].extent.divisor;
      part.in += digit * shape_.part[k].in;
      part.out += digit * shape_.part[k].out;
      index = quotient;
    }
    part.shared += static_cast<unsigned>(source + part.in) % 16;
    return part;
  }

  __device__ void tabulateInRows(const PermuteRegion& region, std::uintptr_t source) const {
    for (unsigned i = threadIdx.x; i < region.parts * region.inRows; i += permuteThreads) {
      const unsigned index = region.parts == 1 ? 0 : i / region.inRows;
      const unsigned r = i - index * region.inRows;
      const Part part = partOf(index, source);
      std::ptrdiff_t global = 0;
      visitDigits(shape_.inRow, shape_.inRowAxes, r,
                  [&](const PermuteTileAxis& axis, unsigned digit) { global += digit * axis.global; });
      const unsigned shared = part.shared + inRowShared(shape_, r, global);
      const std::uintptr_t begin = source + part.in + global;
      inRows_[i] = {part.in + global, shared,
                    isInMemory(begin - begin % 16, (begin + region.inRowBytes + 15) / 16 * 16)};
    }
  }

  __device__ void tabulateOutRows(const PermuteRegion& region, std::uintptr_t source) const {
    for (unsigned i = threadIdx.x; i < region.parts * region.outRows; i += permuteThreads) {
      const unsigned index = region.parts == 1 ? 0 : i / region.outRows;
      const Part part = partOf(index, source);
      PermuteRow row{part.out, part.shared + shape_.first, true};
      visitDigits(shape_.outRow, shape_.outRowAxes, i - index * region.outRows,
                  [&](const PermuteTileAxis& axis, unsigned digit) {
                    row.global += digit * axis.global;
                    row.shared += digit * axis.shared;
                  });
      outRows_[i] = row;
    }
  }

  // Where the elements of an output row are, from its first one on.
  __device__ void tabulateElements() const {
    for (unsigned p = threadIdx.x; p < shape_.outRowElements; p += permuteThreads) {
      unsigned shared = 0, row = 0, rows = 1;
      std::ptrdiff_t global = 0;
      visitDigits(shape_.outElement, shape_.outAxes, p, [&](const PermuteTileAxis& axis, unsigned digit) {
        if (axis.shared == 0)
          row += digit * rows, rows *= axis.extent.divisor, global += digit * axis.global;
        else
          shared += digit * axis.shared;
      });
      elements_[p] = shared + inRowShared(shape_, row, global);
    }
  }

  // Rows keep their misalignment, so that vectors of shared memory are vectors of global memory.
  __device__ void stage(const PermuteRegion& region, std::uintptr_t source) const {
    const unsigned firstRow = shape_.byInLanes.divide(threadIdx.x);
    if (firstRow >= shape_.inRowStep) return;
    const unsigned rows = region.parts * region.inRows;
#pragma unroll 1
    for (unsigned v = threadIdx.x - firstRow * shape_.inLanes; v < shape_.inVectors; v += shape_.inLanes) {
#pragma unroll 4
      for (unsigned i = firstRow; i < rows; i += shape_.inRowStep) {
        const PermuteRow row = inRows_[i];
        const unsigned misaligned = row.shared % 16;
        if (v * 16 < misaligned + region.inRowBytes)
          copyVector(buffer_ + (row.shared - misaligned + v * 16), source + row.global - misaligned + v * 16,
                     row.isInside);
      }
    }
  }

  __device__ bool isInMemory(std::uintptr_t begin, std::uintptr_t end) const {
    return begin >= args_.inBegin && end <= args_.inEnd;
  }

  __device__ void copyVector(unsigned char* shared, std::uintptr_t global, bool isInside) const {
    if (isInside || isInMemory(global, global + 16)) {
      if (shape_.inLines)
        copyAsync16<true>(shared, reinterpret_cast<const void*>(global));
      else
        copyAsync16<false>(shared, reinterpret_cast<const void*>(global));
    } else {
#pragma unroll
      for (unsigned i = 0; i < 16; ++i)
        if (global + i >= args_.inBegin && global + i < args_.inEnd)
          shared[i] = *reinterpret_cast<const unsigned char*>(global + i);
    }
  }

  // Of the element at an offset, modulo 2^32: positions along reversed axes are negative.
  __device__ Out result(unsigned shared) const {
    return args_.function(*reinterpret_cast<const In*>(buffer_ + shared));
  }

  // A thread keeps the positions of a vector while it goes from row to row, as long as the rows are equally misaligned.
  // It gathers a vector's elements from the k-th on, so that lanes that gather from rows of one alignment use all
  // banks.
  __device__ void store(const PermuteRegion& region) const {
    const PermuteLanes& by = shape_.outLanes;
    const PermuteStart start = permuteStart(by, threadIdx.x);
    if (start.row >= by.rowStep) return;
    const unsigned k = ROTATES ? permuteRotation(by, threadIdx.x) % PACK : 0;
    const auto target = reinterpret_cast<std::uintptr_t>(args_.out + region.out);
    const unsigned rows = region.parts * region.outRows;
#pragma unroll 1
    for (unsigned v = start.vector; v < shape_.outVectors; v += by.vectors) {
      unsigned from[PACK];
      unsigned shift = ~0U;  // none yet
#pragma unroll 1
      for (unsigned r = start.row; r < by.rowCycle; r += by.rowStep) {
#pragma unroll 1
        for (unsigned q = r; q < rows; q += by.rowCycle) {
          const PermuteRow row = outRows_[q];
          const std::uintptr_t begin = target + row.global;
          const unsigned misaligned =
              PACKS ? (static_cast<unsigned>(begin) & (shape_.outBoundary - 1)) / static_cast<unsigned>(sizeof(Out))
                    : 0;
          const unsigned first = v * PACK - misaligned;  // modulo 2^32: may be negative
          if (misaligned != shift) {
            shift = misaligned;
#pragma unroll
            for (unsigned i = 0; i < PACK; ++i) {
              const unsigned element = first + (ROTATES ? (i + k) % PACK : i);
              from[i] = element < shape_.outRowElements ? elements_[element] : 0;
            }
          }
          storeResults(reinterpret_cast<Out*>(begin) + static_cast<int>(first), row.shared, from, k, first,
                       region.outRowElements);
        }
      }
    }
  }

  // Stores the elements from `first` on that are in the row: all of a vector at once; at the row's ends one by one, or
  // bytes and halves in few stores (1.14 times as fast for short rows on an H100, 2026-11-28; words are slower so).
  // Loads are not divided alike, since all lanes would wait for both halves; but a function sees elements only.
  __device__ void storeResults(Out* out, unsigned row, const unsigned (&from)[PACK], unsigned k, unsigned first,
                               unsigned elements) const {
    if constexpr (PACKS) {
      Out results[PACK];
#pragma unroll
      for (unsigned i = 0; i < PACK; ++i)
        if (onlyMoves || first + i < elements) results[i] = result(row + from[i]);
      if constexpr (ROTATES) rotate(results, k);
      uint4 vector;
      __builtin_memcpy(&vector, results, sizeof(vector));
      if (first < elements && first + PACK <= elements) {
        storeVector(out, vector);
      } else if constexpr (sizeof(Out) <= 2) {
        storeEnd(out, vector, first, elements);
      } else {
#pragma unroll
        for (unsigned i = 0; i < PACK; ++i)
          if (first + i < elements) out[i] = results[i];
      }
    } else if (first < elements) {
      *out = result(row + from[0]);
    }
  }

  // The elements of a vector, whose first one is number `first` of a row, that are in the row.
  __device__ static void storeEnd(Out* out, const uint4& vector, unsigned first, unsigned elements) {
    constexpr auto SIZE = static_cast<unsigned>(sizeof(Out));
    const auto before = -static_cast<int>(first), left = static_cast<int>(elements - first);
    if (left <= 0 || before >= static_cast<int>(PACK)) return;
    const unsigned begin = before > 0 ? SIZE * static_cast<unsigned>(before) : 0;
    const unsigned end = static_cast<unsigned>(left) < PACK ? SIZE * static_cast<unsigned>(left) : 16;
    storeVectorPart<SIZE>(reinterpret_cast<unsigned char*>(out), vector, begin, end);
  }

  // Element i, which is number i + k of its vector, becomes that. Selections keep the array in registers.
  __device__ static void rotate(Out (&results)[PACK], unsigned k) {
#pragma unroll
    for (unsigned step = 1; step < PACK; step *= 2) {
      Out moved[PACK];
#pragma unroll
      for (unsigned i = 0; i < PACK; ++i) moved[i] = (k & step) != 0 ? results[(i + PACK - step) % PACK] : results[i];
#pragma unroll
      for (unsigned i = 0; i < PACK; ++i) results[i] = moved[i];
    }
  }

  // As store(), of GROUP rows at a time, which begin at 16-byte boundaries: a word of shared memory has an element of
  // each.
  __device__ void storeGroups(const PermuteRegion& region) const {
    const PermuteLanes& by = shape_.outLanes;
    const PermuteStart start = permuteStart(by, threadIdx.x);
    if (start.row >= by.rowStep) return;
    unsigned char* const target = args_.out + region.out;
#pragma unroll 1
    for (unsigned v = start.vector; v < shape_.outVectors; v += by.vectors) {
      const unsigned first = v * PACK;
      unsigned from[PACK];
#pragma unroll
      for (unsigned i = 0; i < PACK; ++i) from[i] = first + i < shape_.outRowElements ? elements_[first + i] : 0;
#pragma unroll 1
      for (unsigned q = start.row * GROUP; q < region.parts * region.outRows; q += by.rowStep * GROUP) {
        unsigned words[GROUP][4];
        gatherGroup(words, outRows_[q].shared, from);
#pragma unroll
        for (unsigned g = 0; g < GROUP; ++g)
          storeWords(reinterpret_cast<Out*>(target + outRows_[q + g].global) + first, words[g], first,
                     region.outRowElements);
      }
    }
  }

  // The vectors of GROUP rows.
  __device__ void gatherGroup(unsigned (&words)[GROUP][4], unsigned row, const unsigned (&from)[PACK]) const {
#pragma unroll
    for (unsigned w = 0; w < 4; ++w) {
      unsigned column[GROUP];
#pragma unroll
      for (unsigned i = 0; i < GROUP; ++i)
        column[i] = *reinterpret_cast<const unsigned*>(buffer_ + (row + from[w * GROUP + i]));
      transposeWords(column);
#pragma unroll
      for (unsigned g = 0; g < GROUP; ++g) words[g][w] = column[g];
    }
  }

  __device__ static void storeWords(Out* out, const unsigned (&words)[4], unsigned first, unsigned elements) {
    if (first + PACK <= elements) {
      storeVector(out, uint4{words[0], words[1], words[2], words[3]});
    } else {
      Out results[PACK];
      __builtin_memcpy(results, words, sizeof(results));
#pragma unroll
      for (unsigned i = 0; i < PACK; ++i)
        if (first + i < elements) out[i] = results[i];
    }
  }

  const Args& args_;
  const PermuteTilePlan& shape_;
  PermuteRow* outRows_;
  PermuteRow* inRows_;
  unsigned* elements_;
  unsigned char* buffer_;
};

// A function may need more registers than those of as many blocks.
template <class Out, class Function>
constexpr unsigned permuteMinBlocks = std::is_same_v<Function, Identity>
                                          ? smallerOf<unsigned>(permuteBlocks(sizeof(Out)),
                                                                RESIDENT_THREADS / permuteThreads)
                                          : 1;

template <class In, class Out, class Function>
GPUOPT_KERNEL void __launch_bounds__(permuteThreads, permuteMinBlocks<Out, Function>)
    permuteTileKernel(const PermuteTileArgs<In, Out, Function> args) {
  PermuteTile<In, Out, Function>(args).move();
}

GPUOPT_DETAIL_END
