/// \file
/// What scans of rows and columns check, and their launches.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/box.cuh>
#include <gpuopt/core/matrix_view.cuh>
#include <gpuopt/device/reduce/fold.cuh>
#include <gpuopt/device/rows/scan_columns.cuh>
#include <gpuopt/device/rows/scan_plan.cuh>
#include <gpuopt/device/rows/scan_rows.cuh>
#include <gpuopt/device/transpose/arguments.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/host/workspace.cuh>

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

inline constexpr std::size_t mostScanBytes = 32;

template <class In, class Out, class A>
constexpr bool requireScannable() {
  constexpr bool ARE_COPYABLE = std::is_trivially_copyable_v<In> && std::is_trivially_copyable_v<Out>;
  static_assert(!std::is_const_v<Out>, "gpuopt: the elements of out are const: in comes before out");
  static_assert(ARE_COPYABLE, "gpuopt: only trivially copyable elements can be scanned");
  static_assert(sizeof(A) <= mostScanBytes, "gpuopt: the accumulator of a scan has at most 32 bytes");
  constexpr bool CONVERTS = std::is_constructible_v<A, const In&> && std::is_constructible_v<Out, const A&>;
  static_assert(CONVERTS, "gpuopt: elements of in must convert to the accumulator, and that to elements of out");
  return !std::is_const_v<Out> && ARE_COPYABLE && sizeof(A) <= mostScanBytes && CONVERTS;
}

inline void requireSameShape(const NamedView& in, const NamedView& out, const char* function) {
  requireSizes(in, function);
  requireSizes(out, function);
  if (in.rows != out.rows || in.cols != out.cols || in.batch != out.batch)
    throwInvalid({function, ": in is ", shapeOf(in), ", but out is ", shapeOf(out)});
}

// In place means the same elements at the same places.
inline bool isInPlace(const NamedView& in, const NamedView& out) {
  return in.data == out.data && in.elementBytes == out.elementBytes && (in.rows == 1 || in.ld == out.ld) &&
         (in.batch == 1 || in.batchStride == out.batchStride);
}

inline void requireScan(const NamedView& in, const NamedView& out, const char* function) {
  requireSameShape(in, out, function);
  if (isEmpty(in)) return;
  requireLayout(in, function);
  requireLayout(out, function);
  requireApart(out, function);
  if (!isInPlace(in, out) && viewsOverlap(in, out))
    throwInvalid({function, ": in and out overlap: ", overlapOf(in, out)});
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

// The counters that the tiles of a launch use.
inline ScanChain chainOf(const ScanChainPlan& plan, unsigned* counters, unsigned slotValues) {
  unsigned* const arrivals = counters + 2 * scanWords;
  return {reinterpret_cast<MarkedWord*>(counters),
          arrivals,
          arrivals + scanArrivals - 1,
          plan.tiles,
          plan.group,
          plan.ring,
          slotValues,
          static_cast<unsigned>(plan.words()),
          static_cast<unsigned>(plan.counters())};
}

template <class Use>
void withChain(const ScanPlan& plan, unsigned slotValues, cudaStream_t stream, Workspace* workspace, const Use& use) {
  if (plan.chain.tiles == 1) return use(ScanChain{nullptr, nullptr, nullptr, 1, 1, 1, slotValues, 0, 0});
  WorkspaceLease scratch(workspace, stream);
  use(chainOf(plan.chain, scratch.counters(), slotValues));
  scratch.done();
}

template <unsigned ITEMS, bool REVERSED, bool EXCLUSIVE, class Problem, class Args>
void launchScanRowsKernel(const ScanPlan& plan, const Problem& problem, Args args, LaunchConfig config,
                          Workspace* workspace) {
  constexpr int STEPS = scanRowsSteps;
  if (plan.algorithm == ScanAlgorithm::shortRows && plan.steps == 1)
    return launch(scanShortRowsKernel<ITEMS, 1, REVERSED, EXCLUSIVE, Args>, config, args);
  if (plan.algorithm == ScanAlgorithm::shortRows)
    return launch(scanShortRowsKernel<ITEMS, STEPS, REVERSED, EXCLUSIVE, Args>, config, args);
  if (plan.algorithm == ScanAlgorithm::rows)
    return launch(scanRowsKernel<ITEMS, STEPS, REVERSED, EXCLUSIVE, Args>, config, args);
  const auto kernel = plan.threads == scanRowsThreads
                          ? scanLongRowsKernel<scanRowsThreads, ITEMS, STEPS, REVERSED, EXCLUSIVE, Args>
                          : scanLongRowsKernel<scanLongRowsThreads, ITEMS, STEPS, REVERSED, EXCLUSIVE, Args>;
  withChain(plan, 1, config.stream, workspace, [&](const ScanChain& chain) {
    args.chain = chain;
    for (std::size_t first = 0; first < plan.strips; first += plan.chain.strips) {
      args.in = problem.in + first * args.inLd;
      args.out = problem.out + first * args.outLd;
      config.grid.x = static_cast<unsigned>(smallerOf(plan.chain.strips, plan.strips - first) * plan.chain.tiles);
      launch(kernel, config, args);
    }
  });
}

template <bool REVERSED, bool EXCLUSIVE, class In, class Out, class A, class Op>
void launchScanRows(const ScanProblem<In, Out, A, Op>& problem, const char* function, cudaStream_t stream,
                    Workspace* workspace) {
  const ScanPlan plan = planScanRows(problem.request);
  if (plan.algorithm == ScanAlgorithm::nothing) return;
  const ScanRequest& r = problem.request;
  const ScanRowsArgs<In, Out, A, Op> args{problem.in, problem.out,   r.rows,         r.cols,     r.inLd, r.outLd,
                                          problem.op, problem.start, plan.isShifted, plan.lanes, {}};
  const LaunchConfig config = gridConfig(static_cast<int>(plan.threads), plan.blocks, stream, function);
  constexpr unsigned ITEMS = scanItemsOf<In, Out, A>();
  if (plan.items == 1)
    launchScanRowsKernel<1, REVERSED, EXCLUSIVE>(plan, problem, args, config, workspace);
  else
    launchScanRowsKernel<ITEMS, REVERSED, EXCLUSIVE>(plan, problem, args, config, workspace);
}

template <unsigned ITEMS, int LANES, bool EXCLUSIVE, class In, class Out, class A, class Op>
void launchScanColumnsKernel(const ScanPlan& plan, const ScanProblem<In, Out, A, Op>& problem, LaunchConfig config,
                             Workspace* workspace) {
  const ScanRequest& r = problem.request;
  const auto inLd = static_cast<std::ptrdiff_t>(r.inLd), outLd = static_cast<std::ptrdiff_t>(r.outLd);
  const std::size_t top = r.isReversed ? r.rows - 1 : 0;
  ScanColumnsArgs<In, Out, A, Op> args{problem.in + top * r.inLd,
                                       problem.out + top * r.outLd,
                                       r.rows,
                                       r.cols,
                                       r.isReversed ? -inLd : inLd,
                                       r.isReversed ? -outLd : outLd,
                                       static_cast<std::ptrdiff_t>(r.in / r.inBytes % ITEMS),
                                       0,
                                       problem.op,
                                       problem.start,
                                       {}};
  const std::ptrdiff_t shift = args.shift;
  withChain(plan, ITEMS * LANES, config.stream, workspace, [&](const ScanChain& chain) {
    args.chain = chain;
    for (std::size_t first = 0; first < plan.strips; first += plan.chain.strips) {
      args.strips = static_cast<unsigned>(smallerOf(plan.chain.strips, plan.strips - first));
      args.shift = shift - static_cast<std::ptrdiff_t>(first * ITEMS * LANES);
      config.grid.x = args.strips * plan.chain.tiles;
      launch(scanColumnsKernel<ITEMS, LANES, scanColumnsThreads, scanColumnsRows, EXCLUSIVE, In, Out, A, Op>, config,
             args);
    }
  });
}

template <bool EXCLUSIVE, class In, class Out, class A, class Op>
void launchScanColumns(const ScanProblem<In, Out, A, Op>& problem, const char* function, cudaStream_t stream,
                       Workspace* workspace) {
  const ScanPlan plan = planScanColumns(problem.request);
  if (plan.algorithm == ScanAlgorithm::nothing) return;
  const LaunchConfig config = gridConfig(static_cast<int>(plan.threads), plan.blocks, stream, function);
  if (plan.items == 1)
    launchScanColumnsKernel<1, scanColumnsScalarLanes, EXCLUSIVE>(plan, problem, config, workspace);
  else
    launchScanColumnsKernel<scanItemsOf<In, Out, A>(), scanColumnsLanes, EXCLUSIVE>(plan, problem, config, workspace);
}

template <class A, class In, class Out>
ScanRequest scanRequest(const MatrixView<In>& in, const MatrixView<Out>& out, bool isReversed) {
  const auto from = withoutUnused(in);
  const auto to = withoutUnused(out);
  return {reinterpret_cast<std::uintptr_t>(from.data),
          reinterpret_cast<std::uintptr_t>(to.data),
          from.rows,
          from.cols,
          from.ld,
          to.ld,
          sizeof(In),
          sizeof(Out),
          sizeof(A),
          scanItemsOf<In, Out, A>(),
          isReversed,
          static_cast<unsigned>(multiprocessorCount(currentDevice()))};
}

// The rows of matrices without gaps between them are those of one matrix.
template <class T>
MatrixView<T> joined(MatrixView<T> view) {
  view.rows *= view.batch;
  view.batch = 1;
  return view;
}

// Scans each matrix of a batch.
template <bool ROWS, bool REVERSED, bool EXCLUSIVE, class A, class In, class Out, class Op>
void scanViews(const char* function, MatrixView<In> in, MatrixView<Out> out, const Op& op, const ScanPrefix<A>& start,
               cudaStream_t stream, Workspace* workspace) {
  using From = Boxed<std::remove_const_t<In>>;
  using To = Boxed<Out>;
  requireScan(named(in, "in"), named(out, "out"), function);
  if (isEmpty(in)) return;
  requireOnDevice(named(in, "in"), function);
  requireOnDevice(named(out, "out"), function);
  const auto isDense = [](const auto& view) { return view.batchStride == view.rows * view.ld; };
  if (ROWS && isDense(in) && isDense(out)) {
    in = joined(in);
    out = joined(out);
  }
  for (std::size_t b = 0; b < in.batch; ++b) {
    MatrixView<In> from{in.data + b * in.batchStride, in.rows, in.cols, in.ld};
    MatrixView<Out> to{out.data + b * out.batchStride, out.rows, out.cols, out.ld};
    const ScanProblem<From, To, A, Op> problem{boxes(from.data), boxes(to.data), scanRequest<A>(from, to, REVERSED), op,
                                               start};
    if constexpr (ROWS)
      launchScanRows<REVERSED, EXCLUSIVE>(problem, function, stream, workspace);
    else
      launchScanColumns<EXCLUSIVE>(problem, function, stream, workspace);
  }
}

// What the callers pass as operation and init, made into what kernels take.
template <bool ROWS, bool REVERSED, bool EXCLUSIVE, class A, class In, class Out, class Op, class... Init>
void scanWith(const char* function, const MatrixView<In>& in, const MatrixView<Out>& out, cudaStream_t stream,
              Workspace* workspace, const Op& op, const Init&... init) {
  if constexpr (requireScannable<std::remove_const_t<In>, Out, A>()) {
    const auto fold = foldOf<A>(op, init...);
    if constexpr (std::is_same_v<std::decay_t<decltype(fold)>, Fold<Boxed<A>, BoxedOperation<A, Op>>>)
      scanViews<ROWS, REVERSED, EXCLUSIVE>(function, in, out, fold.op,
                                           ScanPrefix<Boxed<A>>{fold.init.value, fold.init.valid}, stream, workspace);
  }
}

// Of the first matrix of a batch. Addresses alone are looked at.
template <bool ROWS, bool REVERSED, class A, class In, class Out>
std::string explainScan(const char* function, const MatrixView<In>& in, const MatrixView<Out>& out) {
  requireScan(named(in, "in"), named(out, "out"), function);
  if (isEmpty(in)) return planInWords(ScanPlan{});
  const ScanRequest request = scanRequest<A>(in, out, REVERSED);
  return planInWords(ROWS ? planScanRows(request) : planScanColumns(request));
}

GPUOPT_DETAIL_END
