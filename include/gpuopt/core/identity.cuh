/// \file
/// Functions of one element: the identity, and casts.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cuda_runtime.h>

GPUOPT_NAMESPACE_BEGIN

/// Returns its argument. Kernels recognise it and move elements as raw words.
struct Identity {
  template <class T>
  __host__ __device__ const T& operator()(const T& value) const {
    return value;
  }
};

/// Converts its argument to T. For functions on the way: transformReduce(data, n, Cast<int>{}) sums truncated floats.
template <class T>
struct Cast {
  template <class U>
  __host__ __device__ T operator()(const U& value) const {
    return static_cast<T>(value);
  }
};

GPUOPT_NAMESPACE_END
