/// \file
/// Transposition of rectangular matrices in place, in a few passes. in_place_segments.cuh says how it works.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/transpose/in_place_elements.cuh>
#include <gpuopt/device/transpose/in_place_passes.cuh>
#include <gpuopt/device/transpose/in_place_plan.cuh>
#include <gpuopt/device/transpose/in_place_segments.cuh>
#include <gpuopt/device/transpose/in_place_tuning.cuh>
#include <gpuopt/device/transpose/launch.cuh>
#include <gpuopt/host/memory.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

template <class E>
void copyElements(E* to, const E* from, std::size_t count, cudaStream_t stream) {
  if (count > 0)
    check(cudaMemcpyAsync(to, from, count * sizeof(E), cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
}

// The passes between a matrix of length x width elements and its transpose in the same memory. `scratch` holds one
// panel, `remainder` the rows that are in no panel.
template <class Tuning, class E>
class RectanglePasses {
 public:
  RectanglePasses(E* data, const InPlacePlan& plan, cudaStream_t stream)
      : data_(data),
        length_(plan.length()),
        width_(plan.width()),
        plan_(plan.panels),
        shuffle_(plan.shuffle),
        isFlat_(isFlat(plan_.panels, width_)),
        grid_(segmentGrid(plan_, width_)),
        stream_(stream),
        memory_((panelElements() + plan_.remainder * width_) * sizeof(E), stream),
        scratch_(reinterpret_cast<E*>(memory_.data())),
        remainder_(scratch_ + panelElements()) {}

  // length x width to width x length.
  void transpose() const {
    copyElements(remainder_, data_, plan_.remainder * width_, stream_);
    copyElements(scratch_, panelAt(0), panelElements(), stream_);
    for (std::size_t panel = 1; panel < plan_.panels; ++panel) transposePanel(panelAt(panel), panel, true);
    transposePanel(scratch_, 0, true);
    shuffleColumns(data_, end(), grid_, shuffle_, true, stream_);
    if (plan_.remainder == 0) return;
    if (isFlat_) moveRows(true);
    const PanelProblem<E> problem{remainder_, data_, plan_.remainder, width_, width_, length_, 1, 0, 0, Identity{}};
    launchPlan(problem, planOf(problem), stream_);
  }

  // width x length to length x width: the same in reverse.
  void transposeBack() const {
    if (plan_.remainder > 0) {
      const PanelProblem<E> problem{data_, remainder_, width_, plan_.remainder, length_, width_, 1, 0, 0, Identity{}};
      launchPlan(problem, planOf(problem), stream_);
      if (isFlat_) moveRows(false);
    }
    shuffleColumns(data_, end(), grid_, shuffle_, false, stream_);
    transposePanel(scratch_, 0, false);
    for (std::size_t panel = plan_.panels - 1; panel > 0; --panel) transposePanel(panelAt(panel), panel, false);
    copyElements(panelAt(0), scratch_, panelElements(), stream_);
    copyElements(data_, remainder_, plan_.remainder * width_, stream_);
  }

 private:
  std::size_t panelElements() const { return plan_.height * width_; }
  E* panelAt(std::size_t panel) const { return data_ + plan_.remainder * width_ + panel * panelElements(); }
  E* end() const { return data_ + length_ * width_; }

  // Moves a panel from its rows to its segments, or back. Of a flat matrix it is one run of columns.
  void transposePanel(E* rows, std::size_t panel, bool forward) const {
    const auto number = static_cast<unsigned>(panel);
    if (!isFlat_) {
      const E* const inEnd = forward && rows == scratch_ ? scratch_ + panelElements() : end();
      return launchTransposePanel<decltype(Tuning::template tile<sizeof(E)>())>(
          PanelMove<E>{rows, data_, length_, number, forward}, grid_, inEnd, stream_);
    }
    E* const segments = data_ + grid_.rowOf(number) * panelElements();
    const auto problem =
        panelProblem(PanelMove<E>{rows, segments, plan_.height, number, forward}, grid_, {0, width_, 0});
    launchPlan(problem, planOf(problem), stream_);
  }

  // Flat matrices: moves the rows of the transposed matrix, dense and without the remainder's gaps, `apart` to where
  // rows of length_ elements have them; or back together. Blocks of rows that fit into the scratch memory go through
  // it, in an order that overwrites none before it has been read.
  void moveRows(bool apart) const {
    const std::size_t dense = plan_.panels * plan_.height;
    const std::size_t rows = largerOf(panelElements() / dense, std::size_t{1});
    const std::size_t cols = smallerOf(panelElements(), dense);
    const std::size_t across = ceilDivide(dense, cols);
    const std::size_t blocks = ceilDivide(width_, rows) * across;
    for (std::size_t n = 0; n < blocks; ++n) {
      const std::size_t block = apart ? blocks - 1 - n : n;
      const std::size_t row = block / across * rows;
      const std::size_t col = block % across * cols;
      E* const together = data_ + row * dense + col;
      E* const spread = data_ + row * length_ + plan_.remainder + col;
      const std::size_t height = smallerOf(rows, width_ - row);
      const std::size_t width = smallerOf(cols, dense - col);
      copyRows(apart ? together : spread, apart ? dense : length_, scratch_, width, height, width);
      copyRows(scratch_, width, apart ? spread : together, apart ? length_ : dense, height, width);
    }
  }

  void copyRows(const E* from, std::size_t fromLd, E* to, std::size_t toLd, std::size_t rows, std::size_t cols) const {
    const PanelProblem<E> problem{from, to, 1, cols, cols, 1, rows, fromLd, toLd, Identity{}};
    launchPlan(problem, planOf(problem), stream_);
  }

  E* data_;
  std::size_t length_;
  std::size_t width_;
  PanelPlan plan_;
  ColumnShuffleSizes shuffle_;
  bool isFlat_;
  SegmentGrid grid_;
  cudaStream_t stream_;
  ScratchMemory memory_;
  E* scratch_;
  E* remainder_;
};

// A matrix that fits into the scratch memory.
template <class E>
void transposeThroughScratch(E* data, std::size_t rows, std::size_t cols, cudaStream_t stream) {
  const ScratchMemory memory(rows * cols * sizeof(E), stream);
  E* const scratch = reinterpret_cast<E*>(memory.data());
  const PanelProblem<E> problem{data, scratch, rows, cols, cols, rows, 1, 0, 0, Identity{}};
  launchPlan(problem, planOf(problem), stream);
  copyElements(data, scratch, rows * cols, stream);
}

// rows x cols elements, neither of which is 0. Capturable, asynchronous. Takes scratch memory from the library's pool
// of the device: as much as the matrix up to Tuning::scratchBytes; for larger matrices that, or a 32nd of the matrix,
// and for the remainder, rarely more than a 64th.
template <class Tuning = RectangleTuningSm90, class T>
void launchTransposeRectangleInPlace(T* data, std::size_t rows, std::size_t cols, cudaStream_t stream) {
  withRawElements(data, [&](auto* elements) {
    using E = std::remove_pointer_t<decltype(elements)>;
    const InPlacePlan plan = planRectangleInPlace<Tuning>(inPlaceRequest(elements, rows, cols, cols, 1, 0));
    if (plan.algorithm == InPlaceAlgorithm::scratch)
      transposeThroughScratch(elements, rows, cols, stream);
    else if (rows >= cols)
      RectanglePasses<Tuning, E>(elements, plan, stream).transpose();
    else
      RectanglePasses<Tuning, E>(elements, plan, stream).transposeBack();
  });
}

GPUOPT_DETAIL_END
