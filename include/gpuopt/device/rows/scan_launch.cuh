/// \file
/// What scans of rows and columns check, and their launches.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/box.cuh>
#include <gpuopt/core/call_range.cuh>
#include <gpuopt/core/matrix_view.cuh>
#include <gpuopt/device/reduce/fold.cuh>
#include <gpuopt/device/rows/arguments.cuh>
#include <gpuopt/device/rows/scan_columns.cuh>
#include <gpuopt/device/rows/scan_plan.cuh>
#include <gpuopt/device/rows/scan_rows.cuh>
#include <gpuopt/device/rows/scan_short_columns.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/host/workspace.cuh>
#include <gpuopt/thread/operators.cuh>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// Elements of a 16-byte word of the larger type; fewer where a tile of their accumulators exceeds shared memory.
template <class In, class Out, class A>
constexpr unsigned scanItemsOf() {
  constexpr std::size_t LARGER = largerOf(sizeof(In), sizeof(Out));
  constexpr bool IS_POWER = isPowerOfTwo<sizeof(In)> && isPowerOfTwo<sizeof(Out)>;
  if (!IS_POWER || LARGER > 8) return 1;
  std::size_t items = 16 / LARGER;
  while (items > 1 && items * sizeof(A) > 64) items /= 2;
  return static_cast<unsigned>(items);
}

inline constexpr std::size_t maxScanBytes = 32;

template <class In, class Out, class A>
constexpr bool requireScannable() {
  constexpr bool ARE_COPYABLE = std::is_trivially_copyable_v<In> && std::is_trivially_copyable_v<Out>;
  static_assert(!std::is_const_v<Out>, "gpuopt: the elements of out are const: in comes before out");
  static_assert(ARE_COPYABLE, "gpuopt: only trivially copyable elements can be scanned");
  static_assert(sizeof(A) <= maxScanBytes, "gpuopt: the accumulator of a scan has at most 32 bytes");
  constexpr bool CONVERTS = std::is_constructible_v<A, const In&> && std::is_constructible_v<Out, const A&>;
  static_assert(CONVERTS, "gpuopt: elements of in must convert to the accumulator, and that to elements of out");
  return !std::is_const_v<Out> && ARE_COPYABLE && sizeof(A) <= maxScanBytes && CONVERTS;
}

// A matrix to scan the rows or the columns of.
template <bool ROWS, class T>
MatrixView<T> scanView(const MatrixView<T>& view, const char* name, const char* function) {
  if (!ROWS && view.batch > 1)
    throwInvalid({function, ": ", name, " is a batch of ", view.batch, " matrices; columns are those of one matrix"});
  return rowsOf(view, name, function);
}
template <bool ROWS, class M, class = std::enable_if_t<isMdspan<M>>>
auto scanView(const M& span, const char* name, const char* function) {
  return scanView<ROWS>(viewOf(span, name, function), name, function);
}

// The accumulator of such a scan.
template <class A, class Op, class In>
using ScanSum = Accumulator<A, Op, std::remove_const_t<MatrixElement<In>>>;

template <class In, class Out>
void requireScan(const MatrixView<In>& in, const MatrixView<Out>& out, const char* function) {
  requireRows(in, "in", function);
  requireRows(out, "out", function);
  requireSameShape(named(in, "in"), named(out, "out"), function);
  requireNoPartialOverlap(named(in, "in"), named(out, "out"), function);
}

// One matrix, with elements and operation in boxes if they need them.
template <class In, class Out, class A, class Op>
struct ScanProblem {
  const In* in;
  Out* out;
  ScanRequest request;
  Op op;
  ScanPrefix<A> start;
};

// The memory that the tiles of a launch use.
inline ScanChain chainOf(const ScanChainPlan& plan, const WorkspaceLease& scratch, unsigned slotValues) {
  ScanChain chain{nullptr,
                  nullptr,
                  nullptr,
                  scratch.counters() + workspaceCounters - 2,
                  plan.tiles,
                  plan.group,
                  plan.ring,
                  slotValues,
                  static_cast<unsigned>(plan.words()),
                  static_cast<unsigned>(plan.counters())};
  if (plan.isZeroedBefore) {
    chain.words = static_cast<MarkedWord*>(scratch.data());
    chain.arrivals = reinterpret_cast<unsigned*>(chain.words + chain.used);
  } else {
    chain.words = reinterpret_cast<MarkedWord*>(scratch.counters());
    chain.finished = scratch.counters() + workspaceCounters - 1;
  }
  return chain;
}

inline void zeroChain(const ScanChain& chain, cudaStream_t stream) {
  const std::size_t bytes = chain.used * sizeof(MarkedWord) + chain.counters * sizeof(unsigned);
  if (chain.finished == nullptr) check(cudaMemsetAsync(chain.words, 0, bytes, stream), "cudaMemsetAsync");
}

// Calls use(chain, first, strips) for each launch of tiles that share strips.
template <class Use>
void withChain(const ScanPlan& plan, unsigned slotValues, cudaStream_t stream, Workspace* workspace, const Use& use) {
  if (plan.chain.tiles == 1)
    return use(ScanChain{nullptr, nullptr, nullptr, nullptr, 1, 1, 1, slotValues, 0, 0}, std::size_t{0}, plan.strips);
  WorkspaceLease scratch(workspace, stream);
  const ScanChain chain = chainOf(plan.chain, scratch, slotValues);
  for (std::size_t first = 0; first < plan.strips; first += plan.chain.strips) {
    zeroChain(chain, stream);
    use(chain, first, smallerOf(plan.chain.strips, plan.strips - first));
  }
  scratch.done();
}

template <unsigned ITEMS, bool REVERSED, bool EXCLUSIVE, bool ONLY_SHORT, class Problem, class Args>
void launchScanRowsKernel(const ScanPlan& plan, const Problem& problem, Args args, LaunchConfig config,
                          Workspace* workspace) {
  constexpr int FEW = scanFewSteps, STEPS = scanRowsSteps;
  if (plan.algorithm == ScanAlgorithm::shortRows)
    return launch(plan.steps == 1 ? scanShortRowsKernel<ITEMS, 1, REVERSED, EXCLUSIVE, Args>
                                  : scanShortRowsKernel<ITEMS, FEW, REVERSED, EXCLUSIVE, Args>,
                  config, args);
  if constexpr (!ONLY_SHORT) {
    if (plan.algorithm == ScanAlgorithm::rows)
      return launch(plan.steps == FEW ? scanRowsKernel<ITEMS, FEW, REVERSED, EXCLUSIVE, Args>
                                      : scanRowsKernel<ITEMS, STEPS, REVERSED, EXCLUSIVE, Args>,
                    config, args);
    const auto kernel = plan.threads == scanRowsThreads
                            ? scanLongRowsKernel<scanRowsThreads, ITEMS, STEPS, REVERSED, EXCLUSIVE, Args>
                            : scanLongRowsKernel<scanLongRowsThreads, ITEMS, STEPS, REVERSED, EXCLUSIVE, Args>;
    withChain(plan, 1, config.stream, workspace, [&](const ScanChain& chain, std::size_t first, std::size_t strips) {
      args.chain = chain;
      args.in = problem.in + first * args.inLd;
      args.out = problem.out + first * args.outLd;
      config.grid.x = static_cast<unsigned>(strips * chain.tiles);
      launch(kernel, config, args);
    });
  }
}

// IN_ONE_ROW: one row in place, which is scanned by words unless it is short.
template <bool REVERSED, bool EXCLUSIVE, bool IN_ONE_ROW = false, class In, class Out, class A, class Op>
void launchScanRows(const ScanProblem<In, Out, A, Op>& problem, const char* function, cudaStream_t stream,
                    Workspace* workspace) {
  const ScanPlan plan = planScanRows(problem.request);
  if (plan.algorithm == ScanAlgorithm::nothing) return;
  const ScanRequest& r = problem.request;
  const ScanRowsArgs<In, Out, A, Op> args{problem.in, problem.out,   r.rows,         r.cols,     r.inLd, r.outLd,
                                          problem.op, problem.start, plan.isShifted, plan.lanes, {}};
  const LaunchConfig config = gridConfig(static_cast<int>(plan.threads), plan.blocks, stream, function);
  constexpr unsigned ITEMS = scanItemsOf<In, Out, A>();
  constexpr bool ONLY_SHORT = IN_ONE_ROW && ITEMS > 1;
  static_assert(!ONLY_SHORT || ScanTuning{}.shiftedWords * ITEMS <= 32 * scanFewSteps);
  if (plan.items == 1)
    launchScanRowsKernel<1, REVERSED, EXCLUSIVE, ONLY_SHORT>(plan, problem, args, config, workspace);
  else
    launchScanRowsKernel<ITEMS, REVERSED, EXCLUSIVE, false>(plan, problem, args, config, workspace);
}

// The arguments of a scan of columns whose words hold `items` elements.
template <class In, class Out, class A, class Op>
ScanColumnsArgs<In, Out, A, Op> scanColumnsArgs(const ScanProblem<In, Out, A, Op>& problem, unsigned items) {
  const ScanRequest& r = problem.request;
  const auto inLd = static_cast<std::ptrdiff_t>(r.inLd), outLd = static_cast<std::ptrdiff_t>(r.outLd);
  const std::size_t top = r.isReversed ? r.rows - 1 : 0;
  return {problem.in + top * r.inLd,
          problem.out + top * r.outLd,
          r.rows,
          r.cols,
          r.isReversed ? -inLd : inLd,
          r.isReversed ? -outLd : outLd,
          static_cast<std::ptrdiff_t>(r.in / r.inBytes % items),
          0,
          problem.op,
          problem.start,
          {}};
}

template <unsigned ITEMS, int LANES, bool EXCLUSIVE, class In, class Out, class A, class Op>
void launchScanColumnsKernel(const ScanPlan& plan, const ScanProblem<In, Out, A, Op>& problem, LaunchConfig config,
                             Workspace* workspace) {
  ScanColumnsArgs<In, Out, A, Op> args = scanColumnsArgs(problem, ITEMS);
  const std::ptrdiff_t shift = args.shift;
  constexpr ScanColumnsTile TILE = scanColumnsTile, SMALL = scanSmallColumnsTile;
  const auto kernel = plan.threads == TILE.threads
                          ? scanColumnsKernel<ITEMS, LANES, TILE.threads, TILE.rows, EXCLUSIVE, In, Out, A, Op>
                          : scanColumnsKernel<ITEMS, LANES, SMALL.threads, SMALL.rows, EXCLUSIVE, In, Out, A, Op>;
  withChain(plan, ITEMS * LANES, config.stream, workspace,
            [&](const ScanChain& chain, std::size_t first, std::size_t strips) {
              args.chain = chain;
              args.strips = static_cast<unsigned>(strips);
              args.shift = shift - static_cast<std::ptrdiff_t>(first * ITEMS * LANES);
              config.grid.x = args.strips * chain.tiles;
              launch(kernel, config, args);
            });
}

template <unsigned ITEMS, int LANES, bool EXCLUSIVE, class In, class Out, class A, class Op>
void launchScanShortColumns(const ScanPlan& plan, const ScanProblem<In, Out, A, Op>& problem,
                            const LaunchConfig& config) {
  constexpr ScanColumnsTile SHORT = scanShortColumns, TALL = scanTallColumns;
  const auto kernel = plan.threads == SHORT.threads
                          ? scanShortColumnsKernel<ITEMS, LANES, SHORT.threads, SHORT.rows, EXCLUSIVE, In, Out, A, Op>
                          : scanShortColumnsKernel<ITEMS, LANES, TALL.threads, TALL.rows, EXCLUSIVE, In, Out, A, Op>;
  launch(kernel, config, scanColumnsArgs(problem, ITEMS));
}

template <bool EXCLUSIVE, class In, class Out, class A, class Op>
void launchScanColumns(const ScanProblem<In, Out, A, Op>& problem, const char* function, cudaStream_t stream,
                       Workspace* workspace) {
  const ScanPlan plan = planScanColumns(problem.request);
  if (plan.algorithm == ScanAlgorithm::nothing) return;
  const LaunchConfig config = gridConfig(static_cast<int>(plan.threads), plan.blocks, stream, function);
  constexpr unsigned ITEMS = scanItemsOf<In, Out, A>();
  const bool isShort = plan.algorithm == ScanAlgorithm::shortColumns;
  if (isShort && plan.items == 1)
    launchScanShortColumns<1, scanShortColumnsScalarLanes, EXCLUSIVE>(plan, problem, config);
  else if (isShort)
    launchScanShortColumns<ITEMS, scanShortColumnsLanes, EXCLUSIVE>(plan, problem, config);
  else if (plan.items == 1)
    launchScanColumnsKernel<1, scanColumnsScalarLanes, EXCLUSIVE>(plan, problem, config, workspace);
  else
    launchScanColumnsKernel<ITEMS, scanColumnsLanes, EXCLUSIVE>(plan, problem, config, workspace);
}

template <class A, class In, class Out>
ScanRequest scanRequest(const MatrixView<In>& in, const MatrixView<Out>& out, bool isReversed) {
  return {reinterpret_cast<std::uintptr_t>(in.data),
          reinterpret_cast<std::uintptr_t>(out.data),
          in.rows,
          in.cols,
          in.ld,
          out.ld,
          sizeof(In),
          sizeof(Out),
          sizeof(A),
          scanItemsOf<In, Out, A>(),
          isReversed,
          static_cast<unsigned>(multiprocessorCount(currentDevice()))};
}

template <bool ROWS, bool REVERSED, bool EXCLUSIVE, class A, class In, class Out, class Op>
void scanViews(const char* function, const MatrixView<In>& in, const MatrixView<Out>& out, const Op& op,
               const ScanPrefix<A>& start, cudaStream_t stream, Workspace* workspace) {
  requireScan(in, out, function);
  const ScanProblem<Boxed<std::remove_const_t<In>>, Boxed<Out>, A, Op> problem{
      boxes(in.data), boxes(out.data), scanRequest<A>(in, out, REVERSED), op, start};
  if constexpr (ROWS)
    launchScanRows<REVERSED, EXCLUSIVE>(problem, function, stream, workspace);
  else
    launchScanColumns<EXCLUSIVE>(problem, function, stream, workspace);
}

// What the callers pass as operation and init, made into what kernels take.
template <bool ROWS, bool REVERSED, bool EXCLUSIVE, class A, class In, class Out, class Op, class... Init>
void scanWith(const char* function, const In& in, const Out& out, cudaStream_t stream, Workspace* workspace,
              const Op& op, const Init&... init) {
  [[maybe_unused]] const CallRange range(function);
  using Sum = ScanSum<A, Op, In>;
  if constexpr (requireScannable<std::remove_const_t<MatrixElement<In>>, MatrixElement<Out>, Sum>()) {
    const auto fold = foldOf<Sum>(op, init...);
    if constexpr (std::is_same_v<std::decay_t<decltype(fold)>, Fold<Boxed<Sum>, BoxedOperation<Sum, Op>>>) {
      const auto from = scanView<ROWS>(in, "in", function);
      const auto to = scanView<ROWS>(out, "out", function);
      scanViews<ROWS, REVERSED, EXCLUSIVE>(function, from, to, fold.op,
                                           ScanPrefix<Boxed<Sum>>{fold.init.value, fold.init.valid}, stream, workspace);
    }
  }
}

// Each of n numbers becomes the sum of those before it.
template <class T>
void scanInPlace(const char* function, T* numbers, std::size_t n, cudaStream_t stream) {
  const MatrixView<T> row{numbers, 1, n};
  const ScanProblem<T, T, T, Plus> problem{numbers, numbers, scanRequest<T>(row, row, false), Plus{}, {0, true}};
  launchScanRows<false, true, true>(problem, function, stream, nullptr);
}

// Addresses alone are looked at.
template <bool ROWS, bool REVERSED, class A, class Op, class In, class Out>
std::string explainScan(const char* function, const In& in, const Out& out) {
  const auto from = scanView<ROWS>(in, "in", function);
  const auto to = scanView<ROWS>(out, "out", function);
  requireScan(from, to, function);
  const ScanRequest request = scanRequest<ScanSum<A, Op, In>>(from, to, REVERSED);
  return planInWords(ROWS ? planScanRows(request) : planScanColumns(request));
}

GPUOPT_DETAIL_END
