/// \file
/// Indices of rows: whether negative ones are padding, and the check of all of them.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/rows_types.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

template <class Index>
constexpr bool requireIndexType() {
  constexpr bool IS_INTEGER = std::is_integral_v<Index> && !std::is_same_v<std::remove_cv_t<Index>, bool>;
  static_assert(IS_INTEGER, "gpuopt: the indices of rows must be integers");
  return IS_INTEGER;
}

template <class Index>
__host__ __device__ constexpr bool isNegative(Index index) {
  return static_cast<std::make_signed_t<Index>>(index) < 0;
}

// With GPUOPT_CHECK_POINTERS: each of the n indices is that of one of `rows` rows, or padding. Waits for the stream,
// and asks nothing of one that is captured.
template <class Index>
void requireRowIndices(const Index* indices, std::size_t n, std::size_t rows, RowIndices policy, const char* function,
                       cudaStream_t stream) {
#if GPUOPT_CHECK_POINTERS
  constexpr std::size_t CHUNK = 1024;
  if (n == 0 || isCapturing(stream)) return;
  Index chunk[CHUNK];
  for (std::size_t i = 0; i < n; ++i) {
    if (i % CHUNK == 0) {
      const std::size_t bytes = smallerOf(CHUNK, n - i) * sizeof(Index);
      check(cudaMemcpyAsync(chunk, indices + i, bytes, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
      check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    }
    const Index index = chunk[i % CHUNK];
    const bool isPadding = policy == RowIndices::padded && isNegative(index);
    if (!isPadding && static_cast<std::size_t>(index) >= rows)
      throwInvalid({function, ": indices[", i, "] is ", index, ", but there are ", rows, " rows"});
  }
#else
  static_cast<void>(indices), static_cast<void>(n), static_cast<void>(rows), static_cast<void>(policy);
  static_cast<void>(function), static_cast<void>(stream);
#endif
}

GPUOPT_DETAIL_END
