/// \file
/// The kernels that scan rows: several lanes a row, a block a row, several blocks a row.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/scan.cuh>
#include <gpuopt/device/rows/scan_chain.cuh>
#include <gpuopt/device/rows/scan_items.cuh>
#include <gpuopt/device/rows/scan_tuning.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/warp/scan.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

template <class FromType, class ToType, class AccumulatorType, class Op>
struct ScanRowsArgs {
  using In = FromType;
  using Out = ToType;
  using A = AccumulatorType;
  const In* in;
  Out* out;
  std::size_t rows, cols, inLd, outLd;
  Op op;
  ScanPrefix<A> start;
  bool isShifted;
  unsigned lanes;   // of a row
  ScanChain chain;  // where several blocks share a row

  template <int ITEMS, bool REVERSED>
  __device__ auto row(std::size_t r) const {
    return ScanRow<ITEMS, REVERSED, A, In, Out>(in + r * inLd, out + r * outLd, cols, isShifted);
  }
};

// STEPS words of each of `lanes` neighbouring lanes: step after step, and in each of them lane after lane.
template <int ITEMS, int STEPS, class A, class In>
struct ScanSteps {
  ScanItems<In, ITEMS> items[STEPS];
  A before[STEPS];  // this lane in the step; without meaning in lane 0
  A totals[STEPS];

  template <class Row>
  __device__ void load(const Row& row, std::size_t firstWord, int lanes) {
    const int lane = laneIndex() & (lanes - 1);
#pragma unroll
    for (int s = 0; s < STEPS; ++s) row.load(items[s], firstWord + static_cast<unsigned>(s * lanes + lane));
  }

  template <class Op>
  __device__ void scanTotals(Op op, int lanes) {
#pragma unroll
    for (int s = 0; s < STEPS; ++s) {
      const A upTo = scanLanes(foldItems<A>(items[s], op), op, lanes);
      before[s] = shuffleUp(upTo, 1, lanes);
      totals[s] = shuffleFrom(upTo, lanes - 1, lanes);
    }
  }

  template <class Op>
  __device__ A total(Op op) const {
    A sum = totals[0];
#pragma unroll
    for (int s = 1; s < STEPS; ++s) sum = static_cast<A>(op(sum, totals[s]));
    return sum;
  }

  template <bool EXCLUSIVE, class Out, class Row, class Op>
  __device__ void store(const Row& row, std::size_t firstWord, int lanes, ScanPrefix<A> prefix, Op op) const {
    const int lane = laneIndex() & (lanes - 1);
#pragma unroll
    for (int s = 0; s < STEPS; ++s) {
      ScanPrefix<A> own = prefix;
      if (lane > 0) own.append(before[s], op);
      auto results = scanItems<EXCLUSIVE, Out>(items[s], own, op);
      row.store(results, firstWord + static_cast<unsigned>(s * lanes + lane));
      prefix.append(totals[s], op);
    }
  }
};

template <int ITEMS, int STEPS, bool REVERSED, bool EXCLUSIVE, class Args>
GPUOPT_KERNEL void __launch_bounds__(scanRowsThreads) scanShortRowsKernel(const Args args) {
  using In = typename Args::In;
  using Out = typename Args::Out;
  using A = typename Args::A;
  waitForPreviousKernel();
  const int lanes = static_cast<int>(args.lanes);
  const std::size_t number = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / args.lanes;
  // Lanes beyond the last row read it, too, which its own warp may overwrite: other warps leave.
  if (number - threadIdx.x % 32 / args.lanes >= args.rows) return;
  const bool exists = number < args.rows;
  const auto row = args.template row<ITEMS, REVERSED>(exists ? number : args.rows - 1);
  ScanSteps<ITEMS, STEPS, A, In> steps;
  steps.load(row, 0, lanes);
  ScanPrefix<A> prefix = args.start;
  row.appendHead(prefix, args.op);
  steps.scanTotals(args.op, lanes);
  __syncwarp();
  if (!exists) return;
  if ((laneIndex() & (lanes - 1)) == 0) row.template storeHead<EXCLUSIVE>(args.start, args.op);
  steps.template store<EXCLUSIVE, Out>(row, 0, lanes, prefix, args.op);
}

// Totals of warps in shared memory.
template <class A, int WARPS>
struct alignas(16) ScanTotals {
  alignas(A) unsigned char bytes[WARPS * sizeof(A)];
  __device__ A* values() { return reinterpret_cast<A*>(bytes); }
};

template <int ITEMS, int STEPS, bool REVERSED, bool EXCLUSIVE, class Args>
GPUOPT_KERNEL void __launch_bounds__(scanRowsThreads) scanRowsKernel(const Args args) {
  using In = typename Args::In;
  using Out = typename Args::Out;
  using A = typename Args::A;
  __shared__ ScanTotals<A, scanRowsThreads / 32> shared[2];
  waitForPreviousKernel();
  const auto row = args.template row<ITEMS, REVERSED>(blockIdx.x);
  const int warp = static_cast<int>(threadIdx.x / 32), warps = static_cast<int>(blockDim.x / 32);
  const std::size_t words = (args.cols - row.head + ITEMS - 1) / ITEMS;
  ScanPrefix<A> prefix = args.start;
  row.appendHead(prefix, args.op);
  unsigned turn = 0;
  for (std::size_t tile = 0; tile < words || tile == 0; tile += blockDim.x * STEPS, turn ^= 1) {
    const std::size_t first = tile + static_cast<unsigned>(warp * 32 * STEPS);
    ScanSteps<ITEMS, STEPS, A, In> steps;
    steps.load(row, first, 32);
    steps.scanTotals(args.op, 32);
    A* const totals = shared[turn].values();
    if (threadIdx.x % 32 == 0) totals[warp] = steps.total(args.op);
    __syncthreads();
    if (tile == 0 && threadIdx.x == 0) row.template storeHead<EXCLUSIVE>(args.start, args.op);
    const WarpPrefix<A> upTo = prefixOfWarps(totals, warp, warps, args.op);
    ScanPrefix<A> own = prefix;
    if (warp > 0) own.append(upTo.before, args.op);
    steps.template store<EXCLUSIVE, Out>(row, first, 32, own, args.op);
    prefix.append(upTo.total, args.op);
  }
}

// One warp: what is before a tile whose row begins with `start`. Every lane gets it.
template <class A, class Op>
__device__ inline ScanPrefix<A> collectRowPrefix(const ScanLink<A>& link, const ScanPrefix<A>& start, Op op) {
  const auto lane = threadIdx.x % 32;
  const unsigned first = link.hasGroupBefore() || start.exists ? 1 : 0;
  const unsigned count = first + link.place();
  A value = start.value;
  if (lane == 0 && link.hasGroupBefore()) value = link.before(0);
  if (lane >= first && lane < count) {
    A total[1];
    link.totals(total, lane - first, 1, 0);
    value = total[0];
  }
  __syncwarp();
  const A sum = shuffleFrom(scanLanes(value, op, 32), count > 0 ? static_cast<int>(count) - 1 : 0);
  return {sum, count > 0};
}

template <int THREADS, int ITEMS, int STEPS, bool REVERSED, bool EXCLUSIVE, class Args>
GPUOPT_KERNEL void __launch_bounds__(THREADS) scanLongRowsKernel(const Args args) {
  using In = typename Args::In;
  using Out = typename Args::Out;
  using A = typename Args::A;
  constexpr int WARPS = THREADS / 32;
  __shared__ ScanTotals<A, WARPS> shared;
  __shared__ ScanTotals<A, 1> sharedPrefix;
  waitForPreviousKernel();
  const unsigned number = scanTileNumber(args.chain);
  const unsigned strip = number / args.chain.tiles, tile = number % args.chain.tiles;
  const auto row = args.template row<ITEMS, REVERSED>(strip);
  const ScanLink<A> link(args.chain, strip, tile);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const std::size_t first = (std::size_t{tile} * WARPS + threadIdx.x / 32) * 32 * STEPS;
  ScanSteps<ITEMS, STEPS, A, In> steps;
  steps.load(row, first, 32);
  ScanPrefix<A> head{args.start.value, false}, prefix = args.start;
  if (tile == 0) {
    row.appendHead(head, args.op);
    row.appendHead(prefix, args.op);
  }
  steps.scanTotals(args.op, 32);
  if (threadIdx.x % 32 == 0) shared.values()[warp] = steps.total(args.op);
  __syncthreads();
  const WarpPrefix<A> upTo = prefixOfWarps(shared.values(), warp, WARPS, args.op);
  bool isLast = false;
  if (warp == 0) {
    ScanPrefix<A> total = head;
    total.append(upTo.total, args.op);
    if (threadIdx.x == 0) link.publishTotal(0, total.value);
    if (tile > 0) prefix = collectRowPrefix(link, args.start, args.op);
    if (threadIdx.x == 0) {
      ScanPrefix<A> after = prefix;
      after.append(upTo.total, args.op);
      link.publishPrefix(0, after.value);
      if (tile > 0) *sharedPrefix.values() = prefix.value;
      isLast = link.arrive();
    }
  }
  __syncthreads();
  if (tile > 0) prefix = {*sharedPrefix.values(), true};
  if (tile == 0 && threadIdx.x == 0) row.template storeHead<EXCLUSIVE>(args.start, args.op);
  ScanPrefix<A> own = prefix;
  if (warp > 0) own.append(upTo.before, args.op);
  steps.template store<EXCLUSIVE, Out>(row, first, 32, own, args.op);
  if (warp == 0 && __any_sync(fullMask, isLast) != 0) link.reset();
}

GPUOPT_DETAIL_END
