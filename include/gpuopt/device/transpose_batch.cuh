/// \file
/// Transposition of small matrices that lie densely one after another, many a block.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/device/transpose_batch_part.cuh>
#include <gpuopt/device/transpose_packed.cuh>
#include <gpuopt/device/transpose_problem.cuh>
#include <gpuopt/host/grid_config.cuh>
#include <gpuopt/host/integers.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/thread/grid.cuh>

#include <cstddef>
#include <cstdint>

namespace gpuopt {

/// How batches of small dense matrices are divided among blocks. Pass a type derived from this one to change
/// a value. Bytes are those of the larger one of the two sides. Measured on an H200, 2026-11-21, 256 MiB a
/// side, ratios to the best copy: 4^2 to 33^2 0.95 to 1.0 for 2 to 16 bytes, 0.93 to 0.99 for 1 byte; 64^2
/// and more 0.93 to 0.98.
struct TransposeBatchPolicy {
  /// What a block moves, if that is a whole number of matrices: 16 such blocks are a multiprocessor's
  /// threads.
  static constexpr std::size_t evenBytes = 4 << 10;
  /// Else this, about: blocks of 2 to 4 KiB cost up to 10 %.
  static constexpr std::size_t blockBytes = 8 << 10;
  /// More, up to this, if blocks begin at lines or sectors then.
  static constexpr std::size_t alignedBytes = 16 << 10;
  /// Threads for so many bytes.
  static constexpr int block(std::size_t bytes) {
    return bytes <= (10 << 10) ? 128 : bytes <= (20 << 10) ? 256 : bytes <= (48 << 10) ? 512 : 1024;
  }
  /// Larger matrices are left to other kernels; of elements of one and two bytes, which take twice the shared
  /// memory, those above `packedBytes`.
  static constexpr std::size_t matrixBytes = 128 << 10;
  static constexpr std::size_t packedBytes = 48 << 10;
  /// Fewer matrices, if they are larger than `evenBytes`, are left to kernels that divide matrices among
  /// blocks.
  static constexpr std::size_t leastBatch = 256;
  /// From here on matrices that consist of aligned tiles are left to the kernel for these.
  static constexpr std::size_t tiledBytes = 32 << 10;
  /// Elements of one and two bytes: columns shorter than this many bytes, and those that end within words,
  /// are made word by word if the same words come back after `periodBytes` at most, and `periods` times in a
  /// block; others in runs of `runBytes`.
  static constexpr std::size_t columnBytes = 32;
  static constexpr std::size_t periodBytes = 5 << 10;
  static constexpr std::size_t periods = 4;
  static constexpr std::size_t runBytes = 128;  ///< 64 cost up to 16 % for 3 bytes
};

namespace detail {

// Elements and words of four bytes and more: reads from shared memory in the order of the output. Stores
// begin at a line, so that a warp's lie in whole sectors.
template <class Layout, class In, class Out, class Function>
__global__ void __launch_bounds__(1024)
    transposeBatchKernel(const In* in, Out* out, const BatchShape shape, const Function function) {
  using Source = typename Layout::Source;
  using Result = typename Layout::Result;
  waitForPreviousKernel();
  const BatchPart<In, Out> part(in, out, shape);
  const SwizzledBytes<isWord<Source>> staged{dynamicShared<unsigned char>(), shape.swizzle};
  part.stage(staged);

  const auto results = reinterpret_cast<Result*>(part.out);
  const unsigned origin = placeOf(part.in);
  const int lead = static_cast<int>(reinterpret_cast<std::uintptr_t>(results) % 128 / sizeof(Result));
  const int count = static_cast<int>(part.elements * Layout::COUNT);
  for (int i = static_cast<int>(threadIdx.x) - lead; i < count; i += static_cast<int>(blockDim.x))
    if (i >= 0) {
      const unsigned place = BatchWalk<Layout::COUNT>(shape, static_cast<unsigned>(i)).place;
      results[i] = function(*reinterpret_cast<const Source*>(
          staged.at(origin + place * static_cast<unsigned>(sizeof(Source)))));
    }
}

template <class Problem>
bool isDense(const Problem& problem) {
  const std::size_t area = problem.rows * problem.cols;
  return problem.inLd == problem.cols && problem.outLd == problem.rows &&
         (problem.batch == 1 || (problem.inStride == area && problem.outStride == area));
}

// Whole matrices that a block takes: if possible so many that all blocks begin at lines, or at sectors.
template <class Policy, class In, class Out>
std::size_t blockMatrices(std::size_t area, std::size_t leastBytes) {
  constexpr std::size_t MOST = std::size_t{1} << ShortDivisor::BITS;
  const std::size_t matrix = area * largerOf(sizeof(In), sizeof(Out));
  const auto multiple = [&](std::size_t boundary) {
    const std::size_t common = greatestCommonDivisor(area * sizeof(In), area * sizeof(Out));
    const std::size_t matrices = boundary / greatestCommonDivisor(common, boundary);
    return matrices * matrix <= Policy::alignedBytes && matrices * area <= MOST ? matrices : 0;
  };
  const std::size_t lines = multiple(128);
  const std::size_t unit = lines > 0 ? lines : largerOf<std::size_t>(multiple(32), 1);
  const std::size_t usual = Policy::evenBytes % matrix == 0 ? Policy::evenBytes : Policy::blockBytes;
  const std::size_t bytes = largerOf(usual, leastBytes);
  const std::size_t units = smallerOf((bytes + unit * matrix / 2) / (unit * matrix), MOST / (unit * area));
  return largerOf<std::size_t>(units, 1) * unit;
}

// Shared memory for so many bytes at any alignment.
inline std::size_t sharedFor(std::size_t bytes) { return ceilDivide(bytes + 32, 128) * 128; }

template <class Layout, class Problem>
std::size_t sharedFor(const Problem& problem, std::size_t elements) {
  return sharedFor(elements * sizeof(*problem.in)) +
         (Layout::PACK > 1 ? sharedFor(elements * sizeof(*problem.out)) : 0);
}

// Elements after which the words of the output begin at the same places of the input again.
template <class Layout>
std::size_t wordPeriod(std::size_t area) {
  return area * (Layout::PACK / greatestCommonDivisor(area * Layout::COUNT, Layout::PACK));
}

template <class Policy, class Layout, class In, class Out, class Function>
bool goesByPeriods(const TransposeProblem<In, Out, Function>& problem) {
  const std::size_t bytes = problem.rows * sizeof(typename Layout::Result);
  const std::size_t period =
      wordPeriod<Layout>(problem.rows * problem.cols) * largerOf(sizeof(In), sizeof(Out));
  return (bytes < Policy::columnBytes || bytes * Layout::COUNT % 4 != 0) && period <= Policy::periodBytes;
}

// Whether the words of columns can be made in runs: a thread reads up to so many rows of the next column.
template <class Layout, class Problem>
bool goesByRuns(const Problem& problem) {
  return problem.rows >= 2 * Layout::PACK && problem.rows * sizeof(typename Layout::Result) >= 16;
}

template <class Policy = TransposeBatchPolicy, class In, class Out, class Function>
bool batchFits(const TransposeProblem<In, Out, Function>& problem) {
  using Layout = BatchLayout<In, Out, Function>;
  constexpr std::size_t SIZE = largerOf(sizeof(In), sizeof(Out));
  constexpr std::size_t BYTES = Layout::PACK > 1 ? Policy::packedBytes : Policy::matrixBytes;
  constexpr std::size_t MOST = smallerOf(BYTES / SIZE, std::size_t{1} << ShortDivisor::BITS);
  const std::size_t area = problem.rows * problem.cols;
  if (problem.rows > MOST || problem.cols > MOST || area > MOST || !isDense(problem)) return false;
  if (area * SIZE > Policy::evenBytes && problem.batch < Policy::leastBatch) return false;
  if constexpr (Layout::PACK > 1) {
    if (!goesByRuns<Layout>(problem) && !goesByPeriods<Policy, Layout>(problem)) return false;
  } else if (area * SIZE >= Policy::tiledBytes && problem.rows % 64 == 0 && problem.cols % 64 == 0 &&
             rowsAlignedTo(problem, 16)) {
    return false;
  }
  const std::size_t shared = sharedFor<Layout>(problem, area);
  return shared <= (48 << 10) || shared <= static_cast<std::size_t>(deviceAttribute(
                                               cudaDevAttrMaxSharedMemoryPerBlockOptin, currentDevice()));
}

// The shift that brings to bits 4 to 6 those bits, from 7 on, that differ between neighbouring threads'
// places.
inline unsigned swizzleFor(std::size_t distance) {
  unsigned swizzle = 3;
  while (distance % (std::size_t{32} << swizzle) == 0) ++swizzle;
  return swizzle;
}

template <class Problem>
BatchShape batchShape(const Problem& problem, std::size_t elements) {
  BatchShape shape{};
  shape.elements = problem.batch * problem.rows * problem.cols;
  shape.blockElements = static_cast<unsigned>(elements);
  shape.rows = static_cast<unsigned>(problem.rows);
  shape.cols = static_cast<unsigned>(problem.cols);
  shape.area = shape.rows * shape.cols;
  shape.byRows = ShortDivisor(shape.rows);
  shape.byCols = ShortDivisor(shape.cols);
  shape.byArea = ShortDivisor(shape.area);
  return shape;
}

// What transposePackedKernel needs besides.
template <class Policy, class Layout, class Problem>
void shapeWords(BatchShape& shape, const Problem& problem, unsigned block) {
  constexpr unsigned SIZE = sizeof(typename Layout::Result);
  shape.swizzle = swizzleFor(problem.rows * sizeof(*problem.out));
  shape.inBytes = static_cast<unsigned>(sharedFor(shape.blockElements * sizeof(*problem.in)));
  if (goesByPeriods<Policy, Layout>(problem)) {
    shape.period = static_cast<unsigned>(wordPeriod<Layout>(shape.area) * Layout::COUNT / Layout::PACK);
    shape.periods = largerOf(block / shape.period, 1u);
    shape.byPeriod = ShortDivisor(shape.period);
  } else {
    const std::size_t runs = ceilDivide(shape.rows * SIZE, Policy::runBytes);
    shape.run = static_cast<unsigned>(ceilDivide(shape.rows, runs * Layout::PACK) * Layout::PACK);
    shape.runs = static_cast<unsigned>(ceilDivide(shape.rows, shape.run));
    shape.byRuns = ShortDivisor(shape.runs);
  }
}

template <class Policy = TransposeBatchPolicy, class In, class Out, class Function>
void launchTransposeBatch(const TransposeProblem<In, Out, Function>& problem, cudaStream_t stream) {
  using Layout = BatchLayout<In, Out, Function>;
  constexpr std::size_t SIZE = largerOf(sizeof(In), sizeof(Out));
  const std::size_t area = problem.rows * problem.cols;
  const std::size_t period =
      Layout::PACK > 1 && goesByPeriods<Policy, Layout>(problem) ? wordPeriod<Layout>(area) : 0;
  const std::size_t matrices =
      smallerOf(problem.batch, blockMatrices<Policy, In, Out>(area, Policy::periods * period * SIZE));
  const std::size_t elements = matrices * area;
  const int block = Policy::block(elements * SIZE);
  LaunchConfig config = gridConfig(block, ceilDivide(problem.batch, matrices), stream, "gpuopt::transpose");
  config.sharedBytes = sharedFor<Layout>(problem, elements);
  BatchShape shape = batchShape(problem, elements);
  if constexpr (Layout::PACK == 1) {
    shape.swizzle = swizzleFor(problem.cols * sizeof(In));
    launch(transposeBatchKernel<Layout, In, Out, Function>, config, problem.in, problem.out, shape,
           problem.function);
  } else {
    shapeWords<Policy, Layout>(shape, problem, static_cast<unsigned>(block));
    launch(transposePackedKernel<Layout, In, Out, Function>, config, problem.in, problem.out, shape,
           problem.function);
  }
}

}  // namespace detail
}  // namespace gpuopt
