/// \file
/// The kernel that scans short columns: a block takes all rows of a few of them, so that no block waits for another
/// one.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/rows/scan_columns.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Threads of a block: LANES along a row, and SEGMENTS below each other, of which each lane of a warp scans some. The
// totals of a column are neighbours in shared memory, with gaps against bank conflicts.
template <int ITEMS, int LANES, int THREADS>
struct ScanColumnStrip {
  static constexpr int COLS = ITEMS * LANES;
  static constexpr int SEGMENTS = THREADS / LANES;
  static constexpr int OF_LANE = SEGMENTS / 32;
  static constexpr int PITCH = SEGMENTS + 32 + 5;
  static_assert(OF_LANE >= 1);

  __device__ static constexpr int slot(int column, int segment) { return column * PITCH + segment + segment / OF_LANE; }
};

// Makes the totals of a column's segments what is before each of them; of the first one, whose value has no meaning,
// nothing is. A warp calls.
template <class Strip, class A, class Op>
__device__ inline void scanStripSegments(A* totals, int column, Op op) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  A* const own = totals + Strip::slot(column, lane * Strip::OF_LANE);
  A sum = own[0];
#pragma unroll
  for (int s = 1; s < Strip::OF_LANE; ++s) sum = static_cast<A>(op(sum, own[s]));
  ScanPrefix<A> before{shuffleUp(scanLanes(sum, op, 32), 1), lane > 0};
#pragma unroll
  for (int s = 0; s < Strip::OF_LANE; ++s) {
    const A next = own[s];
    own[s] = before.value;
    before.append(next, op);
  }
}

template <int ITEMS, int LANES, int THREADS, int ROWS, bool EXCLUSIVE, class In, class Out, class A, class Op>
GPUOPT_KERNEL void __launch_bounds__(THREADS) scanShortColumnsKernel(const ScanColumnsArgs<In, Out, A, Op> args) {
  using Strip = ScanColumnStrip<ITEMS, LANES, THREADS>;
  alignas(16) alignas(A) __shared__ unsigned char sharedTotals[Strip::COLS * Strip::PITCH * sizeof(A)];
  A* const totals = reinterpret_cast<A*>(sharedTotals);
  waitForPreviousKernel();
  const int lane = static_cast<int>(threadIdx.x % LANES), segment = static_cast<int>(threadIdx.x / LANES);
  const auto column = static_cast<std::ptrdiff_t>(std::size_t{blockIdx.x} * Strip::COLS) + lane * ITEMS - args.shift;
  const ScanColumnWord<ITEMS, In, Out> word{column, static_cast<std::ptrdiff_t>(args.cols)};
  const std::size_t row = static_cast<std::size_t>(segment) * ROWS;
  ScanItems<In, ITEMS> items[ROWS];
  loadColumnRows<A>(args, word, row, items);
#pragma unroll
  for (int i = 0; i < ITEMS; ++i)
    totals[Strip::slot(lane * ITEMS + i, segment)] = foldColumnRows<A>(args, row, items, i);
  __syncthreads();
  for (int c = static_cast<int>(threadIdx.x / 32); c < Strip::COLS; c += THREADS / 32)
    scanStripSegments<Strip>(totals, c, args.op);
  __syncthreads();
  ScanPrefix<A> before[ITEMS];
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    before[i] = args.start;
    if (segment > 0) before[i].append(totals[Strip::slot(lane * ITEMS + i, segment)], args.op);
  }
  storeColumnRows<EXCLUSIVE>(args, word, row, items, before);
}

GPUOPT_DETAIL_END
