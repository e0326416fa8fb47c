/// \file
/// The kernel of gatherRows and scatterRows.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/box.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/device/rows/gather_plan.cuh>
#include <gpuopt/device/rows/gather_shifted.cuh>
#include <gpuopt/device/rows/indices.cuh>
#include <gpuopt/device/rows/tuning.cuh>
#include <gpuopt/device/rows/vectors.cuh>
#include <gpuopt/device/structs/gather.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/host/launch.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// Applies a function to the N elements of a pack.
template <class In, class Out, unsigned N, class F>
struct OnPacks {
  F f;

  __device__ Pack<Out, N> operator()(const Pack<In, N>& pack) const {
    In in[N];
    Out out[N];
    __builtin_memcpy(in, &pack, sizeof(in));
#pragma unroll
    for (unsigned i = 0; i < N; ++i) out[i] = f(in[i]);
    Pack<Out, N> result;
    __builtin_memcpy(static_cast<void*>(&result), out, sizeof(out));
    return result;
  }
};

template <class In, class Out, class Index, class F>
struct MoveRowsArgs {
  const In* in;
  Out* out;
  const Index* indices;
  PackedRows shape;
  std::size_t inLd;
  std::size_t outLd;
  F function;
};

// Moves elements of rows: neighbouring lanes move neighbours, whatever the length of the rows.
template <class In, class Out, unsigned LOADS, Indexed SIDE, RowIndices INDICES, class Index, class F>
GPUOPT_KERNEL void __launch_bounds__(moveRowsBlock, moveRowsBlocksPerSm(LOADS))
    moveRowsKernel(const MoveRowsArgs<In, Out, Index, F> args) {
  waitForPreviousKernel();
  constexpr unsigned TILE = moveRowsBlock * LOADS;
  const std::size_t begin = blockIdx.x * std::size_t{TILE};
  const std::size_t firstRow = args.shape.rowOf(begin);
  const std::size_t skipped = begin - firstRow * args.shape.cols;

  const In* from[LOADS];
  Out* to[LOADS];
#pragma unroll
  for (unsigned k = 0; k < LOADS; ++k) {
    const std::size_t element = skipped + k * moveRowsBlock + threadIdx.x;
    const std::size_t next = args.shape.nearRowOf(element, TILE);
    const std::size_t col = element - next * args.shape.cols, row = firstRow + next;
    const bool exists = row < args.shape.rows;
    const Index index = args.indices[exists ? row : 0];
    const bool isPadding = INDICES == RowIndices::padded && isNegative(index);
    const std::size_t inRow = SIDE == Indexed::in ? static_cast<std::size_t>(index) : row;
    const std::size_t outRow = SIDE == Indexed::out ? static_cast<std::size_t>(index) : row;
    from[k] = exists && !isPadding ? args.in + (inRow * args.inLd + col) : nullptr;
    to[k] = exists && (SIDE == Indexed::in || !isPadding) ? args.out + (outRow * args.outLd + col) : nullptr;
  }
  In values[LOADS];
#pragma unroll
  for (unsigned k = 0; k < LOADS; ++k) values[k] = from[k] != nullptr ? *from[k] : In{};
#pragma unroll
  for (unsigned k = 0; k < LOADS; ++k)
    if (to[k] != nullptr)
      *to[k] = INDICES == RowIndices::padded && from[k] == nullptr ? Out{} : args.function(values[k]);
}

// What to launch, besides types.
struct MoveRowsCall {
  MoveRowsPlan plan;
  const char* function;
  cudaStream_t stream;
};

template <class In, class Out, Indexed SIDE, RowIndices INDICES, class Index, class F>
void launchMoveRowsPacks(const MoveRowsCall& call, const Index* indices, const F& function) {
  constexpr unsigned LOADS = moveRowsLoads(largerOf(sizeof(In), sizeof(Out)));
  const MoveRowsPlan& plan = call.plan;
  const MoveRowsArgs<In, Out, Index, F> args{reinterpret_cast<const In*>(plan.request.in),
                                             reinterpret_cast<Out*>(plan.request.out),
                                             indices,
                                             PackedRows(plan.request.n, plan.cols),
                                             plan.inLd,
                                             plan.outLd,
                                             function};
  const LaunchConfig config = gridConfig(moveRowsBlock, plan.blocks, call.stream, call.function);
  if (plan.loads == moveFewRowsLoads)
    launch(moveRowsKernel<In, Out, moveFewRowsLoads, SIDE, INDICES, Index, F>, config, args);
  else
    launch(moveRowsKernel<In, Out, LOADS, SIDE, INDICES, Index, F>, config, args);
}

template <std::size_t WORD, Indexed SIDE, RowIndices INDICES, class Index>
void launchMoveShiftedRows(const MoveRowsCall& call, const Index* indices) {
  const MoveRowsPlan& plan = call.plan;
  const std::size_t rowBytes = plan.cols * WORD;
  const ShiftedRowsArgs<Index> args{reinterpret_cast<const unsigned char*>(plan.request.in),
                                    reinterpret_cast<unsigned char*>(plan.request.out),
                                    indices,
                                    PackedRows(plan.request.n, vectorsOfShiftedRow(rowBytes)),
                                    rowBytes,
                                    plan.inLd * WORD,
                                    plan.outLd * WORD};
  const LaunchConfig config = gridConfig(moveRowsBlock, plan.blocks, call.stream, call.function);
  if (plan.loads == moveFewRowsLoads)
    launch(moveShiftedRowsKernel<WORD, moveFewRowsLoads, SIDE, INDICES, Index>, config, args);
  else
    launch(moveShiftedRowsKernel<WORD, shiftedRowsLoads, SIDE, INDICES, Index>, config, args);
}

template <std::size_t BYTES, Indexed SIDE, RowIndices INDICES, class Index>
void launchMoveRowsWords(const MoveRowsCall& call, const Index* indices) {
  if (call.plan.algorithm == MoveRowsAlgorithm::shifted)
    launchMoveShiftedRows<BYTES, SIDE, INDICES>(call, indices);
  else
    launchMoveRowsPacks<Word<BYTES>, Word<BYTES>, SIDE, INDICES>(call, indices, Identity{});
}

// Elements that only move do so as the plan's words, which have at least their alignment.
template <class In, class Out, Indexed SIDE, RowIndices INDICES, class Index, class F>
void launchMoveRows(const MoveRowsCall& call, const Index* indices, const F& function) {
  constexpr unsigned WIDE = widePack(sizeof(In), sizeof(Out));
  using ToOut = OnBoxes<F, Out>;
  if (call.plan.algorithm == MoveRowsAlgorithm::nothing) return;
  if constexpr (std::is_same_v<F, Identity> && std::is_same_v<In, Out>) {
    withWordBytes<minAlignment<In>>(call.plan.inBytes, [&](auto bytes) {
      launchMoveRowsWords<decltype(bytes)::value, SIDE, INDICES>(call, indices);
    });
  } else if (call.plan.elements == WIDE) {
    const OnPacks<Boxed<In>, Boxed<Out>, WIDE, ToOut> onPacks{{function}};
    launchMoveRowsPacks<Pack<Boxed<In>, WIDE>, Pack<Boxed<Out>, WIDE>, SIDE, INDICES>(call, indices, onPacks);
  } else {
    launchMoveRowsPacks<Boxed<In>, Boxed<Out>, SIDE, INDICES>(call, indices, ToOut{function});
  }
}

GPUOPT_DETAIL_END
