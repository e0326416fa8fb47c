/// \file
/// reduceBy with results of half precision: combined as floats, and rounded at the end.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/keyed/reduce_by.cuh>
#include <gpuopt/device/structs/transform.cuh>
#include <gpuopt/host/memory.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

template <class To>
struct ConvertTo {
  template <class From>
  __device__ To operator()(From number) const {
    return static_cast<To>(number);
  }
};

// No atomics combine halves: they take scratch memory of 4 bytes a bin.
template <class Policy, class It, class Keys, class A, class Op>
void reduceByHalves(const char* function, It values, std::size_t n, const Keys& keys, std::size_t bins, A* out,
                    const Op& op, cudaStream_t stream) {
  requireReduceByOut(bins, out, alignof(A), function);
  const ScratchMemory scratch(bins * sizeof(float), stream);
  auto* const results = reinterpret_cast<float*>(scratch.data());
  if constexpr (Policy::KEEPS) transformChecked(out, bins, results, ConvertTo<float>{}, function, stream);
  reduceByChecked<Policy>(function, values, n, keys, bins, results, op, stream);
  transformChecked(results, bins, out, ConvertTo<A>{}, function, stream);
}

GPUOPT_DETAIL_END
