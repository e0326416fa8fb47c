/// \file
/// Transposition of dense matrices of which few would fit into shared memory: a block takes some columns.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/transpose/batch_part.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/thread/async_copy.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// How the columns of a matrix are divided among blocks: in slabs of whole sectors of both sides, each of
// which is one run of the output.
struct SlabsShape {
  unsigned rows;
  unsigned cols;
  unsigned slabs;     // of a matrix
  unsigned unit;      // columns that are whole sectors
  unsigned units;     // of a matrix
  unsigned granules;  // of 16 bytes, of a row of the widest slab
  unsigned pitch;     // bytes from row to row in shared memory, modulo 32 as in the input
  unsigned swizzle;
  ShortDivisor byRows;
  ShortDivisor byGranules;
};

// Elements of 8, 12 and 16 bytes that only move.
template <class In, class Out, class Function>
inline constexpr bool slabsTake = std::is_same_v<In, Out>&& std::is_same_v<Function, Identity> &&
                                  (sizeof(In) == 8 || sizeof(In) == 12 || sizeof(In) == 16) &&
                                  sizeof(typename TransposeAtom<In, Out, Function>::Source) >= 4 &&
                                  isWord<typename TransposeAtom<In, Out, Function>::Source>;

constexpr unsigned SLABS_BLOCK = 256;  // threads

// Both arrays, and all rows of the input, begin at multiples of 16 bytes. A thread makes 16-byte vectors of
// the output.
template <class T>
GPUOPT_KERNEL void __launch_bounds__(SLABS_BLOCK, RESIDENT_THREADS / SLABS_BLOCK)
    transposeSlabsKernel(const T* in, T* out, const SlabsShape shape) {
  using Atom = TransposeAtom<T, T, Identity>;
  using Word = typename Atom::Source;
  constexpr unsigned SIZE = sizeof(T);
  constexpr unsigned COUNT = Atom::COUNT;
  constexpr unsigned WORDS = 16 / sizeof(Word);
  waitForPreviousKernel();
  const SwizzledBytes<true> staged{&keepAddress(*dynamicShared<unsigned char>()), shape.swizzle};
  const unsigned matrix = blockIdx.x / shape.slabs;
  const unsigned slab = blockIdx.x - matrix * shape.slabs;
  const auto beginOf = [&](unsigned number) {
    const unsigned col = number * shape.units / shape.slabs * shape.unit;
    return col < shape.cols ? col : shape.cols;
  };
  const unsigned first = beginOf(slab);
  const unsigned width = beginOf(slab + 1) - first;
  const std::size_t before = std::size_t{matrix} * shape.rows * shape.cols;

  const auto source = reinterpret_cast<const unsigned char*>(in + before + first);
  const unsigned origin = placeOf(source);
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < shape.rows * shape.granules; i += SLABS_BLOCK) {
    const unsigned row = shape.byGranules.divide(i);
    const unsigned offset = (i - row * shape.granules) * 16;
    if (offset < width * SIZE)
      copyAsync16(staged.at(origin + row * shape.pitch + offset), source + row * shape.cols * SIZE + offset);
  }
  awaitAsyncCopies();
  __syncthreads();

  // Stores begin at a line, so that a warp's lie in whole ones.
  const auto results = reinterpret_cast<uint4*>(out + before + first * shape.rows);
  const int lead = static_cast<int>(reinterpret_cast<std::uintptr_t>(results) % 128 / 16);
  const int vectors = static_cast<int>(width * shape.rows * SIZE / 16);
  for (int i = static_cast<int>(threadIdx.x) - lead; i < vectors; i += static_cast<int>(SLABS_BLOCK))
    if (i >= 0) {
      const unsigned word = static_cast<unsigned>(i) * WORDS;
      const unsigned element = word / COUNT;
      const unsigned col = shape.byRows.divide(element);
      unsigned part = word % COUNT;
      unsigned row = element - col * shape.rows;
      unsigned place = origin + row * shape.pitch + col * SIZE + part * static_cast<unsigned>(sizeof(Word));
      Word words[WORDS];
#pragma unroll
      for (unsigned k = 0; k < WORDS; ++k) {
        words[k] = *reinterpret_cast<const Word*>(staged.at(place));
        if (k + 1 == WORDS) break;
        place += static_cast<unsigned>(sizeof(Word));
        if (++part < COUNT) continue;
        part = 0;
        place += shape.pitch - SIZE;
        if (++row < shape.rows) continue;
        row = 0;
        place -= shape.rows * shape.pitch - SIZE;
      }
      uint4 vector;
      __builtin_memcpy(&vector, words, 16);
      results[i] = vector;
    }
}

// Rows of `width` bytes lie so far apart, and are swizzled so, that few of those that neighbours read meet in
// a bank. Searching for the best pitch saves at most an eighth of the reads for the shapes that have been
// measured.
template <class T>
void spreadSlabs(SlabsShape& shape, unsigned width) {
  constexpr bool VECTORS = sizeof(T) == alignof(T) && sizeof(T) == 16;
  constexpr unsigned NONE = 31;
  const bool odd = shape.cols * sizeof(T) % 32 != 0;
  shape.pitch = width + ((odd ? 16 : 0) + 32 - width % 32) % 32;
  shape.swizzle = 3;
  if (VECTORS && odd) {
    shape.swizzle = NONE;
  } else if (VECTORS) {
    shape.pitch = static_cast<unsigned>(ceilDivide(shape.pitch, 128) * 128);
    shape.swizzle = swizzleFor(shape.pitch);
  } else if (shape.pitch % 64 == 0) {
    shape.pitch += 32;
  }
}

// Slabs of about so many bytes.
template <class Problem>
SlabsShape slabsShape(const Problem& problem, std::size_t bytes) {
  using T = typename Problem::Input;
  constexpr std::size_t SIZE = sizeof(T);
  SlabsShape shape{};
  shape.rows = static_cast<unsigned>(problem.rows);
  shape.cols = static_cast<unsigned>(problem.cols);
  shape.unit = static_cast<unsigned>(32 / greatestCommonDivisor(SIZE, std::size_t{32}));
  shape.units = static_cast<unsigned>(ceilDivide(problem.cols, shape.unit));
  const std::size_t slabs = (problem.rows * problem.cols * SIZE + bytes / 2) / bytes;
  shape.slabs = static_cast<unsigned>(clampTo(slabs, std::size_t{1}, std::size_t{shape.units}));
  const std::size_t widest =
      smallerOf(ceilDivide(shape.units, shape.slabs) * shape.unit, problem.cols) * SIZE;
  shape.granules = static_cast<unsigned>(widest / 16);
  spreadSlabs<T>(shape, static_cast<unsigned>(widest));
  shape.byRows = ShortDivisor(shape.rows);
  shape.byGranules = ShortDivisor(shape.granules);
  return shape;
}

template <class Policy, class In, class Out, class Function>
bool slabsFit(const TransposeProblem<In, Out, Function>& problem) {
  constexpr std::size_t MOST = Policy::slabsMatrixBytes / sizeof(In);
  if (!slabsTake<In, Out, Function> || problem.batch < Policy::leastBatch || !isDense(problem)) return false;
  if (smallerOf(problem.rows, problem.cols) < Policy::slabsSide) return false;
  if (largerOf(problem.rows, problem.cols) > MOST) return false;
  const std::size_t area = problem.rows * problem.cols;
  return area <= MOST && area * sizeof(In) > Policy::slabsLeastBytes && alignedTo(problem.in, 16) &&
         alignedTo(problem.out, 16) && problem.cols * sizeof(In) % 16 == 0;
}

}  // namespace detail
GPUOPT_NAMESPACE_END
