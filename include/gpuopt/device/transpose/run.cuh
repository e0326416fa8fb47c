/// \file
/// The kernel that transposes runs of small dense matrices, what its makers share, and the makers that move elements
/// and squares; subword_maker.cuh has the third one.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/device/transpose/byte_run.cuh>
#include <gpuopt/device/transpose/plan_sizes.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/thread/async_copy.cuh>
#include <gpuopt/thread/transpose.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// How the matrices are divided among blocks.
struct RunArgs {
  std::size_t elements;    // of all matrices
  unsigned blockElements;  // whole matrices
  unsigned rows;
  unsigned cols;
  unsigned area;
  ShortDivisor byArea;
  unsigned inBytes;  // of shared memory, for the input

  template <class Problem>
  RunArgs(const Problem& problem, const RunSizes& sizes)
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

  __device__ MatrixRun(const In* allIn, Out* allOut, const RunArgs& args) {
    const std::size_t first = std::size_t{blockIdx.x} * args.blockElements;
    const std::size_t left = args.elements - first;
    in = allIn + first;
    out = allOut + first;
    elements = left < args.blockElements ? static_cast<unsigned>(left) : args.blockElements;
  }
};

// A Maker makes the output of a run from the input in shared memory. It writes global memory itself, or, with
// STAGES_OUTPUT, shared memory, from where the block stores vectors. Figures: docs/transpose_kernels.md.
template <class Maker, class In, class Out, class Function>
GPUOPT_KERNEL void __launch_bounds__(Maker::BLOCK, Maker::BLOCKS)
    transposeRunKernel(const In* in, Out* out, const typename Maker::Args args, const Function function) {
  waitForPreviousKernel();
  const Maker maker(args);
  const MatrixRun<In, Out> run(in, out, args);
  stageBytes(maker.input, reinterpret_cast<const unsigned char*>(run.in),
             run.elements * static_cast<unsigned>(sizeof(In)));
  awaitAsyncCopies();
  __syncthreads();
  maker.make(run, args, function);
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
struct WalkArgs : RunArgs {
  ShortDivisor byRows;
  unsigned swizzle;

  template <class Problem>
  WalkArgs(const Problem& problem, const RunSizes& sizes, std::size_t swizzledBytes)
      : RunArgs(problem, sizes), byRows(rows), swizzle(swizzleFor(swizzledBytes)) {}

  // Swizzles rows of the input.
  template <class Problem>
  WalkArgs(const Problem& problem, const RunSizes& sizes)
      : WalkArgs(problem, sizes, problem.cols * sizeof(*problem.in)) {}
};

// The atoms of a run in the order of the output.
template <unsigned COUNT>
struct RunWalk {
  unsigned atom;  // in the element
  unsigned row;
  unsigned col;
  unsigned source;  // index of the atom in the input

  __device__ RunWalk(const WalkArgs& args, unsigned index) {
    const unsigned element = index / COUNT;
    const unsigned matrix = args.byArea.divide(element);
    const unsigned inside = element - matrix * args.area;
    atom = index % COUNT;
    col = args.byRows.divide(inside);
    row = inside - col * args.rows;
    source = (matrix * args.area + row * args.cols + col) * COUNT + atom;
  }

  __device__ void advance(const WalkArgs& args) {
    ++source;
    if (++atom < COUNT) return;
    atom = 0;
    source += (args.cols - 1) * COUNT;
    if (++row < args.rows) return;
    row = 0;
    source -= (args.area - 1) * COUNT;
    if (++col < args.cols) return;
    col = 0;
    source += (args.area - args.cols) * COUNT;
  }
};

// Reads the input in the order of the output, and writes to global memory.
template <class Layout>
struct ElementMaker {
  using Args = WalkArgs;
  using Source = typename Layout::Source;
  using Result = typename Layout::Result;
  static constexpr int BLOCK = 1024;
  static constexpr int BLOCKS = 0;  // no limit to registers
  static constexpr bool STAGES_OUTPUT = false;

  SwizzledBytes input;

  __device__ explicit ElementMaker(const Args& args)
      : input{dynamicShared<unsigned char>(), {args.swizzle, isWord<Source> ? Swizzle::VECTORS : 0}} {}

  // The first warp begins at a line of 128 bytes, so that every warp writes whole sectors.
  template <class In, class Out, class Function>
  __device__ void make(const MatrixRun<In, Out>& run, const Args& args, const Function& function) const {
    const auto results = reinterpret_cast<Result*>(run.out);
    const unsigned origin = misalignment(run.in);
    const int skipped = static_cast<int>(reinterpret_cast<std::uintptr_t>(results) % 128 / sizeof(Result));
    const int count = static_cast<int>(run.elements * Layout::COUNT);
    for (int i = static_cast<int>(threadIdx.x) - skipped; i < count; i += static_cast<int>(blockDim.x))
      if (i >= 0) {
        const unsigned source = RunWalk<Layout::COUNT>(args, static_cast<unsigned>(i)).source;
        results[i] = function(
            *reinterpret_cast<const Source*>(input.at(origin + source * static_cast<unsigned>(sizeof(Source)))));
      }
  }
};

// The shift for threads that access squares `distance` bytes apart; 31, no swizzle, if these have no conflict.
inline unsigned squaresSwizzle(std::size_t distance, unsigned bit) {
  return distance % 64 == 0 ? swizzleShift(distance, bit, 2) : 31;
}

// How the squares of a run are divided among the threads.
struct BytePermutationArgs : RunArgs {
  unsigned squares;   // side by side
  unsigned pairRows;  // rows of pairs, two squares one above the other; the last row may have upper ones only
  ShortDivisor bySquares;
  ShortDivisor byPairRows;
  unsigned inSwizzle;
  unsigned outSwizzle;

  // A warp reads up to 64 bytes along a row, and stores along columns.
  template <class Problem>
  BytePermutationArgs(const Problem& problem, const RunSizes& sizes)
      : RunArgs(problem, sizes),
        squares(cols / 4),
        pairRows((rows / 4 + 1) / 2),
        bySquares(squares),
        byPairRows(pairRows),
        inSwizzle(squaresSwizzle(4 * problem.cols * sizeof(*problem.in), 6)),
        outSwizzle(squaresSwizzle(4 * problem.rows * sizeof(*problem.in), 4)) {}
};

// Replaces the four rows of a square by its four columns.
__device__ inline void transposeSquare(unsigned (&rows)[4]) { transposeBytes(rows); }

__device__ inline void transposeSquare(uint2 (&rows)[4]) {
  unsigned squares[2][2][2] = {{{rows[0].x, rows[1].x}, {rows[0].y, rows[1].y}},
                               {{rows[2].x, rows[3].x}, {rows[2].y, rows[3].y}}};
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 2; ++j) transposeHalves(squares[i][j]);
#pragma unroll
  for (int k = 0; k < 4; ++k) rows[k] = make_uint2(squares[0][k / 2][k % 2], squares[1][k / 2][k % 2]);
}

// A thread reads the four rows of a square from shared memory and stores its four columns there. Two neighbours take
// squares one above the other: their stores are adjacent, so a warp has fewer bank conflicts.
template <class T>
struct BytePermutationMaker {
  using Args = BytePermutationArgs;
  using Row = std::conditional_t<sizeof(T) == 1, unsigned, uint2>;
  static constexpr int BLOCK = 512;
  static constexpr int BLOCKS = RESIDENT_THREADS / BLOCK;
  static constexpr bool STAGES_OUTPUT = true;

  SwizzledBytes input;
  SwizzledBytes output;

  __device__ explicit BytePermutationMaker(const Args& args)
      : input{&keepAddress(*dynamicShared<unsigned char>()), {args.inSwizzle, Swizzle::VECTORS}},
        output{input.bytes + args.inBytes, {args.outSwizzle, Swizzle::VECTORS}} {}

  __device__ unsigned outputOrigin(const void* out) const { return misalignment(out); }

  __device__ void make(const MatrixRun<T, T>& run, const Args& args, Identity) const {
    constexpr unsigned SIZE = sizeof(T);
    const unsigned inOrigin = misalignment(run.in);
    const unsigned outOrigin = misalignment(run.out);
    const unsigned count = args.byArea.divide(run.elements) * args.pairRows * args.squares * 2;
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
      const unsigned pairRow = args.bySquares.divide(i / 2);  // in the run
      const unsigned col = 4 * (i / 2 - pairRow * args.squares);
      const unsigned matrix = args.byPairRows.divide(pairRow);
      const unsigned row = 4 * ((pairRow - matrix * args.pairRows) * 2 + i % 2);
      if (row >= args.rows) continue;
      Row square[4];
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        const unsigned element = matrix * args.area + (row + k) * args.cols + col;
        square[k] = *reinterpret_cast<const Row*>(input.at(inOrigin + element * SIZE));
      }
      transposeSquare(square);
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        const unsigned element = matrix * args.area + (col + k) * args.rows + row;
        *reinterpret_cast<Row*>(output.at(outOrigin + element * SIZE)) = square[k];
      }
    }
  }
};

GPUOPT_DETAIL_END
