/// \file
/// The kernel of combineRows and addRows: sums of rows by index.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/explain.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/rows/indices.cuh>
#include <gpuopt/device/rows/lists.cuh>
#include <gpuopt/device/rows/tuning.cuh>
#include <gpuopt/device/rows/vectors.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/rows_types.cuh>
#include <gpuopt/soa/equality.cuh>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

template <class In, class Out>
using RowSum = std::conditional_t<std::is_same_v<In, double> || std::is_same_v<Out, double>, double, float>;

// Packs of N elements.
template <class In, class Out, unsigned N, class Index, class Weight, class Bounds>
struct CombineRowsArgs {
  const Pack<In, N>* in;
  Pack<Out, N>* out;
  const Index* indices;
  const Weight* weights;  // null: all are 1
  Bounds bounds;
  PackedRows shape;  // of out, in packs
  std::size_t inLd;
  std::size_t outLd;
};

// sums[i] += weight * element i of a pack, in one rounding.
template <class In, unsigned N, class Sum>
__device__ inline void addPack(Sum (&sums)[N], const Pack<In, N>& pack, Sum weight) {
  In elements[N];
  __builtin_memcpy(elements, &pack, sizeof(elements));
#pragma unroll
  for (unsigned i = 0; i < N; ++i) sums[i] = fma(weight, static_cast<Sum>(elements[i]), sums[i]);
}

template <class Out, unsigned N, class Sum>
__device__ inline Pack<Out, N> packOf(const Sum (&sums)[N]) {
  Out elements[N];
#pragma unroll
  for (unsigned i = 0; i < N; ++i) elements[i] = static_cast<Out>(sums[i]);
  Pack<Out, N> pack;
  __builtin_memcpy(&pack, elements, sizeof(elements));
  return pack;
}

template <class Bounds, class Args>
__device__ inline bool hasList(const Bounds& bounds, const Args& args, std::size_t number) {
  if (number >= args.rows) return false;
  if constexpr (std::is_same_v<Bounds, AddedLists>)
    return number < *bounds.count;
  else
    return true;
}

// A thread sums one pack of a row, in the order of the indices; LOADS packs are in flight.
template <RowCombination COMBINATION, RowIndices INDICES, unsigned LOADS, class In, class Out, unsigned N, class Index,
          class Weight, class Bounds>
__device__ inline void combinePack(const CombineRowsArgs<In, Out, N, Index, Weight, Bounds>& args,
                                   std::size_t element) {
  using Sum = RowSum<In, Out>;
  constexpr bool ADDS = std::is_same_v<Bounds, AddedLists>;
  const std::size_t number = args.shape.rowOf(element), col = element - number * args.shape.cols;
  if (!hasList(args.bounds, args.shape, number)) return;
  const auto list = args.bounds.list(number);
  if constexpr (ADDS)
    if (list.end - list.begin >= args.bounds.tooLong) return;
  Pack<Out, N>* const out = args.out + list.row * args.outLd + col;
  Sum sums[N] = {};
  [[maybe_unused]] Pack<Out, N> start;
  if constexpr (ADDS) start = *out;
  unsigned padding = 0;
  for (auto j = list.begin; j < list.end; j += LOADS) {
    Index index[LOADS];
    Sum weight[LOADS];
    Pack<In, N> pack[LOADS];
#pragma unroll
    for (unsigned i = 0; i < LOADS; ++i) index[i] = args.indices[j + i < list.end ? j + i : j];
#pragma unroll
    for (unsigned i = 0; i < LOADS; ++i) {
      weight[i] = ADDS || args.weights == nullptr || j + i >= list.end ? Sum{1} : static_cast<Sum>(args.weights[j + i]);
      if (j + i < list.end && !(INDICES == RowIndices::padded && isNegative(index[i])))
        pack[i] = args.in[static_cast<std::size_t>(index[i]) * args.inLd + col];
    }
    // Here, so that it is waited for with the rows. Lists of added rows are not empty.
    if constexpr (ADDS)
      if (j == list.begin) addPack<Out, N>(sums, start, Sum{1});
#pragma unroll
    for (unsigned i = 0; i < LOADS; ++i) {
      if (j + i >= list.end) break;
      if (INDICES == RowIndices::padded && isNegative(index[i]))
        ++padding;
      else
        addPack<In, N>(sums, pack[i], weight[i]);
    }
  }
  if constexpr (COMBINATION == RowCombination::mean) {
    const std::size_t count = list.end - list.begin - padding;
#pragma unroll
    for (unsigned i = 0; i < N; ++i) sums[i] = count == 0 ? Sum{} : sums[i] / static_cast<Sum>(count);
  }
  *out = packOf<Out, N>(sums);
}

template <RowCombination COMBINATION, RowIndices INDICES, class In, class Out, unsigned N, class Index, class Weight,
          class Bounds>
GPUOPT_KERNEL void __launch_bounds__(combineRowsBlock, combineRowsBlocksPerSm)
    combineRowsKernel(const CombineRowsArgs<In, Out, N, Index, Weight, Bounds> args) {
  waitForPreviousKernel();
  const std::size_t element = blockIdx.x * std::size_t{combineRowsBlock} + threadIdx.x;
  combinePack<COMBINATION, INDICES, combineRowsLoads>(args, element);
}

// The numbers of a call. Leading dimensions count elements; `count` rows of `in` are read.
struct CombineRowsRequest {
  std::uintptr_t in;
  std::uintptr_t out;
  std::size_t rows;
  std::size_t cols;
  std::size_t inLd;
  std::size_t outLd;
  std::size_t inBytes;
  std::size_t outBytes;
};
template <>
inline constexpr bool isPlan<CombineRowsRequest> = true;

struct CombineRowsPlan {
  unsigned elements = 1;  // of a pack
  std::size_t cols = 0;   // packs of a row
  std::size_t blocks = 0;
  const char* reason = "no elements";
};
template <>
inline constexpr bool isPlan<CombineRowsPlan> = true;

inline CombineRowsPlan planCombineRows(const CombineRowsRequest& r) {
  if (r.rows == 0 || r.cols == 0) return {};
  const unsigned wide = widePack(r.inBytes, r.outBytes);
  const bool isWide = packAlignment(r.in, r.cols, r.inLd, r.inBytes) >= wide * r.inBytes &&
                      packAlignment(r.out, r.cols, r.outLd, r.outBytes) >= wide * r.outBytes;
  CombineRowsPlan plan{isWide ? wide : 1};
  plan.cols = r.cols / plan.elements;
  plan.blocks = ceilDivide(cappedProduct(r.rows, plan.cols), combineRowsBlock);
  plan.reason = isWide ? "words of 16 bytes divide addresses, rows and leading dimensions"
                       : "words of 16 bytes do not divide addresses, rows and leading dimensions";
  return plan;
}

inline std::string planInWords(const CombineRowsPlan& plan) {
  if (plan.blocks == 0) return inWords({"", plan.reason});
  Explanation call{message({plan.elements, plan.elements == 1 ? " column" : " columns", " a thread, ", combineRowsLoads,
                            " rows at a time"}),
                   plan.reason, plan.blocks, combineRowsBlock};
  call.hasLength = false;  // the number of indices is unknown
  return inWords(call);
}

template <unsigned N, class In, class Out, class Index, class Weight, class Bounds>
CombineRowsArgs<In, Out, N, Index, Weight, Bounds> combineRowsArgs(const CombineRowsRequest& r,
                                                                   const CombineRowsPlan& plan, const Index* indices,
                                                                   const Weight* weights, const Bounds& bounds) {
  return {reinterpret_cast<const Pack<In, N>*>(r.in),
          reinterpret_cast<Pack<Out, N>*>(r.out),
          indices,
          weights,
          bounds,
          PackedRows(r.rows, plan.cols),
          r.inLd / N,
          r.outLd / N};
}

template <RowCombination COMBINATION, RowIndices INDICES, unsigned N, class In, class Out, class Index, class Weight,
          class Bounds>
void launchCombinePacks(const CombineRowsRequest& r, const CombineRowsPlan& plan, const Index* indices,
                        const Weight* weights, const Bounds& bounds, const char* function, cudaStream_t stream) {
  launch(combineRowsKernel<COMBINATION, INDICES, In, Out, N, Index, Weight, Bounds>,
         gridConfig(combineRowsBlock, plan.blocks, stream, function),
         combineRowsArgs<N, In, Out>(r, plan, indices, weights, bounds));
}

template <RowCombination COMBINATION, RowIndices INDICES, class In, class Out, class Index, class Weight, class Bounds>
void launchCombineRows(const CombineRowsRequest& r, const Index* indices, const Weight* weights, const Bounds& bounds,
                       const char* function, cudaStream_t stream) {
  constexpr unsigned WIDE = widePack(sizeof(In), sizeof(Out));
  const CombineRowsPlan plan = planCombineRows(r);
  if (plan.blocks == 0) return;
  if (plan.elements == WIDE)
    launchCombinePacks<COMBINATION, INDICES, WIDE, In, Out>(r, plan, indices, weights, bounds, function, stream);
  else
    launchCombinePacks<COMBINATION, INDICES, 1, In, Out>(r, plan, indices, weights, bounds, function, stream);
}

GPUOPT_DETAIL_END
