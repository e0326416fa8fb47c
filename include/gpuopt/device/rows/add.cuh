/// \file
/// The kernel of addRows by atomics, and the launches of both forms.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/rows/add_few.cuh>
#include <gpuopt/device/rows/add_lists.cuh>
#include <gpuopt/device/rows/add_plan.cuh>
#include <gpuopt/device/rows/add_slots.cuh>
#include <gpuopt/device/rows/combine.cuh>
#include <gpuopt/device/rows/group_buckets.cuh>
#include <gpuopt/device/rows/scan_launch.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/host/memory.cuh>
#include <gpuopt/thread/operators.cuh>

#include <cstddef>

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

template <RowIndices INDICES, unsigned N, class In, class Out, class Index>
void launchAddSelected(const AddRowsCall& call, const Index* indices) {
  const CombineRowsRequest& m = call.request.matrices;
  const AddRowsPlan& plan = call.plan;
  using Source = IndexedRows<INDICES, Index>;
  const AddFewRowsArgs<In, Out, N, Source> args{reinterpret_cast<const Pack<In, N>*>(m.in),
                                                reinterpret_cast<Pack<Out, N>*>(m.out),
                                                Source{indices},
                                                static_cast<unsigned>(plan.indices),
                                                static_cast<unsigned>(ceilDivide(plan.packs.cols, plan.panels)),
                                                plan.packs.cols,
                                                m.inLd / N,
                                                m.outLd / N};
  LaunchConfig config = gridConfig(addFewRowsBlock, plan.buckets, call.stream, call.function);
  config.grid.y = plan.panels;
  config.sharedBytes = plan.indices * SelectedRows::BYTES;
  launch(addFewRowsKernel<In, Out, N, Source>, config, args);
}

// The scratch memory of the indices that are grouped at a time.
struct GroupScratch {
  SortedBuckets buckets;
  unsigned* counts;

  GroupScratch(const AddRowsPlan& plan, unsigned char* memory) {
    buckets.lists = reinterpret_cast<AddedList*>(memory);
    buckets.rows = reinterpret_cast<BucketedRow*>(buckets.lists + plan.lists);
    buckets.other = buckets.rows + plan.indices;
    buckets.positions = reinterpret_cast<unsigned*>(buckets.other + plan.indices);
    buckets.count = buckets.positions + plan.indices;
    buckets.longCount = buckets.count + 1;
    buckets.tooLong = plan.longList;
    counts = buckets.longCount + 1;
    buckets.longLists = counts + std::size_t{plan.buckets} * plan.regions + 1;
  }
};

// Groups the positions of n indices.
template <class Source>
void launchGroupRows(const AddRowsCall& call, const Source& source, unsigned n, const GroupScratch& scratch) {
  const AddRowsPlan& plan = call.plan;
  const BucketRegions regions{n, plan.region, ceilDivide32(n, plan.region), plan.buckets, Divisor(plan.divisor)};
  LaunchConfig config = gridConfig(groupRowsBlock, regions.blocks, call.stream, call.function);
  launch(countBucketsKernel<Source>, config, source, regions, scratch.counts, scratch.buckets.count);
  scanInPlace(call.function, scratch.counts, std::size_t{regions.buckets} * regions.blocks + 1, call.stream);
  const unsigned* const firsts = scratch.counts;
  launch(fillBucketsKernel<Source>, config, source, regions, firsts, scratch.buckets.rows);
  config = gridConfig(groupRowsBlock, plan.buckets, call.stream, call.function);
  config.sharedBytes = sizeof(TileOfBucket);
  launch(sortBucketsKernel<SortedBuckets>, config, scratch.buckets, firsts, regions.blocks,
         QuotientDigits{plan.digitBits, plan.passes, plan.divisor});
}

// Adds the rows of lists.
template <unsigned N, class In, class Out>
void launchAddLists(const AddRowsCall& call, const CombineRowsRequest& part, const SortedBuckets& buckets) {
  const AddRowsPlan& plan = call.plan;
  const AddedLists lists{buckets.lists, buckets.count, plan.longList};
  launch(addListsKernel<In, Out, N, unsigned, float>,
         gridConfig(combineRowsBlock, plan.longBlocks + plan.packs.blocks, call.stream, call.function),
         combineRowsArgs<N, In, Out>(part, plan.packs, static_cast<const unsigned*>(buckets.positions),
                                     static_cast<const float*>(nullptr), lists),
         LongLists{buckets.longLists, buckets.longCount, plan.longBlocks});
}

// Groups n positions and adds the rows of their lists.
template <unsigned N, class In, class Out, class Source>
void launchAddGroups(const AddRowsCall& call, CombineRowsRequest part, const Source& source, unsigned n,
                     unsigned char* memory) {
  const GroupScratch scratch(call.plan, memory);
  launchGroupRows(call, source, n, scratch);
  part.rows = call.plan.lists;
  launchAddLists<N, In, Out>(call, part, scratch.buckets);
}

inline RowSlots rowSlots(const AddRowsPlan& plan, std::size_t rows, unsigned char* memory) {
  RowSlots it{};
  it.fills = reinterpret_cast<unsigned*>(memory);
  it.restCount = it.fills + slotBuckets;
  it.counts = it.restCount + 4;
  it.slots = it.counts + roundUp(rows, std::size_t{4});
  unsigned* const rest = it.slots + rows * plan.slots;
  it.rest = plan.restBlocks == 0 ? nullptr : rest;
  it.listed = reinterpret_cast<ListedRow*>(rest + (plan.restBlocks == 0 ? 0 : roundUp(plan.indices, std::size_t{4})));
  it.rows = static_cast<unsigned>(rows);
  it.perRow = plan.slots;
  it.bucketBits = plan.bucketBits;
  return it;
}

// Lists n positions in slots.
template <class Source>
void launchListRows(const AddRowsCall& call, const Source& source, unsigned n, const RowSlots& slots) {
  check(cudaMemsetAsync(slots.fills, 0, (slotBuckets + 1) * sizeof(unsigned), call.stream), "cudaMemsetAsync");
  const unsigned tiles = ceilDivide32(n, listRowsBlock * listRowsItems);
  LaunchConfig config = gridConfig(listRowsBlock, tiles, call.stream, call.function);
  config.sharedBytes = sizeof(PartitionedTile);
  launch(partitionRowsKernel<Source>, config, source, n, slots);
  config.grid.x = call.plan.slotBuckets;
  config.sharedBytes = sizeof(unsigned) * (bucketSlots + (std::size_t{1} << slots.bucketBits));
  launch(listBucketsKernel<RowSlots>, config, slots);
}

// Lists n positions and adds the rows of the lists.
template <RowAddition ADDITION, unsigned N, class In, class Out, class Source>
void launchAddSlots(const AddRowsCall& call, const CombineRowsRequest& part, const Source& source, unsigned n,
                    unsigned char* memory) {
  constexpr bool IN_ORDER = ADDITION == RowAddition::deterministic;
  const AddRowsPlan& plan = call.plan;
  const RowSlots slots = rowSlots(plan, part.rows, memory);
  launchListRows(call, source, n, slots);
  if constexpr (IN_ORDER)
    launchAddGroups<N, In, Out>(call, part, CrowdedRows<Source>{source, slots}, n, memory + plan.slotBytes);
  const AddSlotsArgs<In, Out, N, Source> args{reinterpret_cast<const Pack<In, N>*>(part.in),
                                              reinterpret_cast<Pack<Out, N>*>(part.out),
                                              source,
                                              slots,
                                              PackedRows(part.rows, plan.packs.cols),
                                              part.inLd / N,
                                              part.outLd / N,
                                              plan.restBlocks};
  launch(addSlotsKernel<IN_ORDER, In, Out, N, Source>,
         gridConfig(addSlotsBlock, plan.restBlocks + plan.slotBlocks, call.stream, call.function), args);
}

// In parts of plan.indices indices.
template <RowAddition ADDITION, RowIndices INDICES, unsigned N, class In, class Out, class Index>
void launchAddInParts(const AddRowsCall& call, const Index* indices) {
  const AddRowsPlan& plan = call.plan;
  const ScratchMemory memory(plan.scratchBytes, call.stream);
  for (std::size_t first = 0; first < call.request.n; first += plan.indices) {
    const auto n = static_cast<unsigned>(smallerOf(plan.indices, call.request.n - first));
    const IndexedRows<INDICES, Index> source{indices + first};
    CombineRowsRequest part = call.request.matrices;
    part.in += first * part.inLd * part.inBytes;
    if (plan.algorithm == AddRowsAlgorithm::slots)
      launchAddSlots<ADDITION, N, In, Out>(call, part, source, n, memory.data());
    else if constexpr (ADDITION == RowAddition::deterministic)
      launchAddGroups<N, In, Out>(call, part, source, n, memory.data());
  }
}

template <RowAddition ADDITION, RowIndices INDICES, unsigned N, class In, class Out, class Index>
void launchAddPacks(const AddRowsCall& call, const Index* indices) {
  if constexpr (ADDITION == RowAddition::atomic) {
    if (call.plan.algorithm == AddRowsAlgorithm::atomic) return launchAddAtomically<INDICES, N, In, Out>(call, indices);
  } else {
    if (call.plan.algorithm == AddRowsAlgorithm::selected) return launchAddSelected<INDICES, N, In, Out>(call, indices);
  }
  launchAddInParts<ADDITION, INDICES, N, In, Out>(call, indices);
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
