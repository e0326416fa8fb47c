/// \file
/// Transposition of rectangular matrices in place, in a few passes.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/transpose/launch.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/device/transpose/rows_tile.cuh>
#include <gpuopt/device/transpose/staged.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/grid_config.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/host/workspace.cuh>
#include <gpuopt/thread/async_copy.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

/// How rectangular matrices are transposed in place. Pass a type derived from this one to change a value.
///
/// Measured on an H200, 2026-11-22, 256 and 512 MiB, ratios to the best copy of as many bytes: elements
/// of 4 and 16 bytes 0.21 to 0.40, bytes 0.37 to 0.39 if rows are aligned, else 0.18 to 0.21.
struct RectanglePolicy {
  /// Rectangular matrices borrow so much memory, or a 32nd of theirs if that is more.
  static constexpr std::size_t scratchBytes = std::size_t{32} << 20;
  /// Most bytes of a slot that a block takes at once.
  static constexpr std::size_t sliceBytes = 1 << 10;
  /// The tile, for elements of SIZE bytes.
  template <std::size_t SIZE>
  static constexpr auto tile() {
    return detail::StagedTileOf<SIZE, SIZE, false>{};
  }
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
//
// The first `rest` rows make no panel and are set aside. The room that they leave goes with the panels:
// before each row of the result, slots leave the gap where the rest of that row belongs. A panel's slots then
// end where its rows began, or before: it still overwrites the panels before it alone.

// Neighbouring columns of a panel whose slots are a row of the result apart.
struct SlotRun {
  std::size_t column;
  std::size_t count;
  std::size_t slot;  // where the first one lies
};

// The slots of all panels, in `columns / group` groups of neighbouring columns.
struct SlotGrid {
  unsigned panels;
  unsigned columns;
  unsigned group;
  unsigned period;  // columns / group
  std::size_t height;
  std::size_t gap;  // before the slots of each row of the result

  // Panels lie one place further up, while their slots are permuted.
  __host__ __device__ unsigned position(unsigned panel) const { return panel == 0 ? panels - 1 : panel - 1; }

  // Where a place begins.
  __device__ std::size_t at(std::size_t place) const { return place * height + (place / panels + 1) * gap; }

  // A panel puts column `turn * period + i` to place (i * panels + panel) % columns - panel % group + turn:
  // into the group of columns in which its slot will be in the end. So there is a run of columns from each
  // `% columns` to the next, as many runs as panels.
  __device__ SlotRun run(unsigned panel, unsigned number) const {
    const unsigned wraps = panels / group;  // of a turn
    const std::size_t turn = number / wraps;
    const std::size_t wrapped = std::size_t{number % wraps} * columns;
    const auto firstFrom = [&](std::size_t place) {
      return place <= panel ? 0 : (place - panel + panels - 1) / panels;
    };
    const std::size_t first = firstFrom(wrapped);
    const std::size_t place = first * panels + panel - wrapped - panel % group + turn;
    return {turn * period + first, firstFrom(wrapped + columns) - first,
            at(std::size_t{position(panel)} * columns + place)};
  }
};

template <class E>
using PanelProblem = TransposeProblem<E, E, Identity>;

// A panel: rows become slots, or slots rows.
template <class E>
struct PanelMove {
  E* rows;
  E* slots;
  std::size_t length;  // from a row of slots to the next
  unsigned panel;
  bool toSlots;
};

template <class E>
__device__ inline PanelProblem<E> panelProblem(const PanelMove<E>& move, const SlotGrid& slots,
                                               const SlotRun& run) {
  E* const rows = move.rows + run.column;
  E* const columns = move.slots + run.slot;
  if (move.toSlots)
    return {rows, columns, slots.height, run.count, slots.columns, move.length, 1, 0, 0, Identity{}};
  return {columns, rows, run.count, slots.height, move.length, slots.columns, 1, 0, 0, Identity{}};
}

// A block less of a multiprocessor leaves the registers that runs take on top of tiles.
template <class Layout>
inline constexpr unsigned panelBlocks = largerOf(2U, RESIDENT_THREADS / Layout::BLOCK - 1);

// The runs of a panel, each a transposition by itself.
template <class Layout, class E>
GPUOPT_KERNEL void __launch_bounds__(Layout::BLOCK, panelBlocks<Layout>)
    transposePanelKernel(const PanelMove<E> move, const SlotGrid slots, const StagedShape shape) {
  waitForPreviousKernel();
  const SlotRun run = slots.run(move.panel, blockIdx.x / (shape.rowTiles * shape.colTiles));
  const PanelProblem<E> problem = panelProblem(move, slots, run);
  const StagedPiece piece = stagedPiece<Layout>(problem, shape);
  // Some runs are a column shorter than others.
  if (piece.firstCol >= problem.cols || piece.base + shape.halo >= problem.rows + shape.halo) return;
  transposePiece<Layout>(problem, shape, piece);
}

// How slots are cut: a block takes a slice of all slots of a group.
struct SlotSlices {
  unsigned elementBytes;
  unsigned slices;
  unsigned sliceBytes;
  unsigned laneBits;  // 2^laneBits lanes take a slice
  bool fromSlots;     // the way of the panels' slots to the transposed matrix; or back
};

// Bytes from the begin of the matrix on.
struct SlotMove {
  std::size_t from;
  std::size_t to;
};

__device__ inline SlotMove slotMove(const SlotGrid& slots, const SlotSlices& shape, unsigned firstColumn,
                                    unsigned number, std::size_t offset) {
  const std::size_t place =
      std::size_t{number / slots.group} * slots.columns + firstColumn + number % slots.group;
  const auto panel = static_cast<unsigned>(place % slots.panels);
  const std::size_t slot =
      std::size_t{slots.position(panel)} * slots.columns + firstColumn + place / slots.panels / slots.period;
  const std::size_t byte = slots.at(place) * shape.elementBytes + offset;
  const std::size_t slotByte = slots.at(slot) * shape.elementBytes + offset;
  return shape.fromSlots ? SlotMove{slotByte, byte} : SlotMove{byte, slotByte};
}

// Slices move by words of type W. With UNIT < sizeof(W), slots begin at any multiple of UNIT bytes: the words
// are those of the destination, and a slice reaches into one more than it fills.
template <class W, unsigned UNIT>
struct SliceWords {
  static constexpr bool SHIFTED = UNIT < sizeof(W);
  static constexpr unsigned EXTRA = SHIFTED ? sizeof(W) : 0;
  static constexpr unsigned LOADS_IN_FLIGHT = sizeof(W) == 16 ? 4 : 8;  // loads of a thread

  static __device__ bool isInside(const SlotMove& move, unsigned bytes, const ByteRange& matrix) {
    return !SHIFTED || detail::isInside(matrix.begin + move.from - 4, bytes + 16, matrix);
  }

  template <bool INSIDE>
  static __device__ W load(const ByteRange& matrix, const SlotMove& move, unsigned lane) {
    const std::uintptr_t address = matrix.begin + move.from + lane * sizeof(W);
    if constexpr (SHIFTED)
      return loadWord<UNIT, INSIDE>(address - (matrix.begin + move.to) % sizeof(W), matrix);
    else
      return *reinterpret_cast<const W*>(address);
  }

  static __device__ void store(const ByteRange& matrix, const SlotMove& move, unsigned lane, unsigned bytes,
                               const W& word) {
    const std::uintptr_t address = matrix.begin + move.to;
    constexpr unsigned WORD = sizeof(W);
    if constexpr (SHIFTED)
      storeWord<UNIT>(address, lane * WORD - static_cast<unsigned>(address % WORD), bytes, word);
    else
      reinterpret_cast<W*>(address)[lane] = word;
  }
};

inline constexpr unsigned groupThreads = 256;

// Permutes the slots of one group: a slice of them fits into shared memory.
template <class W, unsigned UNIT>
GPUOPT_KERNEL void __launch_bounds__(groupThreads)
    permuteSlotsKernel(const ByteRange matrix, const SlotGrid slots, const SlotSlices shape) {
  using Slice = SliceWords<W, UNIT>;
  constexpr unsigned LOADS_IN_FLIGHT = Slice::LOADS_IN_FLIGHT;
  overlapPreviousKernel();
  const unsigned count = slots.panels * slots.group;
  auto* const moves = dynamicShared<SlotMove>();
  auto* const words = reinterpret_cast<W*>(moves + count);
  const std::size_t offset = std::size_t{blockIdx.x % shape.slices} * shape.sliceBytes;
  const std::size_t left = slots.height * shape.elementBytes - offset;
  const unsigned bytes = left < shape.sliceBytes ? static_cast<unsigned>(left) : shape.sliceBytes;
  bool inside = true;
  for (unsigned i = threadIdx.x; i < count; i += groupThreads) {
    moves[i] = slotMove(slots, shape, blockIdx.x / shape.slices * slots.group, i, offset);
    inside = inside && Slice::isInside(moves[i], bytes, matrix);
  }
  const bool allInside = __syncthreads_and(inside) != 0;

  const unsigned lane = threadIdx.x & ((1U << shape.laneBits) - 1);
  const bool exists = lane * sizeof(W) < bytes + Slice::EXTRA;
  const unsigned first = exists ? threadIdx.x >> shape.laneBits : count;
  const unsigned step = groupThreads >> shape.laneBits;
  const auto load = [&](auto known) {
#pragma unroll 1
    for (unsigned i = first; i < count; i += LOADS_IN_FLIGHT * step) {
      W values[LOADS_IN_FLIGHT];
#pragma unroll
      for (unsigned k = 0; k < LOADS_IN_FLIGHT; ++k)
        if (i + k * step < count)
          values[k] = Slice::template load<decltype(known)::value>(matrix, moves[i + k * step], lane);
#pragma unroll
      for (unsigned k = 0; k < LOADS_IN_FLIGHT; ++k)
        if (i + k * step < count) words[((i + k * step) << shape.laneBits) + lane] = values[k];
    }
  };
  if (allInside)
    load(std::true_type{});
  else
    load(std::false_type{});
  __syncthreads();
#pragma unroll 4
  for (unsigned i = first; i < count; i += step)
    Slice::store(matrix, moves[i], lane, bytes, words[(i << shape.laneBits) + lane]);
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

// Of flat matrices, all columns are one group: then slots need not change their order.
inline bool isFlat(std::size_t panels, std::size_t width) { return panels * width <= mostSlots; }

inline std::size_t slotGroup(std::size_t panels, std::size_t width) {
  return isFlat(panels, width) ? width : greatestCommonDivisor(panels, width);
}

// The first number of panels from `least` on that leaves few rows; flat matrices cost a pass more if any are
// left. Slots are of 16-byte vectors where the rows of the result begin with one, and without gaps.
inline PanelPlan planPanels(std::size_t length, std::size_t width, std::size_t size, std::size_t least) {
  constexpr std::size_t MOST = 64;
  const bool flat = isFlat(least, width);
  const std::size_t grain = flat || length * size % 16 == 0 ? 16 / greatestCommonDivisor(16, size) : 1;
  const std::size_t few = flat ? 0 : length / 64;
  PanelPlan best{0, 0, length};
  for (std::size_t panels = least; panels <= MOST && best.rest > few; ++panels) {
    if (panels * slotGroup(panels, width) > mostSlots || isFlat(panels, width) != flat) continue;
    const std::size_t most = length / panels;
    const bool exact = flat && most * panels == length && most * size % 4 == 0;
    const std::size_t height = exact || most < grain ? most : most / grain * grain;
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
        plan_(planPanels(length, width, sizeof(E), leastPanels(length, width))),
        flat_(isFlat(plan_.panels, width)),
        slots_(slotGrid(plan_, width)),
        stream_(stream),
        memory_((panelElements() + plan_.rest * width) * sizeof(E), stream),
        scratch_(reinterpret_cast<E*>(memory_.data())),
        rest_(scratch_ + panelElements()) {}

  // length x width to width x length.
  void transpose() const {
    copyElements(rest_, data_, plan_.rest * width_);
    copyElements(scratch_, panelAt(0), panelElements());
    for (std::size_t panel = 1; panel < plan_.panels; ++panel) movePanel(panelAt(panel), panel, true);
    movePanel(scratch_, 0, true);
    permuteSlots(true);
    if (plan_.rest == 0) return;
    if (flat_) moveRows(true);
    transposeOver(rest_, plan_.rest, width_, width_, data_, length_);
  }

  // width x length to length x width: the same backwards.
  void transposeBack() const {
    if (plan_.rest > 0) {
      transposeOver(data_, width_, plan_.rest, length_, rest_, width_);
      if (flat_) moveRows(false);
    }
    permuteSlots(false);
    movePanel(scratch_, 0, false);
    for (std::size_t panel = plan_.panels - 1; panel > 0; --panel) movePanel(panelAt(panel), panel, false);
    copyElements(panelAt(0), scratch_, panelElements());
    copyElements(data_, rest_, plan_.rest * width_);
  }

 private:
  // So that a panel fits into what may be borrowed.
  static std::size_t leastPanels(std::size_t length, std::size_t width) {
    const std::size_t bytes = length * width * sizeof(E);
    return smallerOf(length, ceilDivide(bytes, largerOf(Policy::scratchBytes, ceilDivide(bytes, 32))));
  }

  static SlotGrid slotGrid(const PanelPlan& plan, std::size_t width) {
    const std::size_t group = slotGroup(plan.panels, width);
    return {static_cast<unsigned>(plan.panels),
            static_cast<unsigned>(width),
            static_cast<unsigned>(group),
            static_cast<unsigned>(width / group),
            plan.height,
            isFlat(plan.panels, width) ? 0 : plan.rest};
  }

  std::size_t kept() const { return plan_.panels * plan_.height; }
  std::size_t panelElements() const { return plan_.height * width_; }
  E* panelAt(std::size_t panel) const { return data_ + plan_.rest * width_ + panel * panelElements(); }
  E* end() const { return data_ + length_ * width_; }

  void copyElements(E* to, const E* from, std::size_t count) const {
    if (count > 0)
      check(cudaMemcpyAsync(to, from, count * sizeof(E), cudaMemcpyDeviceToDevice, stream_),
            "cudaMemcpyAsync");
  }

  void transposeOver(const E* in, std::size_t rows, std::size_t cols, std::size_t inLd, E* out,
                     std::size_t outLd) const {
    launchTranspose(PanelProblem<E>{in, out, rows, cols, inLd, outLd, 1, 0, 0, Identity{}}, stream_);
  }

  void movePanel(E* rows, std::size_t panel, bool toSlots) const {
    if (!flat_) return moveRuns(rows, panel, toSlots);
    E* const slots = data_ + slots_.position(static_cast<unsigned>(panel)) * panelElements();
    if (toSlots)
      transposeOver(rows, plan_.height, width_, width_, slots, plan_.height);
    else
      transposeOver(slots, width_, plan_.height, plan_.height, rows, width_);
  }

  void moveRuns(E* rows, std::size_t panel, bool toSlots) const {
    using Layout = StagedLayout<decltype(Policy::template tile<sizeof(E)>()), E, E, Identity>;
    const std::size_t run = ceilDivide(width_, plan_.panels);
    const PanelProblem<E> problem =
        toSlots ? PanelProblem<E>{rows, data_, plan_.height, run, width_, length_, 1, 0, 0, Identity{}}
                : PanelProblem<E>{data_, rows, run, plan_.height, length_, width_, 1, 0, 0, Identity{}};
    // Runs begin anywhere in the output: at what their addresses have in common.
    const std::size_t steps = toSlots ? plan_.height * sizeof(E) | slots_.gap * sizeof(E) : sizeof(E);
    PanelProblem<E> anyRun = problem;
    anyRun.out = reinterpret_cast<E*>(reinterpret_cast<std::uintptr_t>(problem.out) | steps);
    StagedShape shape = stagedShape<Layout>(anyRun);
    const E* const inEnd = toSlots && rows == scratch_ ? scratch_ + panelElements() : end();
    shape.inEnd = reinterpret_cast<std::uintptr_t>(inEnd);
    shape.rowTiles = static_cast<unsigned>(ceilDivide(problem.rows + shape.halo, Layout::ROWS));
    shape.colTiles = static_cast<unsigned>(ceilDivide(problem.cols, Layout::COLS));
    LaunchConfig config = gridConfig(Layout::BLOCK, plan_.panels * shape.rowTiles * shape.colTiles, stream_,
                                     "gpuopt::transposeInPlace");
    config.sharedBytes = ceilDivide(rowPlace<Layout>(shape, Layout::ROWS + shape.halo) + SECTOR, 16) * 16;
    const PanelMove<E> move{rows, data_, length_, static_cast<unsigned>(panel), toSlots};
    launch(transposePanelKernel<Layout, E>, config, move, slots_, shape);
  }

  void permuteSlots(bool fromSlots) const {
    const auto whole = [&](std::size_t bytes) {
      return alignedTo(data_, bytes) && plan_.height * sizeof(E) % bytes == 0 &&
             slots_.gap * sizeof(E) % bytes == 0;
    };
    if (whole(16))
      permuteSlotsBy<uint4, 16>(fromSlots);
    else if (whole(4))
      permuteSlotsBy<unsigned, 4>(fromSlots);
    else
      permuteSlotsBy<unsigned, unitOf<E>>(fromSlots);
  }

  template <class W, unsigned UNIT>
  void permuteSlotsBy(bool fromSlots) const {
    const std::size_t slots = plan_.panels * slots_.group;
    const std::size_t room = smallerOf(std::size_t{68} << 10, sharedLimit()) / slots - sizeof(SlotMove);
    const std::size_t most = smallerOf(room, Policy::sliceBytes);
    SlotSlices shape{sizeof(E), 0, 0, 1, fromSlots};
    while ((2U << shape.laneBits) <= groupThreads && (sizeof(W) << shape.laneBits << 1) <= most)
      ++shape.laneBits;
    const std::size_t sliceWords = sizeof(W) << shape.laneBits;
    shape.sliceBytes = static_cast<unsigned>(sliceWords - SliceWords<W, UNIT>::EXTRA);
    shape.slices = static_cast<unsigned>(ceilDivide(plan_.height * sizeof(E), shape.sliceBytes));
    LaunchConfig config = gridConfig(groupThreads, std::size_t{shape.slices} * slots_.period, stream_,
                                     "gpuopt::transposeInPlace");
    config.sharedBytes = slots * (sizeof(SlotMove) + sliceWords);
    const ByteRange matrix{reinterpret_cast<std::uintptr_t>(data_), reinterpret_cast<std::uintptr_t>(end())};
    launch(permuteSlotsKernel<W, UNIT>, config, matrix, slots_, shape);
  }

  // Moves the rows of the transposed matrix, of kept() elements and without gaps, to where they end as those
  // of length_ elements do; or back. By way of the scratch memory, in an order in which none is overwritten
  // before it has been read.
  void moveRows(bool apart) const {
    const std::size_t rows = largerOf(panelElements() / kept(), std::size_t{1});
    const std::size_t cols = smallerOf(panelElements(), kept());
    const std::size_t across = ceilDivide(kept(), cols);
    const std::size_t pieces = ceilDivide(width_, rows) * across;
    for (std::size_t n = 0; n < pieces; ++n) {
      const std::size_t piece = apart ? pieces - 1 - n : n;
      const std::size_t row = piece / across * rows;
      const std::size_t col = piece % across * cols;
      E* const dense = data_ + row * kept() + col;
      E* const spread = data_ + row * length_ + plan_.rest + col;
      const std::size_t height = smallerOf(rows, width_ - row);
      const std::size_t width = smallerOf(cols, kept() - col);
      copyRows(apart ? dense : spread, apart ? kept() : length_, scratch_, width, height, width);
      copyRows(scratch_, width, apart ? spread : dense, apart ? length_ : kept(), height, width);
    }
  }

  void copyRows(const E* from, std::size_t fromLd, E* to, std::size_t toLd, std::size_t rows,
                std::size_t cols) const {
    launchTranspose(PanelProblem<E>{from, to, 1, cols, cols, 1, rows, fromLd, toLd, Identity{}}, stream_);
  }

  E* data_;
  std::size_t length_;
  std::size_t width_;
  PanelPlan plan_;
  bool flat_;
  SlotGrid slots_;
  cudaStream_t stream_;
  ScratchMemory memory_;
  E* scratch_;
  E* rest_;
};

// rows x cols elements, neither of which is 0. Capturable, asynchronous. Takes memory from the library's pool
// of the device: that of the matrix up to Policy::scratchBytes; for larger ones that, or a 32nd of the
// matrix, and the rows that make no panel, seldom over a 64th.
template <class Policy = RectanglePolicy, class T>
void launchTransposeRectangleInPlace(T* data, std::size_t rows, std::size_t cols, cudaStream_t stream) {
  withRawElements(data, [&](auto* elements) {
    using E = std::remove_pointer_t<decltype(elements)>;
    const std::size_t bytes = rows * cols * sizeof(E);
    if (bytes <= Policy::scratchBytes) {
      const ScratchMemory scratch(bytes, stream);
      launchTranspose(TransposeProblem<E, E, Identity>{elements, reinterpret_cast<E*>(scratch.data()), rows,
                                                       cols, cols, rows, 1, 0, 0, Identity{}},
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
GPUOPT_NAMESPACE_END
