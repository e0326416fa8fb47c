/// \file
/// The function that changes nothing.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cuda_runtime.h>

GPUOPT_NAMESPACE_BEGIN

/// Returns its argument. Kernels know it: what it is applied to only moves, and need not be looked at.
struct Identity {
  template <class T>
  __host__ __device__ const T& operator()(const T& value) const {
    return value;
  }
};

GPUOPT_NAMESPACE_END
