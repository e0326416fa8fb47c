/// \file
/// The lines of narrow matrices: by 16-byte vectors into the image of their records, and out of it.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/transpose_narrow_image.cuh>
#include <gpuopt/device/transpose_problem.cuh>
#include <gpuopt/thread/vector.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gpuopt::detail {

// The lines of a piece: in global memory from `address` on, `stride` bytes apart.
struct NarrowLines {
  std::uintptr_t address;
  std::size_t stride;
  int halo;   // atoms
  int count;  // atoms in the image
  int tile;   // atoms of a tile
};

template <class Layout>
__device__ inline NarrowLines narrowLines(const void* matrices, std::size_t offset, std::size_t ld,
                                          const NarrowShape& shape, const NarrowPiece& piece) {
  return {reinterpret_cast<std::uintptr_t>(matrices) + offset * Layout::LINE_ELEMENT,
          ld * Layout::LINE_ELEMENT, static_cast<int>(piece.halo * Layout::COUNT),
          static_cast<int>(piece.count * Layout::COUNT), static_cast<int>(shape.tile * Layout::COUNT)};
}

// A vector of a line, whose first part holds PART atoms from `first` on; atoms outside of [0, end) are left
// out. Each further part begins partStep atoms later.
struct NarrowVector {
  std::uintptr_t address;
  unsigned line;
  int first;
  int end;
};

template <class Layout>
__device__ inline NarrowVector narrowVector(const NarrowLines& lines, unsigned line, unsigned atom) {
  using Line = typename Layout::Line;
  NarrowVector vector;
  const std::uintptr_t address = lines.address + line * lines.stride;
  int start = lines.halo;
  if constexpr (isWord<Line>)
    start -= static_cast<int>((address + lines.halo * sizeof(Line)) % Layout::START / sizeof(Line));
  vector.line = line;
  vector.first = start + static_cast<int>(atom);
  vector.end = Layout::TO_RECORDS || start + lines.tile > lines.count ? lines.count : start + lines.tile;
  vector.address = address + vector.first * static_cast<std::ptrdiff_t>(sizeof(Line));
  return vector;
}

template <class Layout>
__device__ inline int partStep(const NarrowShape& shape) {
  return static_cast<int>(Layout::PART << shape.laneBits);
}

template <class Layout>
__device__ inline NarrowVector narrowItem(const NarrowLines& lines, const NarrowShape& shape, unsigned item) {
  const auto quotient = [&](unsigned n) { return n * shape.reciprocal >> reciprocalBits; };
  const unsigned pair = item >> shape.laneBits;
  const unsigned group = quotient(pair);
  unsigned line = pair - group * shape.lines;
  if (Layout::APART > 1 && shape.lines % Layout::APART == 0) {
    const unsigned turn = quotient(line * Layout::APART);
    line = line * Layout::APART - turn * shape.lines + turn;
  }
  const unsigned lane = item & ((1U << shape.laneBits) - 1);
  return narrowVector<Layout>(lines, line, (group << shape.laneBits) * Layout::PACK + lane * Layout::PART);
}

// Walks through the image along a line, from atom to atom.
template <class Layout>
struct ImageWalk {
  unsigned byte;
  unsigned part;
  unsigned width;

  // first > -START.
  __device__ ImageWalk(const NarrowRecords& records, unsigned line, int first) : width(records.width) {
    const unsigned shifted = static_cast<unsigned>(first + static_cast<int>(Layout::START * Layout::COUNT));
    part = shifted % Layout::COUNT;
    byte = records.origin + (shifted / Layout::COUNT - Layout::START) * width + line * Layout::ELEMENT +
           part * static_cast<unsigned>(sizeof(typename Layout::Image));
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

// visit(i, place in the image) for the atoms of a part.
template <class Layout, bool SWIZZLED, class Visit>
__device__ inline void walkPart(const NarrowRecords& records, const NarrowShape& shape, unsigned line,
                                int first, Visit visit) {
  ImageWalk<Layout> walk(records, line, first);
#pragma unroll
  for (int i = 0; i < static_cast<int>(Layout::PART); ++i, walk.next())
    visit(i, reinterpret_cast<typename Layout::Image*>(records.image +
                                                       (SWIZZLED ? swizzled(shape, walk.byte) : walk.byte)));
}

template <class Layout, class Visit>
__device__ inline void visitPart(const NarrowRecords& records, const NarrowShape& shape, unsigned line,
                                 int first, Visit visit) {
  if (shape.swizzle == noSwizzle)
    walkPart<Layout, false>(records, shape, line, first, visit);
  else
    walkPart<Layout, true>(records, shape, line, first, visit);
}

template <class Layout, class Function>
__device__ inline void scatterPart(const NarrowRecords& records, const NarrowShape& shape, unsigned line,
                                   int first, int end, const typename Layout::Chunk& part,
                                   const Function& function) {
  constexpr int PART = Layout::PART;
  typename Layout::Line atoms[PART];
  __builtin_memcpy(atoms, &part, sizeof(part));
  if (Layout::MARGIN || (first >= 0 && first + PART <= end))
    visitPart<Layout>(records, shape, line, first,
                      [&](int i, typename Layout::Image* place) { *place = function(atoms[i]); });
  else
    walkPart<Layout, true>(records, shape, line, first, [&](int i, typename Layout::Image* place) {
      if (first + i >= 0 && first + i < end) *place = function(atoms[i]);
    });
}

template <class Layout>
__device__ inline typename Layout::Chunk loadPart(std::uintptr_t address) {
  using Chunk = typename Layout::Chunk;
  if constexpr (std::is_same_v<Chunk, uint4>)
    return loadVector<Caching::normal>(reinterpret_cast<const void*>(address));
  else
    return *reinterpret_cast<const Chunk*>(address);
}

// Brings the lines into the image. Parts that share 16 bytes with other tiles are read as well; not those
// that stick out of the input's memory.
template <class Layout, class Function>
__device__ inline void loadLines(const NarrowLines& lines, const NarrowRecords& records,
                                 const NarrowShape& shape, const Function& function) {
  using Chunk = typename Layout::Chunk;
  constexpr unsigned PARTS = Layout::PARTS;
  const auto step = static_cast<unsigned>(partStep<Layout>(shape));
  for (unsigned item = threadIdx.x; item < shape.items; item += Layout::ITEMS * blockDim.x) {
    Chunk parts[Layout::ITEMS][PARTS];
    unsigned line[Layout::ITEMS];
    int first[Layout::ITEMS];
    unsigned held = 0;  // a bit for each part; single ones do without the register
#pragma unroll
    for (unsigned i = 0; i < Layout::ITEMS; ++i) {
      const NarrowVector place = narrowItem<Layout>(lines, shape, item + i * blockDim.x);
      line[i] = place.line;
      first[i] = place.first;
#pragma unroll
      for (unsigned j = 0; j < PARTS; ++j) {
        const std::uintptr_t address = place.address + j * step * sizeof(typename Layout::Line);
        const bool holds = item + i * blockDim.x < shape.items &&
                           place.first + static_cast<int>(j * step) < lines.count &&
                           address >= shape.inBegin && address + sizeof(Chunk) <= shape.inEnd;
        if (holds) parts[i][j] = loadPart<Layout>(address);
        if (PARTS > 1)
          held |= holds ? 1U << (i * PARTS + j) : 0;
        else if (!holds)
          first[i] = lines.count;
      }
    }
#pragma unroll
    for (unsigned i = 0; i < Layout::ITEMS; ++i)
#pragma unroll
      for (unsigned j = 0; j < PARTS; ++j)
        if (PARTS > 1 ? (held >> (i * PARTS + j) & 1) != 0 : first[i] < lines.count)
          scatterPart<Layout>(records, shape, line[i], first[i] + static_cast<int>(j * step), lines.count,
                              parts[i][j], function);
  }
}

// The first part of the first line, and the last one of the last, if they stick out of the input's memory: a
// thread takes an atom.
template <class Layout, class Function>
__device__ inline void loadLineEnds(const NarrowLines& lines, const NarrowRecords& records,
                                    const NarrowShape& shape, const Function& function) {
  constexpr int PART = Layout::PART;
  if (threadIdx.x >= 2 * PART) return;
  const bool second = threadIdx.x >= PART;
  const unsigned line = second ? shape.lines - 1 : 0;
  const int start = narrowVector<Layout>(lines, line, 0).first;
  const int first = -start / PART;
  const int last = (lines.count - 1 - start) / PART;
  if (second && last == first && shape.lines == 1) return;
  const NarrowVector part =
      narrowVector<Layout>(lines, line, static_cast<unsigned>((second ? last : first) * PART));
  const unsigned i = threadIdx.x % PART;
  const int atom = part.first + static_cast<int>(i);
  const bool inside =
      part.address >= shape.inBegin && part.address + sizeof(typename Layout::Chunk) <= shape.inEnd;
  if (inside || atom < 0 || atom >= lines.count) return;
  const ImageWalk<Layout> walk(records, line, atom);
  *reinterpret_cast<typename Layout::Image*>(records.image + swizzled(shape, walk.byte)) =
      function(reinterpret_cast<const typename Layout::Line*>(part.address)[i]);
}

// Writes the lines from the image. All vectors are whole but those at the ends of the lines.
template <class Layout, class Function>
__device__ inline void storeLines(const NarrowLines& lines, const NarrowRecords& records,
                                  const NarrowShape& shape, const Function& function) {
  using Line = typename Layout::Line;
  using Chunk = typename Layout::Chunk;
  constexpr int PART = Layout::PART;
  constexpr int PARTS = Layout::PARTS;
  const int step = partStep<Layout>(shape);
#pragma unroll 1
  for (unsigned item = threadIdx.x; item < shape.items; item += blockDim.x) {
    const NarrowVector vector = narrowItem<Layout>(lines, shape, item);
    Line* const out = reinterpret_cast<Line*>(vector.address);
    if (vector.first >= 0 && vector.first + (PARTS - 1) * step + PART <= vector.end) {
#pragma unroll
      for (int j = 0; j < PARTS; ++j) {
        Line atoms[PART];
        visitPart<Layout>(records, shape, vector.line, vector.first + j * step,
                          [&](int i, const typename Layout::Image* place) { atoms[i] = function(*place); });
        Chunk packed;
        __builtin_memcpy(&packed, atoms, sizeof(packed));
        *reinterpret_cast<Chunk*>(out + j * step) = packed;
      }
    } else {
#pragma unroll 1
      for (int n = 0; n < PARTS * PART; ++n) {
        const int i = n / PART * step + n % PART;
        if (vector.first + i < 0 || vector.first + i >= vector.end) continue;
        const ImageWalk<Layout> walk(records, vector.line, vector.first + i);
        out[i] = function(
            *reinterpret_cast<const typename Layout::Image*>(records.image + swizzled(shape, walk.byte)));
      }
    }
  }
}

}  // namespace gpuopt::detail
