/// \file
/// Transposition of small matrices that lie densely one after another, many a block.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/transpose/batch_part.cuh>
#include <gpuopt/device/transpose/batch_slabs.cuh>
#include <gpuopt/device/transpose/batch_squares.cuh>
#include <gpuopt/device/transpose/packed.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/host/grid_config.cuh>
#include <gpuopt/host/launch.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

GPUOPT_NAMESPACE_BEGIN

/// How batches of small dense matrices are divided among blocks. Pass a type derived from this one to
/// change a value. Bytes are those of the larger one of the two sides. Measured on an H200, 2026-11-22,
/// 256 MiB a side, ratios to the best copy: 4^2 to 33^2 0.95 to 0.99 for 2 to 16 bytes, 0.93 to 0.99 for
/// 1 byte; 48^2 to 128^2 0.95 to 0.99. 17 x 65 bytes are the exception, with 0.85.
struct TransposeBatchPolicy {
  /// What a block moves, if that is a whole number of matrices or goes by squares (see below): 16 such blocks
  /// are a multiprocessor's threads.
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
  /// Elements of one and two bytes, and those that consist of such: a matrix is made word by word, if the
  /// same words come back after `periodBytes` at most, and `periods` times in a block; else in runs of
  /// `runBytes` of a column. A word's sources lie in several rows, and those of a warp may meet in a bank:
  /// more than `wordWays` times cost more than runs do. H200, 2026-11-22, as above, words / runs: 1 byte, 12
  /// x 20 0.984 / 0.886, 31^2 0.969 / 0.963, 17 x 65 (4 times) 0.688 / 0.849, 15 x 64 (8 times) 0.396 /
  /// 0.911; 2 bytes, 8^2 0.976 / 0.818, 31^2 0.966 / 0.964, 9 x 64 (9 times) 0.664 / 0.979; 3 bytes, 13^2
  /// 0.961 / 0.643, 17^2 (4 times) 0.687 / 0.868; 6 bytes, 24^2 0.973 / 0.808.
  static constexpr unsigned wordWays = 3;
  static constexpr std::size_t periodBytes = 5 << 10;  ///< see wordWays
  static constexpr std::size_t periods = 4;            ///< see wordWays
  static constexpr std::size_t runBytes = 128;         ///< 64 cost up to 16 % for 3 bytes

  /// Bytes and halves that only move go by squares of 4 x 4, if rows and columns are multiples of 4 from
  /// here on, and both arrays aligned to the 4 elements. H200, 2026-11-22, as above: 1 byte, 24^2 0.99,
  /// 32^2 0.98, 48^2 0.98, 64^2 0.98, 100^2 0.97, 128^2 0.97, 16 x 64 0.99; 2 bytes, 24^2 0.98, 64^2
  /// 0.98, 100^2 0.97, 128^2 0.96. Trial kernels, words / squares: 1 byte, 24^2 0.980 / 0.995, 32^2
  /// 0.934 / 0.985, 48^2 0.932 / 0.977, 64^2 0.965 / 0.994, 16 x 64 0.679 / 0.979, 64 x 16 0.840 /
  /// 0.978; 2 bytes, 24^2 0.875 / 0.981, 64^2 0.994 / 1.0, 100^2 0.973 / 0.970. Shorter rows or columns
  /// and matrices above 32 KiB have not been measured.
  static constexpr std::size_t squaresSide = 16;

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
GPUOPT_KERNEL void __launch_bounds__(1024)
    transposeBatchKernel(const In* in, Out* out, const WalkShape shape, const Function function) {
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

// Whole matrices of about so many bytes: if possible so many that all blocks begin at lines, or at sectors.
template <class Policy, class In, class Out>
std::size_t blockMatrices(std::size_t area, std::size_t bytes) {
  constexpr std::size_t MOST = std::size_t{1} << ShortDivisor::BITS;
  const std::size_t matrix = area * largerOf(sizeof(In), sizeof(Out));
  const auto multiple = [&](std::size_t boundary) {
    const std::size_t common = greatestCommonDivisor(area * sizeof(In), area * sizeof(Out));
    const std::size_t matrices = boundary / greatestCommonDivisor(common, boundary);
    return matrices * matrix <= Policy::alignedBytes && matrices * area <= MOST ? matrices : 0;
  };
  const std::size_t lines = multiple(128);
  const std::size_t unit = lines > 0 ? lines : largerOf<std::size_t>(multiple(32), 1);
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

// Whether the words of columns can be made in runs: a thread reads up to so many rows of the next column.
template <class Layout, class Problem>
bool canGoByRuns(const Problem& problem) {
  return problem.rows >= 2 * Layout::PACK;
}

template <class Policy, class Layout, class Problem>
bool canGoByPeriods(const Problem& problem) {
  constexpr std::size_t SIZE = largerOf(sizeof(*problem.in), sizeof(*problem.out));
  return wordPeriod<Layout>(problem.rows * problem.cols) * SIZE <= Policy::periodBytes;
}

// How many words of one bank a warp reads at most, as each thread takes the first source of another word.
template <class Layout, class Problem>
unsigned sourceWays(const Problem& problem) {
  const auto rows = static_cast<unsigned>(problem.rows);
  const auto cols = static_cast<unsigned>(problem.cols);
  unsigned words[32];
  unsigned ways[32] = {};
  unsigned most = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned element = lane * Layout::PACK / Layout::COUNT;
    const unsigned inside = element % (rows * cols);
    const unsigned source = element - inside + inside % rows * cols + inside / rows;
    const unsigned atom = source * Layout::COUNT + lane * Layout::PACK % Layout::COUNT;
    unsigned* const word = words + lane;
    *word = atom * static_cast<unsigned>(sizeof(typename Layout::Source)) / 4;
    if (std::find(words, word, *word) == word) most = largerOf(most, ++ways[*word % 32]);
  }
  return most;
}

template <class Policy, class Layout, class Problem>
bool goesByPeriods(const Problem& problem) {
  return canGoByPeriods<Policy, Layout>(problem) &&
         (!canGoByRuns<Layout>(problem) || sourceWays<Layout>(problem) <= Policy::wordWays);
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
    if (!canGoByRuns<Layout>(problem) && !canGoByPeriods<Policy, Layout>(problem)) return false;
  } else if (leftToTiles<Policy>(problem, area * SIZE)) {
    return false;
  }
  const std::size_t shared = sharedFor<Layout>(problem, area);
  return shared <= (48 << 10) || shared <= sharedLimit();
}

// So many threads, or up to a quarter more, if else more than a fifth of them made no word of the periods.
inline unsigned periodsBlock(unsigned block, unsigned period) {
  const unsigned words = block / period * period;
  const auto larger = static_cast<unsigned>(roundUp(words + period, 32));
  return words > 0 && words * 5 < block * 4 && larger * 4 <= block * 5 ? larger : block;
}

template <class Policy, class Layout, class Problem>
PackedShape packedShape(const Problem& problem, std::size_t elements, bool byPeriods, unsigned& block) {
  constexpr unsigned SIZE = sizeof(typename Layout::Result);
  PackedShape shape(problem, elements, swizzleFor(problem.rows * sizeof(*problem.out)));
  shape.byCols = ShortDivisor(shape.cols);
  if (byPeriods) {
    shape.period = static_cast<unsigned>(wordPeriod<Layout>(shape.area) * Layout::COUNT / Layout::PACK);
    block = periodsBlock(block, shape.period);
    shape.periods = largerOf(block / shape.period, 1u);
    shape.byPeriod = ShortDivisor(shape.period);
  } else {
    const std::size_t runs = ceilDivide(shape.rows * SIZE, Policy::runBytes);
    shape.run = static_cast<unsigned>(ceilDivide(shape.rows, runs * Layout::PACK) * Layout::PACK);
    shape.runs = static_cast<unsigned>(ceilDivide(shape.rows, shape.run));
    shape.byRuns = ShortDivisor(shape.runs);
  }
  return shape;
}

template <class Policy, class T>
void launchSquares(const TransposeProblem<T, T, Identity>& problem, cudaStream_t stream) {
  const std::size_t area = problem.rows * problem.cols;
  const std::size_t matrices = smallerOf(problem.batch, blockMatrices<Policy, T, T>(area, Policy::evenBytes));
  const std::size_t bytes = matrices * area * sizeof(T);
  LaunchConfig config =
      gridConfig(Policy::block(bytes), ceilDivide(problem.batch, matrices), stream, "gpuopt::transpose");
  config.sharedBytes = 2 * sharedFor(bytes);
  launch(transposeSquaresKernel<T>, config, problem.in, problem.out, SquaresShape(problem, matrices * area));
}

template <class Policy, class T>
void launchSlabs(const TransposeProblem<T, T, Identity>& problem, cudaStream_t stream) {
  const SlabsShape shape = slabsShape(problem, Policy::slabsBytes);
  LaunchConfig config = gridConfig(SLABS_BLOCK, problem.batch * shape.slabs, stream, "gpuopt::transpose");
  config.sharedBytes = sharedFor(std::size_t{shape.rows} * shape.pitch);
  launch(transposeSlabsKernel<T>, config, problem.in, problem.out, shape);
}

template <class Policy = TransposeBatchPolicy, class In, class Out, class Function>
GPUOPT_HIDDEN void launchTransposeBatch(const TransposeProblem<In, Out, Function>& problem,
                                        cudaStream_t stream) {
  if constexpr (squaresTake<In, Out, Function>) {
    if (squaresFit<Policy>(problem)) return launchSquares<Policy>(problem, stream);
  }
  if constexpr (slabsTake<In, Out, Function>) {
    if (slabsFit<Policy>(problem)) return launchSlabs<Policy>(problem, stream);
  }
  using Layout = BatchLayout<In, Out, Function>;
  constexpr std::size_t SIZE = largerOf(sizeof(In), sizeof(Out));
  const std::size_t area = problem.rows * problem.cols;
  std::size_t bytes = Policy::evenBytes % (area * SIZE) == 0 ? Policy::evenBytes : Policy::blockBytes;
  const bool byPeriods = Layout::PACK > 1 && goesByPeriods<Policy, Layout>(problem);
  if (byPeriods) bytes = largerOf(bytes, Policy::periods * wordPeriod<Layout>(area) * SIZE);
  const std::size_t matrices = smallerOf(problem.batch, blockMatrices<Policy, In, Out>(area, bytes));
  const std::size_t elements = matrices * area;
  auto block = static_cast<unsigned>(Policy::block(elements * SIZE));
  const auto start = [&](auto kernel, const auto& shape) {
    LaunchConfig config =
        gridConfig(static_cast<int>(block), ceilDivide(problem.batch, matrices), stream, "gpuopt::transpose");
    config.sharedBytes = sharedFor<Layout>(problem, elements);
    launch(kernel, config, problem.in, problem.out, shape, problem.function);
  };
  if constexpr (Layout::PACK == 1)
    start(transposeBatchKernel<Layout, In, Out, Function>,
          WalkShape(problem, elements, swizzleFor(problem.cols * sizeof(In))));
  else
    start(transposePackedKernel<Layout, In, Out, Function>,
          packedShape<Policy, Layout>(problem, elements, byPeriods, block));
}

}  // namespace detail
GPUOPT_NAMESPACE_END
