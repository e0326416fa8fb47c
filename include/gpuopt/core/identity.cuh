/// \file
/// The identity function.
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

GPUOPT_NAMESPACE_END
