/// \file
/// Transposition of small matrices that lie densely one after another, many a block.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/device/transpose_batch_part.cuh>
#include <gpuopt/device/transpose_batch_slabs.cuh>
#include <gpuopt/device/transpose_batch_squares.cuh>
#include <gpuopt/device/transpose_packed.cuh>
#include <gpuopt/device/transpose_problem.cuh>
#include <gpuopt/host/grid_config.cuh>
#include <gpuopt/host/integers.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/thread/grid.cuh>

#include <cstddef>
#include <cstdint>

namespace gpuopt {

/// How batches of small dense matrices are divided among blocks. Pass a type derived from this one to
/// change a value. Bytes are those of the larger one of the two sides. Measured on an H200, 2026-11-22,
/// 256 MiB a side, ratios to the best copy: 4^2 to 33^2 0.96 to 0.99 for 2 to 16 bytes, 0.93 to 0.99 for
/// 1 byte; 48^2 to 128^2 0.95 to 0.99. 17 x 65 bytes are the exception, with 0.69.
struct TransposeBatchPolicy {
  /// What a block moves, if that is a whole number of matrices: 16 such blocks are a multiprocessor's
  /// threads.
  static constexpr std::size_t evenBytes = 4 << 10;
  /// Else this, about: blocks of 2 to 4 KiB cost up to 10 %.
  static constexpr std::size_t blockBytes = 8 << 10;
  /// More, up to this, if blocks begin at lines or sectors then.
  static constexpr std::size_t alignedBytes = 16 << 10;
  /// Threads for so many bytes. 12 bytes, 65^2, which are 49.5 KiB: 512 threads 0.914, 1024 0.859.
  static constexpr int block(std::size_t bytes) {
    return bytes <= (10 << 10) ? 128 : bytes <= (20 << 10) ? 256 : bytes <= (50 << 10) ? 512 : 1024;
  }
  /// Larger matrices, but for slabs (see below), are left to other kernels; of elements of one and two bytes,
  /// which take twice the shared memory, those above `packedBytes`.
  static constexpr std::size_t matrixBytes = 128 << 10;
  static constexpr std::size_t packedBytes = 48 << 10;  ///< see matrixBytes
  /// Fewer matrices, if they are larger than `evenBytes`, are left to kernels that divide matrices among
  /// blocks.
  static constexpr std::size_t leastBatch = 256;
  /// From here on matrices that consist of aligned tiles are left to the kernel for these.
  static constexpr std::size_t tiledBytes = 32 << 10;
  /// Elements of one and two bytes: columns shorter than this many bytes, and those that end within words,
  /// are made word by word if the same words come back after `periodBytes` at most, and `periods` times in a
  /// block; others in runs of `runBytes`.
  static constexpr std::size_t columnBytes = 32;
  static constexpr std::size_t periodBytes = 5 << 10;  ///< see columnBytes
  static constexpr std::size_t periods = 4;            ///< see columnBytes
  static constexpr std::size_t runBytes = 128;         ///< 64 cost up to 16 % for 3 bytes

  /// Bytes and halves that only move go by squares of 4 x 4, if rows and columns are multiples of 4 from
  /// here on, and both arrays aligned to the 4 elements. H200, 2026-11-22, as above: 1 byte, 24^2 0.98,
  /// 32^2 0.96, 48^2 0.975, 64^2 0.96, 100^2 0.97, 128^2 0.97, 16 x 64 0.97; 2 bytes, 24^2 0.975, 64^2
  /// 0.97, 100^2 0.97, 128^2 0.96. Trial kernels, words / squares: 1 byte, 24^2 0.980 / 0.995, 32^2
  /// 0.934 / 0.985, 48^2 0.932 / 0.977, 64^2 0.965 / 0.994, 16 x 64 0.679 / 0.979, 64 x 16 0.840 /
  /// 0.978; 2 bytes, 24^2 0.875 / 0.981, 64^2 0.994 / 1.0, 100^2 0.973 / 0.970. Shorter rows or columns
  /// and matrices above 32 KiB have not been measured.
  static constexpr std::size_t squaresSide = 16;
  /// What a block moves then, about. 4 KiB are as good, if moved by 128 threads.
  static constexpr std::size_t squaresBytes = 8 << 10;
  /// Threads for so many bytes: for 8 KiB, 512 cost up to 22 %.
  static constexpr int squaresBlock(std::size_t bytes) { return bytes <= (20 << 10) ? 256 : 512; }

  /// Matrices of more than `slabsLeastBytes`, and up to `slabsMatrixBytes`, of elements of 8, 12 and 16
  /// bytes that only move are divided in slabs of about `slabsBytes` of their columns, if rows and
  /// columns are not fewer than `slabsSide` and rows of the input aligned to 16 bytes. H200, 2026-11-22,
  /// as above, whole matrices (16 bytes: tiles) / slabs: 8 bytes, 100^2 0.944 / 0.952; 16 bytes, 100^2
  /// 0.888 / 0.951; in trial kernels 12 bytes, 72^2 0.885 / 0.953, 80^2 0.913 / 0.956, 96^2 0.891 /
  /// 0.957, 100^2 0.817 / 0.941. Slabs of 8 KiB cost 1 to 3 %, 512 threads up to 4 % for 12 bytes.
  static constexpr std::size_t slabsBytes = 16 << 10;
  static constexpr std::size_t slabsLeastBytes = 60 << 10;    ///< see slabsBytes
  static constexpr std::size_t slabsMatrixBytes = 160 << 10;  ///< see slabsBytes
  static constexpr std::size_t slabsSide = 64;                ///< see slabsBytes
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

template <class Policy, class Problem>
bool leftToTiles(const Problem& problem, std::size_t bytes) {
  return bytes >= Policy::tiledBytes && problem.rows % 64 == 0 && problem.cols % 64 == 0 &&
         rowsAlignedTo(problem, 16);
}

template <class Policy = TransposeBatchPolicy, class In, class Out, class Function>
bool batchFits(const TransposeProblem<In, Out, Function>& problem) {
  using Layout = BatchLayout<In, Out, Function>;
  constexpr std::size_t SIZE = largerOf(sizeof(In), sizeof(Out));
  constexpr std::size_t BYTES = Layout::PACK > 1 ? Policy::packedBytes : Policy::matrixBytes;
  constexpr std::size_t MOST = smallerOf(BYTES / SIZE, std::size_t{1} << ShortDivisor::BITS);
  const std::size_t area = problem.rows * problem.cols;
  if (slabsFit<Policy>(problem)) return !leftToTiles<Policy>(problem, area * SIZE);
  if (problem.rows > MOST || problem.cols > MOST || area > MOST || !isDense(problem)) return false;
  if (area * SIZE > Policy::evenBytes && problem.batch < Policy::leastBatch) return false;
  if constexpr (Layout::PACK > 1) {
    if (!goesByRuns<Layout>(problem) && !goesByPeriods<Policy, Layout>(problem)) return false;
  } else if (leftToTiles<Policy>(problem, area * SIZE)) {
    return false;
  }
  const std::size_t shared = sharedFor<Layout>(problem, area);
  return shared <= (48 << 10) || shared <= static_cast<std::size_t>(deviceAttribute(
                                               cudaDevAttrMaxSharedMemoryPerBlockOptin, currentDevice()));
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

template <class Policy, class T>
void launchSquares(const TransposeProblem<T, T, Unchanged>& problem, cudaStream_t stream) {
  const std::size_t area = problem.rows * problem.cols;
  const std::size_t matrices =
      smallerOf(problem.batch, blockMatrices<Policy, T, T>(area, Policy::squaresBytes));
  const std::size_t bytes = matrices * area * sizeof(T);
  LaunchConfig config = gridConfig(Policy::squaresBlock(bytes), ceilDivide(problem.batch, matrices), stream,
                                   "gpuopt::transpose");
  config.sharedBytes = 2 * sharedFor(bytes);
  launch(transposeSquaresKernel<T>, config, problem.in, problem.out, squaresShape(problem, matrices * area));
}

template <class Policy, class T>
void launchSlabs(const TransposeProblem<T, T, Unchanged>& problem, cudaStream_t stream) {
  const SlabsShape shape = slabsShape(problem, Policy::slabsBytes);
  LaunchConfig config = gridConfig(SLABS_BLOCK, problem.batch * shape.slabs, stream, "gpuopt::transpose");
  config.sharedBytes = sharedFor(std::size_t{shape.rows} * shape.pitch);
  launch(transposeSlabsKernel<T>, config, problem.in, problem.out, shape);
}

template <class Policy = TransposeBatchPolicy, class In, class Out, class Function>
void launchTransposeBatch(const TransposeProblem<In, Out, Function>& problem, cudaStream_t stream) {
  if constexpr (squaresTake<In, Out, Function>) {
    if (squaresFit<Policy>(problem)) return launchSquares<Policy>(problem, stream);
  }
  if constexpr (slabsTake<In, Out, Function>) {
    if (slabsFit<Policy>(problem)) return launchSlabs<Policy>(problem, stream);
  }
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
