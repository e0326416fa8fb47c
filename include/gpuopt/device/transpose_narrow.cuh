/// \file
/// Transposition of matrices with few rows or few columns, vectors among them.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/device/transpose_copy.cuh>
#include <gpuopt/device/transpose_problem.cuh>
#include <gpuopt/host/grid_config.cuh>
#include <gpuopt/host/integers.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/thread/grid.cuh>
#include <gpuopt/thread/vector.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gpuopt {

/// How narrow matrices are cut up. Pass a type derived from this one to change a value. `toRecords` says that
/// the long rows are in the input, `aligned` that all of them begin at multiples of 16 bytes (in the output:
/// of 32), `lines` how many there are. Measured on an H200, 2026-11-21, 256 MiB a side, ratios to the best
/// copy for elements of 1 to 16 bytes; the first for aligned lines, the second for others:
///
///     k x N:  k = 2, 3, 7, 8: 0.96 to 0.99, 0.95 to 0.97;  16: 0.97, 0.96;  32: 0.97, 0.93 to 0.95
///     N x k:  k = 2, 3, 7, 8: 0.95 to 0.99, 0.93 to 0.96;  16: 0.955, 0.91;  32: 0.92 to 0.94, 0.88
///     1 x N and N x 1: 1.0
///
/// Bytes of lines that are not aligned are the exception, with 0.75 to 0.95: whether lines meet in the same
/// banks depends on their distance.
struct TransposeNarrowPolicy {
  static constexpr std::size_t maxLines = 32;           ///< rows or columns of what is narrow
  static constexpr std::size_t sharedBytes = 48 << 10;  ///< most that a block may take
  static constexpr int BLOCK = 512;                     ///< most threads of a block
  static constexpr int THREADS = 1536;                  ///< of a multiprocessor: 2048 would spill registers
  static constexpr int ITEMS = 4;                       ///< 16-byte loads in flight a thread
  static constexpr std::size_t threadBytes = 64;        ///< of a tile, for each thread

  /// Small blocks are best where lines are written aligned, as long as each gets 256 bytes: 1 to 3 % over 128
  /// threads, as much again over 512. Other lines cost the more the shorter their part in a tile is.
  static constexpr unsigned block(bool toRecords, bool aligned, unsigned lines) {
    if (toRecords) return aligned || lines < 16 ? 256 : 512;
    if (aligned) return lines <= 16 ? 64 : 128;
    return lines < 8 ? 128 : 512;
  }

  /// Neighbouring lanes that take neighbouring vectors of a line, 8 or 16. Whole 256 bytes at once are 3 %
  /// better for 16 lines and more, but bytes meet in fewer banks with 8.
  template <std::size_t SIZE>
  static constexpr unsigned lanes(bool aligned) {
    return SIZE == 1 && !aligned ? 8 : 16;
  }
};

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
  static constexpr bool MARGIN = TO_RECORDS && std::is_same_v<Function, Unchanged>;
  // Lines whose elements lie in neighbouring words, where words hold several elements: lanes with different
  // lines then meet in no bank.
  static constexpr unsigned APART = COUNT == 1 && sizeof(Image) < 4 ? 4 / sizeof(Image) : 1;
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
  unsigned swizzle;
  bool dense;  // no gaps between records
};

inline constexpr unsigned reciprocalBits = 18;
inline constexpr unsigned noSwizzle = 31;

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

// Lanes that take vectors of one line meet at a distance of 16 bytes times the number of lines: in few banks,
// if that number holds a power of two. Within every 128 bytes, the 16-byte granules are permuted.
__device__ inline unsigned swizzled(const NarrowShape& shape, unsigned byte) {
  return byte ^ (byte >> shape.swizzle & 0x70U);
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
        *reinterpret_cast<uint4*>(records.image + swizzled(shape, (g + i * blockDim.x) * 16)) = vectors[i];
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
    *reinterpret_cast<uint4*>(base + g * 16) =
        *reinterpret_cast<const uint4*>(records.image + swizzled(shape, g * 16));
  moveGrains<Layout>(records, shape, 0, granules.head, store);
  moveGrains<Layout>(records, shape, granules.tail, records.bytes, store);
}

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

// A vector of a line: PACK atoms from `first` on, those outside of [0, end) left out.
struct NarrowVector {
  std::uintptr_t address;
  unsigned line;
  int first;
  int end;
};

template <class Layout>
__device__ inline NarrowVector narrowVector(const NarrowLines& lines, unsigned line, unsigned number) {
  using Line = typename Layout::Line;
  NarrowVector vector;
  const std::uintptr_t address = lines.address + line * lines.stride;
  int start = lines.halo;
  if constexpr (isWord<Line>)
    start -= static_cast<int>((address + lines.halo * sizeof(Line)) % Layout::START / sizeof(Line));
  vector.line = line;
  vector.first = start + static_cast<int>(number * Layout::PACK);
  vector.end = Layout::TO_RECORDS || start + lines.tile > lines.count ? lines.count : start + lines.tile;
  vector.address = address + vector.first * static_cast<std::ptrdiff_t>(sizeof(Line));
  return vector;
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
  return narrowVector<Layout>(lines, line, (group << shape.laneBits) + lane);
}

// Walks through the image along a line, from atom to atom.
template <class Layout>
struct ImageWalk {
  unsigned byte;
  unsigned part;
  unsigned width;

  // first > -PACK.
  __device__ ImageWalk(const NarrowRecords& records, unsigned line, int first) : width(records.width) {
    const unsigned shifted = static_cast<unsigned>(first + 16 * static_cast<int>(Layout::COUNT));
    part = shifted % Layout::COUNT;
    byte = records.origin + (shifted / Layout::COUNT - 16) * width + line * Layout::ELEMENT +
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

// visit(i, place in the image) for the atoms of a vector.
template <class Layout, bool SWIZZLED, class Visit>
__device__ inline void walkVector(const NarrowRecords& records, const NarrowShape& shape, unsigned line,
                                  int first, Visit visit) {
  ImageWalk<Layout> walk(records, line, first);
#pragma unroll
  for (int i = 0; i < static_cast<int>(Layout::PACK); ++i, walk.next())
    visit(i, reinterpret_cast<typename Layout::Image*>(records.image +
                                                       (SWIZZLED ? swizzled(shape, walk.byte) : walk.byte)));
}

template <class Layout, class Visit>
__device__ inline void visitVector(const NarrowRecords& records, const NarrowShape& shape, unsigned line,
                                   int first, Visit visit) {
  if (shape.swizzle == noSwizzle)
    walkVector<Layout, false>(records, shape, line, first, visit);
  else
    walkVector<Layout, true>(records, shape, line, first, visit);
}

template <class Layout, class Function>
__device__ inline void scatterVector(const NarrowRecords& records, const NarrowShape& shape, unsigned line,
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

// Brings the lines into the image. Vectors that share 16 bytes with other tiles are read as well; not those
// that stick out of the input's memory.
template <class Layout, class Function>
__device__ inline void loadLines(const NarrowLines& lines, const NarrowRecords& records,
                                 const NarrowShape& shape, const Function& function) {
  using Vector = typename Layout::Vector;
  for (unsigned item = threadIdx.x; item < shape.items; item += Layout::ITEMS * blockDim.x) {
    Vector vectors[Layout::ITEMS];
    unsigned line[Layout::ITEMS];
    int first[Layout::ITEMS];
#pragma unroll
    for (unsigned i = 0; i < Layout::ITEMS; ++i) {
      const NarrowVector place = narrowItem<Layout>(lines, shape, item + i * blockDim.x);
      line[i] = place.line;
      first[i] = place.first;
      if (item + i * blockDim.x >= shape.items || place.address < shape.inBegin ||
          place.address + sizeof(Vector) > shape.inEnd)
        first[i] = lines.count;
      if (first[i] < lines.count) {
        if constexpr (isWord<typename Layout::Line>)
          vectors[i] = loadVector<Caching::normal>(reinterpret_cast<const void*>(place.address));
        else
          vectors[i] = *reinterpret_cast<const Vector*>(place.address);
      }
    }
#pragma unroll
    for (unsigned i = 0; i < Layout::ITEMS; ++i)
      if (first[i] < lines.count)
        scatterVector<Layout>(records, shape, line[i], first[i], lines.count, vectors[i], function);
  }
}

// The first vector of the first line, and the last one of the last, if they stick out of the input's memory:
// a thread takes an atom.
template <class Layout, class Function>
__device__ inline void loadLineEnds(const NarrowLines& lines, const NarrowRecords& records,
                                    const NarrowShape& shape, const Function& function) {
  if (threadIdx.x >= 2 * Layout::PACK) return;
  const bool second = threadIdx.x >= Layout::PACK;
  NarrowVector vector = narrowVector<Layout>(lines, second ? shape.lines - 1 : 0, 0);
  if (second) {
    const int last = (lines.count - 1 - vector.first) / static_cast<int>(Layout::PACK);
    if (last == 0 && shape.lines == 1) return;
    vector = narrowVector<Layout>(lines, vector.line, last);
  }
  const unsigned i = threadIdx.x % Layout::PACK;
  const int atom = vector.first + static_cast<int>(i);
  const bool inside = vector.address >= shape.inBegin && vector.address + 16 <= shape.inEnd;
  if (inside || atom < 0 || atom >= lines.count) return;
  const ImageWalk<Layout> walk(records, vector.line, atom);
  *reinterpret_cast<typename Layout::Image*>(records.image + swizzled(shape, walk.byte)) =
      function(reinterpret_cast<const typename Layout::Line*>(vector.address)[i]);
}

// Writes the lines from the image. All vectors are whole but those at the ends of the lines.
template <class Layout, class Function>
__device__ inline void storeLines(const NarrowLines& lines, const NarrowRecords& records,
                                  const NarrowShape& shape, const Function& function) {
  using Line = typename Layout::Line;
  using Vector = typename Layout::Vector;
  constexpr int PACK = Layout::PACK;
#pragma unroll 1
  for (unsigned item = threadIdx.x; item < shape.items; item += blockDim.x) {
    const NarrowVector vector = narrowItem<Layout>(lines, shape, item);
    if (vector.first >= 0 && vector.first + PACK <= vector.end) {
      Line atoms[PACK];
      visitVector<Layout>(records, shape, vector.line, vector.first,
                          [&](int i, const typename Layout::Image* place) { atoms[i] = function(*place); });
      Vector packed;
      __builtin_memcpy(&packed, atoms, sizeof(packed));
      *reinterpret_cast<Vector*>(vector.address) = packed;
    } else if (vector.first < vector.end) {
#pragma unroll 1
      for (int i = 0; i < PACK; ++i)
        if (vector.first + i >= 0 && vector.first + i < vector.end) {
          const ImageWalk<Layout> walk(records, vector.line, vector.first + i);
          reinterpret_cast<Line*>(vector.address)[i] = function(
              *reinterpret_cast<const typename Layout::Image*>(records.image + swizzled(shape, walk.byte)));
        }
    }
  }
}

template <class Layout, class Problem>
__global__ void __launch_bounds__(Layout::BLOCK, Layout::BLOCKS)
    transposeLinesToRecordsKernel(const Problem problem, const NarrowShape shape) {
  waitForPreviousKernel();
  const NarrowPiece piece = narrowPiece(shape);
  const auto lines = narrowLines<Layout>(problem.in, piece.matrix * problem.inStride + piece.first,
                                         problem.inLd, shape, piece);
  const auto records =
      narrowRecords<Layout>(problem.out, piece.matrix * problem.outStride + piece.first * problem.outLd,
                            problem.outLd, shape, piece.count);
  loadLines<Layout>(lines, records, shape, problem.function);
  if constexpr (Layout::PACK > 1) loadLineEnds<Layout>(lines, records, shape, problem.function);
  __syncthreads();
  storeRecords<Layout>(records, shape);
}

template <class Layout, class Problem>
__global__ void __launch_bounds__(Layout::BLOCK, Layout::BLOCKS)
    transposeRecordsToLinesKernel(const Problem problem, const NarrowShape shape) {
  waitForPreviousKernel();
  const NarrowPiece piece = narrowPiece(shape);
  const auto records =
      narrowRecords<Layout>(problem.in, piece.matrix * problem.inStride + piece.first * problem.inLd,
                            problem.inLd, shape, piece.count);
  const auto lines = narrowLines<Layout>(problem.out, piece.matrix * problem.outStride + piece.first,
                                         problem.outLd, shape, piece);
  loadRecords<Layout>(records, shape);
  __syncthreads();
  storeLines<Layout>(lines, records, shape, problem.function);
}

template <class Problem>
bool linesAreInput(const Problem& problem) {
  return problem.rows <= problem.cols;
}

// Whether all lines begin at multiples of so many bytes.
template <class T>
bool linesAligned(const T* lines, std::size_t ld, std::size_t batch, std::size_t stride, std::size_t bytes) {
  return alignedTo(lines, bytes) && ld * sizeof(T) % bytes == 0 &&
         (batch == 1 || stride * sizeof(T) % bytes == 0);
}

// The number of records of a tile: lines of whole groups of vectors if so much fits, else of whole sectors.
template <class Layout>
unsigned narrowTile(std::size_t tileBytes, std::size_t groupBytes, const NarrowShape& shape, bool oneMore) {
  constexpr std::size_t SIZE = Layout::LINE_ELEMENT;
  constexpr std::size_t SECTOR_ELEMENTS = 32 / greatestCommonDivisor(32, SIZE);
  const std::size_t most = tileBytes / (shape.lines * largerOf(SIZE, std::size_t{Layout::ELEMENT}));
  std::size_t unit = groupBytes / greatestCommonDivisor(groupBytes, SIZE);
  const bool groups = unit <= most;
  if (!groups) unit = SECTOR_ELEMENTS;
  const std::size_t units = clampTo(most / unit, std::size_t{1}, ceilDivide(shape.records, unit));
  // The vector that alignment costs shall not begin another group.
  return static_cast<unsigned>(units * unit - (oneMore && groups ? SECTOR_ELEMENTS : 0));
}

template <class Layout>
unsigned narrowMargin(std::size_t lines) {
  return Layout::MARGIN ? static_cast<unsigned>(ceilDivide((16 + Layout::ELEMENT) * lines, 128) * 128) : 0;
}

template <class Layout>
std::size_t narrowSharedBytes(const NarrowShape& shape) {
  const std::size_t bytes = std::size_t{shape.tile + shape.halo} * shape.lines * Layout::ELEMENT;
  return ceilDivide(bytes + Layout::ALIGNMENT + 2 * shape.margin, 128) * 128;
}

struct NarrowPlan {
  NarrowShape shape;
  unsigned block;
  std::size_t sharedBytes;
};

template <class Policy, class Layout, class Problem>
NarrowPlan narrowPlan(const Problem& problem) {
  constexpr bool TO_RECORDS = Layout::TO_RECORDS;
  constexpr bool WORDS = isWord<typename Layout::Line>;
  const bool aligned =
      !WORDS || (TO_RECORDS ? linesAligned(problem.in, problem.inLd, problem.batch, problem.inStride, 16)
                            : linesAligned(problem.out, problem.outLd, problem.batch, problem.outStride, 32));
  NarrowPlan plan;
  NarrowShape& shape = plan.shape;
  shape.inBegin = reinterpret_cast<std::uintptr_t>(problem.in);
  shape.inEnd = reinterpret_cast<std::uintptr_t>(problem.in + (problem.batch - 1) * problem.inStride +
                                                 (problem.rows - 1) * problem.inLd + problem.cols);
  shape.records = TO_RECORDS ? problem.cols : problem.rows;
  shape.lines = static_cast<unsigned>(TO_RECORDS ? problem.rows : problem.cols);
  shape.dense = (TO_RECORDS ? problem.outLd : problem.inLd) == shape.lines;
  plan.block = Policy::block(TO_RECORDS, aligned, shape.lines);
  const unsigned lanes = Policy::template lanes<sizeof(typename Layout::Image)>(aligned);
  const bool oneMore = TO_RECORDS && !aligned;
  shape.tile = narrowTile<Layout>(plan.block * Policy::threadBytes, lanes * 16, shape, oneMore);
  shape.halo =
      TO_RECORDS || aligned
          ? 0
          : static_cast<unsigned>(ceilDivide(32 - sizeof(typename Layout::Line), Layout::LINE_ELEMENT));
  shape.margin = narrowMargin<Layout>(shape.lines);
  shape.tiles = static_cast<unsigned>(ceilDivide(shape.records + shape.halo, shape.tile));
  const std::size_t vectors = ceilDivide(shape.tile * Layout::COUNT, Layout::PACK) + oneMore;
  shape.items = static_cast<unsigned>(ceilDivide(vectors, lanes) * lanes * shape.lines);
  shape.laneBits = lanes == 8 ? 3 : 4;
  shape.reciprocal = static_cast<unsigned>(ceilDivide(1U << reciprocalBits, shape.lines));
  shape.swizzle = noSwizzle;
  if (isWord<typename Layout::Image> && (shape.lines % 4 == 0 || shape.lines == 2))
    shape.swizzle = shape.lines % 32 == 0 ? 5 : shape.lines % 16 == 0 ? 4 : 3;
  plan.sharedBytes = narrowSharedBytes<Layout>(shape);
  return plan;
}

template <class Policy = TransposeNarrowPolicy, class In, class Out, class Function>
bool narrowFits(const TransposeProblem<In, Out, Function>& problem) {
  if (smallerOf(problem.rows, problem.cols) > Policy::maxLines) return false;
  // Of shorter lines, more than the first and the last may have vectors that stick out of the input.
  if (linesAreInput(problem) && problem.rows > 1 && problem.inLd * sizeof(In) < 16) return false;
  using ToRecords = NarrowLayout<Policy, true, In, Out, Function>;
  using ToLines = NarrowLayout<Policy, false, In, Out, Function>;
  const NarrowPlan plan =
      linesAreInput(problem) ? narrowPlan<Policy, ToRecords>(problem) : narrowPlan<Policy, ToLines>(problem);
  return plan.sharedBytes <= Policy::sharedBytes;
}

template <class Policy, class Layout, class Kernel, class Problem>
void launchNarrow(Kernel kernel, const Problem& problem, cudaStream_t stream) {
  const NarrowPlan plan = narrowPlan<Policy, Layout>(problem);
  LaunchConfig config =
      gridConfig(static_cast<int>(plan.block), plan.shape.tiles * problem.batch, stream, "gpuopt::transpose");
  config.sharedBytes = plan.sharedBytes;
  launch(kernel, config, problem, plan.shape);
}

template <class Policy = TransposeNarrowPolicy, class In, class Out, class Function>
void launchTransposeNarrow(const TransposeProblem<In, Out, Function>& problem, cudaStream_t stream) {
  using Problem = TransposeProblem<In, Out, Function>;
  using ToRecords = NarrowLayout<Policy, true, In, Out, Function>;
  using ToLines = NarrowLayout<Policy, false, In, Out, Function>;
  if (isCopy(problem))
    launchCopy(problem, stream);
  else if (linesAreInput(problem))
    launchNarrow<Policy, ToRecords>(transposeLinesToRecordsKernel<ToRecords, Problem>, problem, stream);
  else
    launchNarrow<Policy, ToLines>(transposeRecordsToLinesKernel<ToLines, Problem>, problem, stream);
}

}  // namespace detail
}  // namespace gpuopt
