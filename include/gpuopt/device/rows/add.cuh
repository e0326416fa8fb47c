/// \file
/// The kernel of addRows by atomics, and the launches of both forms.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/rows/add_plan.cuh>
#include <gpuopt/device/rows/combine.cuh>
#include <gpuopt/device/rows/group.cuh>
#include <gpuopt/device/rows/scan_launch.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/host/memory.cuh>
#include <gpuopt/thread/atomic_add.cuh>
#include <gpuopt/thread/operators.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// What to launch, besides types.
struct AddRowsCall {
  AddRowsRequest request;
  AddRowsPlan plan;
  const char* function;
  cudaStream_t stream;
};

// Packs of N elements.
template <class In, class Out, unsigned N, class Index>
struct AddRowsArgs {
  const Pack<In, N>* in;
  Pack<Out, N>* out;
  const Index* indices;
  PackedRows shape;  // of in
  std::size_t inLd;
  std::size_t outLd;
};

template <class In, class Out, unsigned N>
__device__ inline void addPackAtomically(Pack<Out, N>* out, const Pack<In, N>& pack) {
  In elements[N];
  Out values[N];
  __builtin_memcpy(static_cast<void*>(elements), &pack, sizeof(elements));
#pragma unroll
  for (unsigned i = 0; i < N; ++i) values[i] = static_cast<Out>(static_cast<RowSum<In, Out>>(elements[i]));
  atomicAddElements(reinterpret_cast<Out*>(out), values);
}

// A thread adds LOADS packs; neighbouring lanes add neighbours.
template <RowIndices INDICES, unsigned LOADS, class In, class Out, unsigned N, class Index>
GPUOPT_KERNEL void __launch_bounds__(addRowsBlock) addRowsKernel(const AddRowsArgs<In, Out, N, Index> args) {
  waitForPreviousKernel();
  const std::size_t begin = blockIdx.x * std::size_t{addRowsBlock * LOADS} + threadIdx.x;
  Pack<In, N> packs[LOADS];
  Pack<Out, N>* to[LOADS];
#pragma unroll
  for (unsigned k = 0; k < LOADS; ++k) {
    const std::size_t element = begin + k * addRowsBlock;
    const std::size_t row = args.shape.rowOf(element), col = element - row * args.shape.cols;
    to[k] = nullptr;
    if (row >= args.shape.rows) continue;
    const Index index = args.indices[row];
    if (INDICES == RowIndices::padded && isNegative(index)) continue;
    to[k] = args.out + static_cast<std::size_t>(index) * args.outLd + col;
    packs[k] = args.in[row * args.inLd + col];
  }
#pragma unroll
  for (unsigned k = 0; k < LOADS; ++k)
    if (to[k] != nullptr) addPackAtomically<In, Out, N>(to[k], packs[k]);
}

template <RowIndices INDICES, unsigned N, class In, class Out, class Index>
void launchAddAtomically(const AddRowsCall& call, const Index* indices) {
  const CombineRowsRequest& m = call.request.matrices;
  const AddRowsArgs<In, Out, N, Index> args{reinterpret_cast<const Pack<In, N>*>(m.in),
                                            reinterpret_cast<Pack<Out, N>*>(m.out),
                                            indices,
                                            PackedRows(call.request.n, call.plan.packs.cols),
                                            m.inLd / N,
                                            m.outLd / N};
  launch(addRowsKernel<INDICES, addRowsLoads, In, Out, N, Index>,
         gridConfig(addRowsBlock, call.plan.packs.blocks, call.stream, call.function), args);
}

// The scratch memory of the indices that are grouped at a time.
struct GroupScratch {
  MovedRows sorted;
  MovedRows other;  // when all is sorted: marks, and where lists begin
  unsigned* counts;
  unsigned* lists;

  GroupScratch(const AddRowsPlan& plan, unsigned char* memory) {
    auto* const words = reinterpret_cast<unsigned*>(memory);
    sorted = {words, words + plan.indices};
    other = {words + 2 * plan.indices, words + 3 * plan.indices};
    counts = words + 4 * plan.indices + 1;
    lists = counts + (plan.tiles << plan.digitBits);
  }
  RowLists out() const { return {other.positions, lists}; }
};

template <bool INCLUSIVE>
void scanCounts(unsigned* counts, std::size_t n, const AddRowsCall& call) {
  const MatrixView<unsigned> row{counts, 1, n};
  scanWith<true, false, !INCLUSIVE, unsigned>(call.function, row, row, call.stream, nullptr, Plus{}, 0U);
}

template <class Source>
void launchDigitPass(const AddRowsCall& call, const Source& source, const DigitPass& pass, unsigned* counts,
                     const MovedRows& to) {
  const LaunchConfig config = gridConfig(groupRowsBlock, pass.tiles, call.stream, call.function);
  launch(countDigitsKernel<Source>, config, source, pass, counts);
  scanCounts<false>(counts, (std::size_t{pass.mask} + 1) * pass.tiles, call);
  launch(moveDigitsKernel<Source>, config, source, pass, static_cast<const unsigned*>(counts), to);
}

// Groups n positions: `padding` is the row of those that go nowhere.
template <class Source>
void launchGroupRows(const AddRowsCall& call, const Source& source, unsigned n, unsigned padding,
                     const GroupScratch& scratch) {
  const AddRowsPlan& plan = call.plan;
  DigitPass pass{n, 0, (1U << plan.digitBits) - 1, static_cast<unsigned>(ceilDivide(n, groupRowsTile))};
  if (plan.algorithm == AddRowsAlgorithm::groupedFew)
    return launch(groupFewRowsKernel<Source>, gridConfig(groupRowsBlock, 1, call.stream, call.function), source, pass,
                  plan.passes, plan.digitBits, padding, scratch.sorted, scratch.other, scratch.out());
  for (unsigned p = 0; p < plan.passes; ++p, pass.shift += plan.digitBits) {
    const bool isToSorted = (plan.passes - p) % 2 == 1;
    const MovedRows &to = isToSorted ? scratch.sorted : scratch.other,
                    &from = isToSorted ? scratch.other : scratch.sorted;
    if (p == 0)
      launchDigitPass(call, source, pass, scratch.counts, to);
    else
      launchDigitPass(call, from, pass, scratch.counts, to);
  }
  const LaunchConfig config = gridConfig(groupRowsBlock, ceilDivide(n, groupRowsBlock), call.stream, call.function);
  const unsigned* const rows = scratch.sorted.rows;
  unsigned* const marks = scratch.other.rows;
  launch(markListsKernel<const unsigned*>, config, rows, n, padding, marks);
  scanCounts<true>(marks, n, call);
  launch(writeListsKernel<const unsigned*>, config, rows, n, padding, static_cast<const unsigned*>(marks),
         scratch.out());
}

// In parts of plan.indices indices.
template <RowIndices INDICES, unsigned N, class In, class Out, class Index>
void launchAddGrouped(const AddRowsCall& call, const Index* indices) {
  const AddRowsPlan& plan = call.plan;
  const auto padding = static_cast<unsigned>(call.request.matrices.rows);
  const ScratchMemory memory(plan.scratchBytes, call.stream);
  const GroupScratch scratch(plan, memory.data());
  for (std::size_t first = 0; first < call.request.n; first += plan.indices) {
    const auto n = static_cast<unsigned>(smallerOf(plan.indices, call.request.n - first));
    launchGroupRows(call, IndexedRows<INDICES, Index>{indices + first, padding}, n, padding, scratch);
    CombineRowsRequest part = call.request.matrices;
    part.in += first * part.inLd * part.inBytes;
    part.rows = smallerOf(part.rows, std::size_t{n});
    launchCombinePacks<RowCombination::sum, RowIndices::trusted, N, In, Out>(
        part, plan.packs, static_cast<const unsigned*>(scratch.sorted.positions), static_cast<const float*>(nullptr),
        AddedLists{scratch.out().begins, scratch.sorted.rows, scratch.lists}, call.function, call.stream);
  }
}

template <RowAddition ADDITION, RowIndices INDICES, unsigned N, class In, class Out, class Index>
void launchAddPacks(const AddRowsCall& call, const Index* indices) {
  if constexpr (ADDITION == RowAddition::atomic)
    launchAddAtomically<INDICES, N, In, Out>(call, indices);
  else
    launchAddGrouped<INDICES, N, In, Out>(call, indices);
}

template <RowAddition ADDITION, RowIndices INDICES, class In, class Out, class Index>
void launchAddRows(const AddRowsCall& call, const Index* indices) {
  constexpr unsigned WIDE = widePack(sizeof(In), sizeof(Out));
  if (call.plan.algorithm == AddRowsAlgorithm::nothing) return;
  if (call.plan.packs.elements == WIDE)
    launchAddPacks<ADDITION, INDICES, WIDE, In, Out>(call, indices);
  else
    launchAddPacks<ADDITION, INDICES, 1, In, Out>(call, indices);
}

GPUOPT_DETAIL_END
