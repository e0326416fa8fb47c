/// \file
/// Permutations word by word: for small tensors, for runs that both tensors keep, and for all that tiles do not take.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/permute/problem.cuh>
#include <gpuopt/grid/dependency.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

constexpr unsigned permuteElementThreads = 256;

template <class In, class Out, class Function>
struct PermuteElementArgs {
  const In* in;
  Out* out;
  std::size_t elements;
  unsigned rank;
  struct Axis {
    Divisor extent;  // if there are fewer than 2^31 elements
    std::size_t wideExtent;
    std::ptrdiff_t in;  // elements
    std::ptrdiff_t out;
  } axis[permuteRank];
  Function function;
};

// The ITEMS elements of a thread are a block apart, so that neighbouring lanes write neighbouring elements.
template <unsigned ITEMS, bool IS_WIDE, class In, class Out, class Function>
GPUOPT_KERNEL void __launch_bounds__(permuteElementThreads)
    permuteElementsKernel(const PermuteElementArgs<In, Out, Function> args) {
  using Index = std::conditional_t<IS_WIDE, std::size_t, unsigned>;
  waitForPreviousKernel();
  const Index first = static_cast<Index>(blockIdx.x) * (permuteElementThreads * ITEMS) + threadIdx.x;
  const In* in[ITEMS];
  Out* out[ITEMS];
#pragma unroll
  for (unsigned i = 0; i < ITEMS; ++i) {
    Index rest = first + i * permuteElementThreads;
    in[i] = args.in;
    out[i] = rest < args.elements ? args.out : nullptr;
    if (out[i] == nullptr) continue;
    for (unsigned k = 0; k < args.rank; ++k) {
      Index quotient;
      if constexpr (IS_WIDE)
        quotient = rest / args.axis[k].wideExtent;
      else
        quotient = args.axis[k].extent.divide(rest);
      const auto index = static_cast<std::ptrdiff_t>(rest - quotient * static_cast<Index>(args.axis[k].wideExtent));
      rest = quotient;
      in[i] += index * args.axis[k].in;
      out[i] += index * args.axis[k].out;
    }
  }
  Out values[ITEMS];
#pragma unroll
  for (unsigned i = 0; i < ITEMS; ++i)
    if (out[i] != nullptr) values[i] = args.function(*in[i]);
#pragma unroll
  for (unsigned i = 0; i < ITEMS; ++i)
    if (out[i] != nullptr) *out[i] = values[i];
}

GPUOPT_DETAIL_END
