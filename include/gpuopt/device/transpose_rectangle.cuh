/// \file
/// Transposition of rectangular matrices in place, in a few passes.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/device/transpose.cuh>
#include <gpuopt/device/transpose_problem.cuh>
#include <gpuopt/device/transpose_rows_tile.cuh>
#include <gpuopt/host/grid_config.cuh>
#include <gpuopt/host/integers.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/host/workspace.cuh>
#include <gpuopt/thread/grid.cuh>
#include <gpuopt/thread/unchanged.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gpuopt {

/// How rectangular matrices are transposed in place. Pass a type derived from this one to change a value.
///
/// Measured on an H200, 2026-11-21, ratios to the best copy of as many bytes, elements of 4 to 16 bytes: 0.27
/// to 0.43 if a number of panels divides the longer side, else 0.25.
struct RectanglePolicy {
  /// Bytes of a tile of a rectangular matrix: twice as much cost 6 % with 8-byte elements.
  static constexpr unsigned panelTileBytes = 16 << 10;
  /// Rectangular matrices borrow so much memory, or a 32nd of theirs if that is more.
  static constexpr std::size_t scratchBytes = std::size_t{32} << 20;
};

namespace detail {

// A matrix of `length` x `width` elements, length >= width, and the way back from its transposed one. Its
// rows are cut into `panels` panels of `height` rows. In a panel that is transposed, each column has become a
// `slot`, `height` elements that lie together and stay together in the end. What is left, to exchange panels
// and columns, is the transposition in place of a panels x width matrix of slots. Catanzaro, Keller, Garland,
// "A decomposition for in-place matrix transposition" (PPoPP 2014), do it by a permutation within each row,
// then one within each column; if numbers of rows and columns have a common divisor, they rotate columns
// first. Here the rows' permutation comes free of charge with the transposition of a panel, which writes each
// slot to its place; and as columns are short, columns that depend on each other are permuted together, in
// shared memory, which takes the rotation's place. A panel moves to the place of the one before while it is
// transposed, the first one by way of scratch memory: so elements are read and written twice in all.

// The slots of all panels, in `columns / group` groups of neighbouring columns.
struct SlotGrid {
  unsigned panels;
  unsigned columns;
  unsigned group;
  unsigned period;  // columns / group

  // Where a panel puts a column: into the group of columns in which its slot will be in the end.
  __device__ unsigned place(unsigned panel, unsigned column) const {
    const unsigned turn = column / period;
    return ((column - turn * period) * panels + panel) % columns - panel % group + turn;
  }

  // Panels lie one place further up, while their slots are permuted.
  __device__ unsigned position(unsigned panel) const { return panel == 0 ? panels - 1 : panel - 1; }
};

// A panel moves from `in` to `out`: rows become slots, or slots rows.
struct PanelMove {
  const unsigned char* in;
  unsigned char* out;
  std::size_t height;
  unsigned panel;
  bool toSlots;
  unsigned tilesDown;  // of the tiles whose rows those of `in` are
};

template <class E, class Tile>
__global__ void __launch_bounds__(Tile::THREADS)
    transposePanelKernel(const PanelMove move, const SlotGrid slots) {
  overlapPreviousKernel();
  Tile& tile = *dynamicShared<Tile>();
  const auto in = reinterpret_cast<std::uintptr_t>(move.in);
  const auto out = reinterpret_cast<std::uintptr_t>(move.out);
  const std::size_t firstRow = std::size_t{blockIdx.x % move.tilesDown} * Tile::TILE;
  const std::size_t firstCol = std::size_t{blockIdx.x / move.tilesDown} * Tile::TILE;
  const unsigned rows = tileCount<Tile::TILE>((move.toSlots ? move.height : slots.columns) - firstRow);
  const unsigned cols = tileCount<Tile::TILE>((move.toSlots ? slots.columns : move.height) - firstCol);
  const auto rowAt = [&](std::size_t row, std::size_t col) {
    return (row * slots.columns + col) * sizeof(E);
  };
  const auto slotAt = [&](std::size_t column, std::size_t row) {
    return (slots.place(move.panel, static_cast<unsigned>(column)) * move.height + row) * sizeof(E);
  };
  const unsigned i = threadIdx.x;
  if (i < rows)
    tile.from[i] = in + (move.toSlots ? rowAt(firstRow + i, firstCol) : slotAt(firstRow + i, firstCol));
  if (i < cols)
    tile.to[i] = out + (move.toSlots ? slotAt(firstCol + i, firstRow) : rowAt(firstCol + i, firstRow));
  const ByteRange range{in, in + move.height * slots.columns * sizeof(E)};
  const bool whole = __syncthreads_and(tile.isWhole(i, rows, cols, range)) != 0;
  tile.load(i, rows, cols, range, whole);
  __syncthreads();
  tile.store(i, rows, cols);
}

// A piece of all slots: `width` words each, a power of two.
struct SlotSlices {
  std::size_t slotWords;
  unsigned slices;
  unsigned widthBits;
  bool fromSlots;  // the way of the panels' slots to the transposed matrix; or back
};

inline constexpr int groupThreads = 256;

// Permutes the slots of one group: a slice of them fits into shared memory.
template <class W>
__global__ void __launch_bounds__(groupThreads)
    permuteSlotsKernel(W* data, const SlotGrid slots, const SlotSlices shape) {
  overlapPreviousKernel();
  const unsigned count = slots.panels * slots.group;
  const unsigned group = blockIdx.x / shape.slices * slots.group;
  W* const shared = dynamicShared<W>();
  auto* const partner = reinterpret_cast<unsigned*>(shared + (count << shape.widthBits));
  for (unsigned i = threadIdx.x; i < count; i += groupThreads) {
    const unsigned place = i / slots.group * slots.columns + group + i % slots.group;
    partner[i] = slots.position(place % slots.panels) * slots.group + place / slots.panels / slots.period;
  }
  __syncthreads();

  const unsigned lane = threadIdx.x & ((1U << shape.widthBits) - 1);
  const std::size_t word = (std::size_t{blockIdx.x % shape.slices} << shape.widthBits) + lane;
  const bool exists = word < shape.slotWords;
  const unsigned first = threadIdx.x >> shape.widthBits;
  const unsigned step = groupThreads >> shape.widthBits;
  const auto at = [&](unsigned slot) -> W& {
    return data[(std::size_t{slot / slots.group} * slots.columns + group + slot % slots.group) *
                    shape.slotWords +
                word];
  };
  const auto in = [&](unsigned slot) -> W& { return shared[(slot << shape.widthBits) + lane]; };
  if (exists) {
#pragma unroll 8
    for (unsigned i = first; i < count; i += step) in(shape.fromSlots ? i : partner[i]) = at(i);
  }
  __syncthreads();
  if (exists) {
#pragma unroll 8
    for (unsigned i = first; i < count; i += step) at(i) = in(shape.fromSlots ? partner[i] : i);
  }
}

inline constexpr unsigned moveThreads = 256;
inline constexpr unsigned moveWords = 16;  // of a thread

// Elements of a piece, wherever it begins in a word.
template <class E>
inline constexpr std::size_t pieceOf = (moveThreads * moveWords * 4 - (alignof(E) < 4 ? 4 : 0)) / sizeof(E);

// Rows whose distance from each other changes from `from` to `to` elements, in pieces.
struct RowsMove {
  std::size_t rows;
  std::size_t cols;
  std::size_t from;
  std::size_t to;
  std::size_t across;  // pieces of a row

  __host__ __device__ std::size_t pieces() const { return rows * across; }
  __device__ std::size_t ld() const { return from < to ? to : from; }

  // The piece that has its source at a place, or behind it.
  template <class E>
  __device__ std::size_t pieceAt(std::size_t place) const {
    const std::size_t col = place % from;
    return place / from * across + (col < cols ? col / pieceOf<E> : across);
  }
};

// A block reads a piece, waits for others to have read what it will overwrite, and writes. Pieces are taken
// in an order in which those come first that somebody waits for: none waits for a block that does not run
// yet. Technique: Gomez-Luna et al., "In-place data sliding algorithms for many-core architectures" (ICPP
// 2015).
template <class E>
__global__ void __launch_bounds__(moveThreads)
    moveRowsKernel(E* data, const RowsMove move, unsigned* ticket, unsigned* taken) {
  constexpr unsigned UNIT = unitOf<E>;
  __shared__ unsigned number;
  overlapPreviousKernel();
  if (threadIdx.x == 0) number = atomicAdd(ticket, 1U);
  __syncthreads();
  const std::size_t piece = move.to > move.from ? move.pieces() - 1 - number : number;
  const std::size_t row = piece / move.across;
  const std::size_t col = piece % move.across * pieceOf<E>;
  const std::size_t count = move.cols - col < pieceOf<E> ? move.cols - col : pieceOf<E>;
  const std::size_t target = row * move.to + col;
  const auto in = reinterpret_cast<std::uintptr_t>(data + row * move.from + col);
  const auto out = reinterpret_cast<std::uintptr_t>(data + target);
  const unsigned bytes = static_cast<unsigned>(count * sizeof(E));
  const unsigned lead = UNIT < 4 ? out % 4 : 0;
  const ByteRange all{reinterpret_cast<std::uintptr_t>(data),
                      reinterpret_cast<std::uintptr_t>(data + move.rows * move.ld())};
  unsigned words[moveWords];
  const auto read = [&](auto inside) {
#pragma unroll
    for (unsigned i = 0; i < moveWords; ++i) {
      const unsigned byte = (threadIdx.x + i * moveThreads) * 4;
      if (byte < lead + bytes) words[i] = loadWord<UNIT, decltype(inside)::value>(in + byte - lead, all);
    }
  };
  if (UNIT == 4 || isInside(in - 4, bytes + 8, all))
    read(std::true_type{});
  else
    read(std::false_type{});
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicExch(taken + piece, 1U);
  }
  const std::size_t last = move.pieceAt<E>(target + count - 1);
  for (std::size_t i = move.pieceAt<E>(target) + threadIdx.x; i <= last && i < move.pieces();
       i += moveThreads)
    while (i != piece && atomicAdd(taken + i, 0U) == 0) {
    }
  __threadfence();
  __syncthreads();
#pragma unroll
  for (unsigned i = 0; i < moveWords; ++i) {
    const unsigned byte = (threadIdx.x + i * moveThreads) * 4;
    if (byte < lead + bytes) storeWord<UNIT>(out, byte - lead, bytes, words[i]);
  }
}

// Memory of one call, in the order of its stream. The library's pool keeps it for the next one.
class ScratchMemory {
 public:
  ScratchMemory(std::size_t bytes, cudaStream_t stream)
      : stream_(stream), memory_(allocateInOrder(bytes, currentDevice(), stream)) {}
  ~ScratchMemory() { forgetError(cudaFreeAsync(memory_, stream_)); }
  ScratchMemory(const ScratchMemory&) = delete;
  ScratchMemory& operator=(const ScratchMemory&) = delete;

  unsigned char* data() const { return memory_; }

 private:
  cudaStream_t stream_;
  unsigned char* memory_;
};

// How a rectangular matrix is cut up. The `rest` rows that make no panels are set aside meanwhile.
struct PanelPlan {
  std::size_t panels;
  std::size_t height;
  std::size_t rest;
};

// Slots whose permutation one block can do.
inline constexpr std::size_t mostSlots = 1024;

// All columns are one group if that is possible: then slots need not change their order.
inline std::size_t slotGroup(std::size_t panels, std::size_t width) {
  return panels * width <= mostSlots ? width : greatestCommonDivisor(panels, width);
}

// From `least` panels on, those that leave the fewest rows: setting rows aside costs a pass. Heights whose
// slots are of 16-byte vectors; others only if they leave no rows.
inline PanelPlan planPanels(std::size_t length, std::size_t width, std::size_t size, std::size_t least) {
  constexpr std::size_t MOST = 64;
  const std::size_t grain = 16 / greatestCommonDivisor(16, size);
  PanelPlan best{0, 0, length};
  for (std::size_t panels = least; panels <= MOST; ++panels) {
    if (panels * slotGroup(panels, width) > mostSlots) continue;
    const std::size_t most = length / panels;
    const bool fits = most * panels == length && most * size % 4 == 0;
    const std::size_t height = fits || most < grain ? most : most / grain * grain;
    const std::size_t rest = length - panels * height;
    if (height > 0 && rest < best.rest) best = {panels, height, rest};
  }
  return best;
}

// A matrix of length x width elements, and its transposed one, in the same memory.
template <class Policy, class E>
class Rectangle {
 public:
  Rectangle(E* data, std::size_t length, std::size_t width, cudaStream_t stream)
      : data_(data),
        length_(length),
        width_(width),
        plan_(planPanels(length, width, sizeof(E), leastPanels(length * width * sizeof(E)))),
        slots_(slotGrid(plan_, width)),
        stream_(stream),
        memory_((scratchElements() + plan_.rest * width) * sizeof(E), stream),
        scratch_(reinterpret_cast<E*>(memory_.data())),
        rest_(scratch_ + scratchElements()) {}

  // length x width to width x length.
  void transpose() const {
    if (plan_.rest > 0) copyElements(rest_, data_ + kept() * width_, plan_.rest * width_);
    copyElements(scratch_, data_, plan_.height * width_);
    for (std::size_t panel = 1; panel < plan_.panels; ++panel)
      movePanel(panelAt(panel), panelAt(panel - 1), panel, true);
    movePanel(scratch_, panelAt(plan_.panels - 1), 0, true);
    permuteSlots(true);
    if (plan_.rest == 0) return;
    moveRows({width_, kept(), kept(), length_, across()});
    transposeOver(rest_, plan_.rest, width_, width_, data_ + kept(), length_);
  }

  // width x length to length x width: the same backwards.
  void transposeBack() const {
    if (plan_.rest > 0) {
      transposeOver(data_ + kept(), width_, plan_.rest, length_, rest_, width_);
      moveRows({width_, kept(), length_, kept(), across()});
    }
    permuteSlots(false);
    movePanel(panelAt(plan_.panels - 1), scratch_, 0, false);
    for (std::size_t panel = plan_.panels - 1; panel > 0; --panel)
      movePanel(panelAt(panel - 1), panelAt(panel), panel, false);
    copyElements(data_, scratch_, plan_.height * width_);
    if (plan_.rest > 0) copyElements(data_ + kept() * width_, rest_, plan_.rest * width_);
  }

 private:
  // So that a panel fits into what may be borrowed.
  static std::size_t leastPanels(std::size_t bytes) {
    return ceilDivide(bytes, largerOf(Policy::scratchBytes, ceilDivide(bytes, 32)));
  }

  static SlotGrid slotGrid(const PanelPlan& plan, std::size_t width) {
    const std::size_t group = slotGroup(plan.panels, width);
    return {static_cast<unsigned>(plan.panels), static_cast<unsigned>(width), static_cast<unsigned>(group),
            static_cast<unsigned>(width / group)};
  }

  std::size_t across() const { return ceilDivide(kept(), pieceOf<E>); }
  std::size_t kept() const { return plan_.panels * plan_.height; }

  // For a panel, or for the counters of moveRows.
  std::size_t scratchElements() const {
    const std::size_t counters = plan_.rest > 0 ? (across() * width_ + 1) * sizeof(unsigned) : 0;
    return largerOf(plan_.height * width_, ceilDivide(counters, sizeof(E)));
  }

  E* panelAt(std::size_t position) const { return data_ + position * plan_.height * width_; }

  void copyElements(E* to, const E* from, std::size_t count) const {
    check(cudaMemcpyAsync(to, from, count * sizeof(E), cudaMemcpyDeviceToDevice, stream_), "cudaMemcpyAsync");
  }

  void transposeOver(const E* in, std::size_t rows, std::size_t cols, std::size_t inLd, E* out,
                     std::size_t outLd) const {
    launchTranspose(TransposeProblem<E, E, Unchanged>{in, out, rows, cols, inLd, outLd, 1, 0, 0, Unchanged{}},
                    stream_);
  }

  void movePanel(const E* from, E* to, std::size_t panel, bool toSlots) const {
    if (slots_.period == 1) {
      if (toSlots)
        transposeOver(from, plan_.height, width_, width_, to, plan_.height);
      else
        transposeOver(from, width_, plan_.height, plan_.height, to, width_);
      return;
    }
    using Tile = RowsTile<sizeof(E), unitOf<E>, Policy::panelTileBytes>;
    const std::size_t down = ceilDivide(toSlots ? plan_.height : width_, Tile::TILE);
    const std::size_t across = ceilDivide(toSlots ? width_ : plan_.height, Tile::TILE);
    LaunchConfig config = gridConfig(Tile::THREADS, down * across, stream_, "gpuopt::transposeInPlace");
    config.sharedBytes = sizeof(Tile);
    const PanelMove move{reinterpret_cast<const unsigned char*>(from),
                         reinterpret_cast<unsigned char*>(to),
                         plan_.height,
                         static_cast<unsigned>(panel),
                         toSlots,
                         static_cast<unsigned>(down)};
    launch(transposePanelKernel<E, Tile>, config, move, slots_);
  }

  void permuteSlots(bool fromSlots) const {
    const std::size_t bytes = plan_.height * sizeof(E);
    if (alignedTo(data_, 16) && bytes % 16 == 0)
      permuteSlotsBy<uint4>(fromSlots);
    else if (alignof(E) >= 4 || (alignedTo(data_, 4) && bytes % 4 == 0))
      permuteSlotsBy<unsigned>(fromSlots);
    else
      permuteSlotsBy<Word<unitOf<E>>>(fromSlots);
  }

  template <class W>
  void permuteSlotsBy(bool fromSlots) const {
    const std::size_t slots = plan_.panels * slots_.group;
    const std::size_t room = smallerOf(std::size_t{68} << 10, sharedLimit()) - slots * sizeof(unsigned);
    SlotSlices shape{plan_.height * sizeof(E) / sizeof(W), 0, 0, fromSlots};
    while (shape.widthBits < 5 && 2 * slots * (sizeof(W) << shape.widthBits) <= room) ++shape.widthBits;
    const std::size_t width = std::size_t{1} << shape.widthBits;
    shape.slices = static_cast<unsigned>(ceilDivide(shape.slotWords, width));
    LaunchConfig config = gridConfig(groupThreads, std::size_t{shape.slices} * slots_.period, stream_,
                                     "gpuopt::transposeInPlace");
    config.sharedBytes = slots * (width * sizeof(W) + sizeof(unsigned));
    launch(permuteSlotsKernel<W>, config, reinterpret_cast<W*>(data_), slots_, shape);
  }

  // Changes the distance between the rows of the transposed matrix.
  void moveRows(const RowsMove& move) const {
    auto* const ticket = reinterpret_cast<unsigned*>(scratch_);
    check(cudaMemsetAsync(ticket, 0, (move.pieces() + 1) * sizeof(unsigned), stream_), "cudaMemsetAsync");
    const LaunchConfig config = gridConfig(moveThreads, move.pieces(), stream_, "gpuopt::transposeInPlace");
    launch(moveRowsKernel<E>, config, data_, move, ticket, ticket + 1);
  }

  E* data_;
  std::size_t length_;
  std::size_t width_;
  PanelPlan plan_;
  SlotGrid slots_;
  cudaStream_t stream_;
  ScratchMemory memory_;
  E* scratch_;
  E* rest_;
};

// rows x cols elements, neither of which is 0. Capturable, asynchronous. Takes memory from the library's pool
// of the device: that of the matrix up to Policy::scratchBytes; for larger ones that, or a 32nd of the
// matrix, and a few rows.
template <class Policy = RectanglePolicy, class T>
void launchTransposeRectangleInPlace(T* data, std::size_t rows, std::size_t cols, cudaStream_t stream) {
  withRawElements(data, [&](auto* elements) {
    using E = std::remove_pointer_t<decltype(elements)>;
    const std::size_t bytes = rows * cols * sizeof(E);
    if (bytes <= Policy::scratchBytes) {
      const ScratchMemory scratch(bytes, stream);
      launchTranspose(TransposeProblem<E, E, Unchanged>{elements, reinterpret_cast<E*>(scratch.data()), rows,
                                                        cols, cols, rows, 1, 0, 0, Unchanged{}},
                      stream);
      check(cudaMemcpyAsync(elements, scratch.data(), bytes, cudaMemcpyDeviceToDevice, stream),
            "cudaMemcpyAsync");
      return;
    }
    if (rows >= cols)
      Rectangle<Policy, E>(elements, rows, cols, stream).transpose();
    else
      Rectangle<Policy, E>(elements, cols, rows, stream).transposeBack();
  });
}

}  // namespace detail
}  // namespace gpuopt
