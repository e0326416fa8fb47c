/// \file
/// The kernel that transposes runs of small dense matrices, and what its makers share.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/transpose/byte_run.cuh>
#include <gpuopt/device/transpose/plan_sizes.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/device/transpose/smem.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/thread/async_copy.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// How the matrices are divided among blocks.
struct RunShape {
  std::size_t elements;    // of all matrices
  unsigned blockElements;  // whole matrices
  unsigned rows;
  unsigned cols;
  unsigned area;
  ShortDivisor byArea;
  unsigned inBytes;  // of shared memory, for the input

  template <class Problem>
  RunShape(const Problem& problem, const RunSizes& sizes)
      : elements(problem.batch * problem.rows * problem.cols),
        blockElements(static_cast<unsigned>(sizes.matrices * problem.rows * problem.cols)),
        rows(static_cast<unsigned>(problem.rows)),
        cols(static_cast<unsigned>(problem.cols)),
        area(rows * cols),
        byArea(area),
        inBytes(static_cast<unsigned>(sharedFor(blockElements * sizeof(*problem.in)))) {}
};

// A block's run of whole matrices. The batch is dense, so the run is contiguous on both sides.
template <class In, class Out>
struct MatrixRun {
  const In* in;
  Out* out;
  unsigned elements;

  __device__ MatrixRun(const In* allIn, Out* allOut, const RunShape& shape) {
    const std::size_t first = std::size_t{blockIdx.x} * shape.blockElements;
    const std::size_t left = shape.elements - first;
    in = allIn + first;
    out = allOut + first;
    elements = left < shape.blockElements ? static_cast<unsigned>(left) : shape.blockElements;
  }
};

// A Maker makes the output of a run from the input in shared memory. It writes global memory itself, or, with
// STAGES_OUTPUT, shared memory, from where the block stores vectors. Figures: docs/transpose_kernels.md.
template <class Maker, class In, class Out, class Function>
GPUOPT_KERNEL void __launch_bounds__(Maker::BLOCK, Maker::BLOCKS)
    transposeRunKernel(const In* in, Out* out, const typename Maker::Shape shape, const Function function) {
  waitForPreviousKernel();
  const Maker maker(shape);
  const MatrixRun<In, Out> run(in, out, shape);
  stageBytes(maker.input, reinterpret_cast<const unsigned char*>(run.in),
             run.elements * static_cast<unsigned>(sizeof(In)));
  awaitAsyncCopies();
  __syncthreads();
  maker.make(run, shape, function);
  if constexpr (Maker::STAGES_OUTPUT) {
    __syncthreads();
    unstageBytes(maker.output, maker.outputOrigin(run.out), reinterpret_cast<unsigned char*>(run.out),
                 run.elements * static_cast<unsigned>(sizeof(Out)));
  }
}

template <class In, class Out, class Function>
struct RunLayout : TransposeAtom<In, Out, Function> {
  using typename TransposeAtom<In, Out, Function>::Result;
  // Results per word.
  static constexpr unsigned PACK = sizeof(Result) < 4 && isWord<Result> ? 4 / sizeof(Result) : 1;
};

// How threads find the sources of the output.
struct WalkShape : RunShape {
  ShortDivisor byRows;
  unsigned swizzle;

  template <class Problem>
  WalkShape(const Problem& problem, const RunSizes& sizes, std::size_t swizzledBytes)
      : RunShape(problem, sizes), byRows(rows), swizzle(swizzleFor(swizzledBytes)) {}

  // Swizzles rows of the input.
  template <class Problem>
  WalkShape(const Problem& problem, const RunSizes& sizes)
      : WalkShape(problem, sizes, problem.cols * sizeof(*problem.in)) {}
};

// The atoms of a run in the order of the output.
template <unsigned COUNT>
struct RunWalk {
  unsigned atom;  // in the element
  unsigned row;
  unsigned col;
  unsigned source;  // index of the atom in the input

  __device__ RunWalk(const WalkShape& shape, unsigned index) {
    const unsigned element = index / COUNT;
    const unsigned matrix = shape.byArea.divide(element);
    const unsigned inside = element - matrix * shape.area;
    atom = index % COUNT;
    col = shape.byRows.divide(inside);
    row = inside - col * shape.rows;
    source = (matrix * shape.area + row * shape.cols + col) * COUNT + atom;
  }

  __device__ void advance(const WalkShape& shape) {
    ++source;
    if (++atom < COUNT) return;
    atom = 0;
    source += (shape.cols - 1) * COUNT;
    if (++row < shape.rows) return;
    row = 0;
    source -= (shape.area - 1) * COUNT;
    if (++col < shape.cols) return;
    col = 0;
    source += (shape.area - shape.cols) * COUNT;
  }
};

GPUOPT_DETAIL_END
