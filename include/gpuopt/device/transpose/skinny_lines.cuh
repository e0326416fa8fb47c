/// \file
/// The lines of narrow matrices: by 16-byte vectors into the image of their records, and out of it.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/device/transpose/skinny_image.cuh>
#include <gpuopt/thread/vector.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// The lines of a region: in global memory from `address` on, `stride` bytes apart.
struct SkinnyLines {
  std::uintptr_t address;
  std::size_t stride;
  int halo;   // atoms
  int count;  // atoms in the image
  int tile;   // atoms of a tile
};

template <class Layout>
__device__ inline SkinnyLines skinnyLines(const void* matrices, std::size_t offset, std::size_t ld,
                                          const SkinnyShape& shape, const SkinnyRegion& region) {
  return {reinterpret_cast<std::uintptr_t>(matrices) + offset * Layout::LINE_ELEMENT,
          ld * Layout::LINE_ELEMENT, static_cast<int>(region.halo * Layout::COUNT),
          static_cast<int>(region.count * Layout::COUNT),
          static_cast<int>(shape.tileRecords * Layout::COUNT)};
}

// A vector of a line: PACK atoms from `first` on; those outside of [0, end) are left out.
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
  int start = lines.halo;
  if constexpr (isWord<Line>)
    start -= static_cast<int>((address + lines.halo * sizeof(Line)) % Layout::LINE_ALIGNMENT / sizeof(Line));
  vector.line = line;
  vector.first = start + static_cast<int>(atom);
  vector.end = Layout::TO_RECORDS || start + lines.tile > lines.count ? lines.count : start + lines.tile;
  vector.address = address + vector.first * static_cast<std::ptrdiff_t>(sizeof(Line));
  return vector;
}

template <class Layout>
__device__ inline LineVector lineVectorAt(const SkinnyLines& lines, const SkinnyShape& shape, unsigned item) {
  const unsigned pair = item >> shape.laneBits;
  const unsigned group = shape.byLines.divide(pair);
  const unsigned lane = item & ((1U << shape.laneBits) - 1);
  return lineVector<Layout>(lines, pair - group * shape.lines,
                            ((group << shape.laneBits) + lane) * Layout::PACK);
}

// Walks through the image along a line, from atom to atom.
template <class Layout>
struct ImageWalk {
  unsigned byte;
  unsigned part;
  unsigned width;

  // first > -LINE_ALIGNMENT.
  __device__ ImageWalk(const SkinnyRecords& records, unsigned line, int first) : width(records.width) {
    const unsigned shifted =
        static_cast<unsigned>(first + static_cast<int>(Layout::LINE_ALIGNMENT * Layout::COUNT));
    part = shifted % Layout::COUNT;
    byte = records.origin + (shifted / Layout::COUNT - Layout::LINE_ALIGNMENT) * width +
           line * Layout::ELEMENT + part * static_cast<unsigned>(sizeof(typename Layout::Image));
  }

  __device__ void next() {
    if constexpr (Layout::COUNT == 1) {
      byte += width;
    } else {
      constexpr unsigned ATOM = sizeof(typename Layout::Image);
      part = part + 1 == Layout::COUNT ? 0 : part + 1;
      byte += part == 0 ? width - (Layout::ELEMENT - ATOM) : ATOM;
    }
  }
};

// visit(i, place in the image) for the atoms of a vector.
template <class Layout, bool SWIZZLED, class Visit>
__device__ inline void walkVector(const SkinnyRecords& records, const SkinnyShape& shape, unsigned line,
                                  int first, Visit visit) {
  ImageWalk<Layout> walk(records, line, first);
#pragma unroll
  for (int i = 0; i < static_cast<int>(Layout::PACK); ++i, walk.next())
    visit(i, reinterpret_cast<typename Layout::Image*>(records.image +
                                                       (SWIZZLED ? shape.swizzle(walk.byte) : walk.byte)));
}

template <class Layout, class Visit>
__device__ inline void visitVector(const SkinnyRecords& records, const SkinnyShape& shape, unsigned line,
                                   int first, Visit visit) {
  if (shape.swizzle.mask == 0)
    walkVector<Layout, false>(records, shape, line, first, visit);
  else
    walkVector<Layout, true>(records, shape, line, first, visit);
}

template <class Layout, class Function>
__device__ inline void scatterVector(const SkinnyRecords& records, const SkinnyShape& shape, unsigned line,
                                     int first, int end, const typename Layout::Vector& vector,
                                     const Function& function) {
  constexpr int PACK = Layout::PACK;
  typename Layout::Line atoms[PACK];
  __builtin_memcpy(atoms, &vector, sizeof(vector));
  if (Layout::MARGIN || (first >= 0 && first + PACK <= end))
    visitVector<Layout>(records, shape, line, first,
                        [&](int i, typename Layout::Image* place) { *place = function(atoms[i]); });
  else
    walkVector<Layout, true>(records, shape, line, first, [&](int i, typename Layout::Image* place) {
      if (first + i >= 0 && first + i < end) *place = function(atoms[i]);
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

// Whether a vector lies in the input's memory as a whole.
template <class Layout>
__device__ inline bool isInside(const SkinnyShape& shape, const LineVector& vector) {
  return vector.address >= shape.inBegin && vector.address + sizeof(typename Layout::Vector) <= shape.inEnd;
}

// Brings the lines into the image. Vectors that are shared with other tiles are read as well; not those that
// stick out of the input's memory.
template <class Layout, class Function>
__device__ inline void loadLines(const SkinnyLines& lines, const SkinnyRecords& records,
                                 const SkinnyShape& shape, const Function& function) {
  for (unsigned item = threadIdx.x; item < shape.vectors; item += Layout::LOADS_IN_FLIGHT * blockDim.x) {
    typename Layout::Vector vectors[Layout::LOADS_IN_FLIGHT];
    unsigned line[Layout::LOADS_IN_FLIGHT];
    int first[Layout::LOADS_IN_FLIGHT];
#pragma unroll
    for (unsigned i = 0; i < Layout::LOADS_IN_FLIGHT; ++i) {
      const LineVector vector = lineVectorAt<Layout>(lines, shape, item + i * blockDim.x);
      const bool holds = item + i * blockDim.x < shape.vectors && vector.first < lines.count &&
                         isInside<Layout>(shape, vector);
      line[i] = vector.line;
      first[i] = vector.first;
      if (holds)
        vectors[i] = loadLineVector<Layout>(vector.address);
      else
        first[i] = lines.count;
    }
#pragma unroll
    for (unsigned i = 0; i < Layout::LOADS_IN_FLIGHT; ++i)
      if (first[i] < lines.count)
        scatterVector<Layout>(records, shape, line[i], first[i], lines.count, vectors[i], function);
  }
}

// The first vector of the first line, and the last one of the last, if they stick out of the input's memory:
// a thread takes an atom.
template <class Layout, class Function>
__device__ inline void loadLineEnds(const SkinnyLines& lines, const SkinnyRecords& records,
                                    const SkinnyShape& shape, const Function& function) {
  constexpr int PACK = Layout::PACK;
  if (threadIdx.x >= 2 * PACK) return;
  const bool second = threadIdx.x >= PACK;
  const unsigned line = second ? shape.lines - 1 : 0;
  const int start = lineVector<Layout>(lines, line, 0).first;
  const int first = -start / PACK;
  const int last = (lines.count - 1 - start) / PACK;
  if (second && last == first && shape.lines == 1) return;
  const LineVector vector =
      lineVector<Layout>(lines, line, static_cast<unsigned>((second ? last : first) * PACK));
  const unsigned i = threadIdx.x % PACK;
  const int atom = vector.first + static_cast<int>(i);
  if (isInside<Layout>(shape, vector) || atom < 0 || atom >= lines.count) return;
  const ImageWalk<Layout> walk(records, line, atom);
  *reinterpret_cast<typename Layout::Image*>(records.image + shape.swizzle(walk.byte)) =
      function(reinterpret_cast<const typename Layout::Line*>(vector.address)[i]);
}

// Writes the lines from the image. All vectors are whole but those at the ends of the lines.
template <class Layout, class Function>
__device__ inline void storeLines(const SkinnyLines& lines, const SkinnyRecords& records,
                                  const SkinnyShape& shape, const Function& function) {
  using Line = typename Layout::Line;
  using Vector = typename Layout::Vector;
  constexpr int PACK = Layout::PACK;
#pragma unroll 1
  for (unsigned item = threadIdx.x; item < shape.vectors; item += blockDim.x) {
    const LineVector vector = lineVectorAt<Layout>(lines, shape, item);
    Line* const out = reinterpret_cast<Line*>(vector.address);
    if (vector.first >= 0 && vector.first + PACK <= vector.end) {
      Line atoms[PACK];
      visitVector<Layout>(records, shape, vector.line, vector.first,
                          [&](int i, const typename Layout::Image* place) { atoms[i] = function(*place); });
      Vector packed;
      __builtin_memcpy(&packed, atoms, sizeof(packed));
      *reinterpret_cast<Vector*>(out) = packed;
    } else {
#pragma unroll 1
      for (int i = 0; i < PACK; ++i) {
        if (vector.first + i < 0 || vector.first + i >= vector.end) continue;
        const ImageWalk<Layout> walk(records, vector.line, vector.first + i);
        out[i] = function(
            *reinterpret_cast<const typename Layout::Image*>(records.image + shape.swizzle(walk.byte)));
      }
    }
  }
}

}  // namespace detail
GPUOPT_NAMESPACE_END
