/// \file
/// The kernel that transposes matrices with few rows or few columns, and how it loads and stores the long lines.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/device/transpose/plan_sizes.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/device/transpose/skinny_image.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/thread/vector.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// The lines of a region; numbers of atoms are those of one line.
struct SkinnyLines {
  std::uintptr_t address;  // of the first line
  std::size_t stride;      // bytes between lines
  int haloAtoms;
  int imageAtoms;
  int tileAtoms;
};

template <class Layout>
__device__ inline SkinnyLines skinnyLines(const void* matrices, std::size_t offset, std::size_t ld,
                                          const SkinnyArgs& args, const SkinnyRegion& region) {
  return {reinterpret_cast<std::uintptr_t>(matrices) + offset * Layout::LINE_ELEMENT, ld * Layout::LINE_ELEMENT,
          static_cast<int>(region.halo * Layout::COUNT), static_cast<int>(region.count * Layout::COUNT),
          static_cast<int>(args.tileRecords * Layout::COUNT)};
}

// A vector of a line: the PACK atoms from `first` on, of which those in [0, end) belong to the region.
struct LineVector {
  std::uintptr_t address;
  unsigned line;
  int first;
  int end;
};

template <class Layout>
__device__ inline LineVector lineVector(const SkinnyLines& lines, unsigned line, unsigned atom) {
  using Line = typename Layout::Line;
  LineVector vector;
  const std::uintptr_t address = lines.address + line * lines.stride;
  int start = lines.haloAtoms;
  if constexpr (isWord<Line>)
    start -= static_cast<int>((address + lines.haloAtoms * sizeof(Line)) % Layout::LINE_ALIGNMENT / sizeof(Line));
  vector.line = line;
  vector.first = start + static_cast<int>(atom);
  vector.end =
      Layout::TO_RECORDS || start + lines.tileAtoms > lines.imageAtoms ? lines.imageAtoms : start + lines.tileAtoms;
  vector.address = address + vector.first * static_cast<std::ptrdiff_t>(sizeof(Line));
  return vector;
}

template <class Layout>
__device__ inline LineVector lineVectorAt(const SkinnyLines& lines, const SkinnyArgs& args, unsigned index) {
  const unsigned pair = index >> args.laneBits;  // a line and a group of its vectors
  const unsigned group = args.byLines.divide(pair);
  const unsigned lane = index & ((1U << args.laneBits) - 1);
  return lineVector<Layout>(lines, pair - group * args.lines, ((group << args.laneBits) + lane) * Layout::PACK);
}

// Walks along a line in the image, atom by atom.
template <class Layout>
struct ImageWalk {
  unsigned byte;
  unsigned atom;  // in the element
  unsigned width;

  // first > -LINE_ALIGNMENT
  __device__ ImageWalk(const SkinnyRecords& records, unsigned line, int first) : width(records.width) {
    const unsigned shifted = static_cast<unsigned>(first + static_cast<int>(Layout::LINE_ALIGNMENT * Layout::COUNT));
    atom = shifted % Layout::COUNT;
    byte = records.origin + (shifted / Layout::COUNT - Layout::LINE_ALIGNMENT) * width + line * Layout::ELEMENT +
           atom * static_cast<unsigned>(sizeof(typename Layout::Image));
  }

  __device__ void next() {
    if constexpr (Layout::COUNT == 1) {
      byte += width;
    } else {
      constexpr unsigned ATOM = sizeof(typename Layout::Image);
      atom = atom + 1 == Layout::COUNT ? 0 : atom + 1;
      byte += atom == 0 ? width - (Layout::ELEMENT - ATOM) : ATOM;
    }
  }
};

// Calls visit(i, its address in the image) for the atoms of a vector.
template <class Layout, bool SWIZZLED, class Visit>
__device__ inline void walkVector(const SkinnyRecords& records, const SkinnyArgs& args, unsigned line, int first,
                                  Visit visit) {
  ImageWalk<Layout> walk(records, line, first);
#pragma unroll
  for (int i = 0; i < static_cast<int>(Layout::PACK); ++i, walk.next())
    visit(i,
          reinterpret_cast<typename Layout::Image*>(records.image + (SWIZZLED ? args.swizzle(walk.byte) : walk.byte)));
}

template <class Layout, class Visit>
__device__ inline void visitVector(const SkinnyRecords& records, const SkinnyArgs& args, unsigned line, int first,
                                   Visit visit) {
  if (args.swizzle.mask == 0)
    walkVector<Layout, false>(records, args, line, first, visit);
  else
    walkVector<Layout, true>(records, args, line, first, visit);
}

template <class Layout, class Function>
__device__ inline void scatterVector(const SkinnyRecords& records, const SkinnyArgs& args, unsigned line, int first,
                                     int end, const typename Layout::Vector& vector, const Function& function) {
  constexpr int PACK = Layout::PACK;
  typename Layout::Line atoms[PACK];
  __builtin_memcpy(atoms, &vector, sizeof(vector));
  if (Layout::MARGIN || (first >= 0 && first + PACK <= end))
    visitVector<Layout>(records, args, line, first,
                        [&](int i, typename Layout::Image* atom) { *atom = function(atoms[i]); });
  else
    walkVector<Layout, true>(records, args, line, first, [&](int i, typename Layout::Image* atom) {
      if (first + i >= 0 && first + i < end) *atom = function(atoms[i]);
    });
}

template <class Layout>
__device__ inline typename Layout::Vector loadLineVector(std::uintptr_t address) {
  using Vector = typename Layout::Vector;
  if constexpr (std::is_same_v<Vector, uint4>)
    return loadVector<Caching::normal>(reinterpret_cast<const void*>(address));
  else
    return *reinterpret_cast<const Vector*>(address);
}

// Whether all of the vector is inside of the input's memory.
template <class Layout>
__device__ inline bool isInside(const SkinnyArgs& args, const LineVector& vector) {
  return vector.address >= args.inBegin && vector.address + sizeof(typename Layout::Vector) <= args.inEnd;
}

// Loads the lines into the image. Vectors that are shared with other tiles are loaded, too, but not those that reach
// beyond the input's memory.
template <class Layout, class Function>
__device__ inline void loadLines(const SkinnyLines& lines, const SkinnyRecords& records, const SkinnyArgs& args,
                                 const Function& function) {
  for (unsigned index = threadIdx.x; index < args.vectors; index += Layout::LOADS_IN_FLIGHT * blockDim.x) {
    typename Layout::Vector vectors[Layout::LOADS_IN_FLIGHT];
    unsigned line[Layout::LOADS_IN_FLIGHT];
    int first[Layout::LOADS_IN_FLIGHT];
#pragma unroll
    for (unsigned i = 0; i < Layout::LOADS_IN_FLIGHT; ++i) {
      const LineVector vector = lineVectorAt<Layout>(lines, args, index + i * blockDim.x);
      const bool isLoaded =
          index + i * blockDim.x < args.vectors && vector.first < lines.imageAtoms && isInside<Layout>(args, vector);
      line[i] = vector.line;
      first[i] = vector.first;
      if (isLoaded)
        vectors[i] = loadLineVector<Layout>(vector.address);
      else
        first[i] = lines.imageAtoms;
    }
#pragma unroll
    for (unsigned i = 0; i < Layout::LOADS_IN_FLIGHT; ++i)
      if (first[i] < lines.imageAtoms)
        scatterVector<Layout>(records, args, line[i], first[i], lines.imageAtoms, vectors[i], function);
  }
}

// Loads the first vector of the first line and the last vector of the last line, if they reach beyond the input's
// memory: one atom a thread.
template <class Layout, class Function>
__device__ inline void loadLineEnds(const SkinnyLines& lines, const SkinnyRecords& records, const SkinnyArgs& args,
                                    const Function& function) {
  constexpr int PACK = Layout::PACK;
  if (threadIdx.x >= 2 * PACK) return;
  const bool second = threadIdx.x >= PACK;
  const unsigned line = second ? args.lines - 1 : 0;
  const int start = lineVector<Layout>(lines, line, 0).first;
  const int first = -start / PACK;
  const int last = (lines.imageAtoms - 1 - start) / PACK;
  if (second && last == first && args.lines == 1) return;
  const LineVector vector = lineVector<Layout>(lines, line, static_cast<unsigned>((second ? last : first) * PACK));
  const unsigned i = threadIdx.x % PACK;
  const int atom = vector.first + static_cast<int>(i);
  if (isInside<Layout>(args, vector) || atom < 0 || atom >= lines.imageAtoms) return;
  const ImageWalk<Layout> walk(records, line, atom);
  *reinterpret_cast<typename Layout::Image*>(records.image + args.swizzle(walk.byte)) =
      function(reinterpret_cast<const typename Layout::Line*>(vector.address)[i]);
}

// Stores the lines from the image. All vectors are full, except those at the ends of the lines.
template <class Layout, class Function>
__device__ inline void storeLines(const SkinnyLines& lines, const SkinnyRecords& records, const SkinnyArgs& args,
                                  const Function& function) {
  using Line = typename Layout::Line;
  using Vector = typename Layout::Vector;
  constexpr int PACK = Layout::PACK;
#pragma unroll 1
  for (unsigned index = threadIdx.x; index < args.vectors; index += blockDim.x) {
    const LineVector vector = lineVectorAt<Layout>(lines, args, index);
    Line* const out = reinterpret_cast<Line*>(vector.address);
    if (vector.first >= 0 && vector.first + PACK <= vector.end) {
      Line atoms[PACK];
      visitVector<Layout>(records, args, vector.line, vector.first,
                          [&](int i, const typename Layout::Image* atom) { atoms[i] = function(*atom); });
      Vector packed;
      __builtin_memcpy(&packed, atoms, sizeof(packed));
      *reinterpret_cast<Vector*>(out) = packed;
    } else {
#pragma unroll 1
      for (int i = 0; i < PACK; ++i) {
        if (vector.first + i < 0 || vector.first + i >= vector.end) continue;
        const ImageWalk<Layout> walk(records, vector.line, vector.first + i);
        out[i] = function(*reinterpret_cast<const typename Layout::Image*>(records.image + args.swizzle(walk.byte)));
      }
    }
  }
}

template <class Layout, class Problem>
GPUOPT_KERNEL void __launch_bounds__(Layout::BLOCK, smallerOf<int>(Layout::BLOCKS, RESIDENT_THREADS / Layout::BLOCK))
    transposeSkinnyKernel(const Problem problem, const SkinnyArgs args) {
  waitForPreviousKernel();
  const SkinnyRegion region = skinnyRegion(args);
  if constexpr (Layout::TO_RECORDS) {
    const auto lines =
        skinnyLines<Layout>(problem.in, region.matrix * problem.inStride + region.first, problem.inLd, args, region);
    const auto records =
        skinnyRecords<Layout>(problem.out, region.matrix * problem.outStride + region.first * problem.outLd,
                              problem.outLd, args, region.count);
    loadLines<Layout>(lines, records, args, problem.function);
    if constexpr (Layout::PACK > 1) loadLineEnds<Layout>(lines, records, args, problem.function);
    __syncthreads();
    storeRecords<Layout>(records, args);
  } else {
    const auto records = skinnyRecords<Layout>(
        problem.in, region.matrix * problem.inStride + region.first * problem.inLd, problem.inLd, args, region.count);
    const auto lines =
        skinnyLines<Layout>(problem.out, region.matrix * problem.outStride + region.first, problem.outLd, args, region);
    loadRecords<Layout>(records, args);
    __syncthreads();
    storeLines<Layout>(lines, records, args, problem.function);
  }
}

template <class Layout, class Problem>
SkinnyArgs skinnyArgs(const Problem& problem, const SkinnySizes& sizes) {
  using Image = typename Layout::Image;
  SkinnyArgs args;
  args.inBegin = reinterpret_cast<std::uintptr_t>(problem.in);
  args.inEnd = inEndOf(problem);
  args.records = sizes.records;
  args.lines = sizes.lines;
  args.tileRecords = sizes.tile;
  args.tiles = static_cast<unsigned>(ceilDivide(sizes.records + sizes.halo, sizes.tile));
  args.halo = sizes.halo;
  args.margin = sizes.margin;
  args.vectors = sizes.vectors;
  args.laneBits = sizes.lanes == 8 ? 3 : sizes.lanes == 16 ? 4 : 5;
  args.byLines = FixedShiftDivisor<18>(sizes.lines);
  args.swizzle = laneSwizzle<Layout>(isWord<Image> ? sizes.lines * Layout::PACK * sizeof(Image) : 1);
  args.dense = (Layout::TO_RECORDS ? problem.outLd : problem.inLd) == sizes.lines;
  return args;
}

GPUOPT_DETAIL_END
