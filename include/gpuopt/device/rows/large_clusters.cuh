/// \file
/// The largest clusters of blocks that a device runs: more than eight blocks need as many multiprocessors side by side.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/callable.cuh>
#include <gpuopt/core/registry.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>

#include <cuda_runtime.h>

GPUOPT_DETAIL_BEGIN

inline constexpr int largeClusterThreads = 512;

// A template only so that several files may have it.
template <int BLOCK = largeClusterThreads>
GPUOPT_KERNEL void __launch_bounds__(BLOCK) largeClusterKernel() {}

// Blocks of the largest cluster of a device, 16 at most.
GPUOPT_HIDDEN inline unsigned largestCluster(int device) {
  static auto& known = *new Registry<int, int>;  // destructors of static objects may still launch
  const int blocks = known.get(device, [] {
    const RelaxedCapture relaxed;  // lazy loading of the kernel may allocate
    const auto kernel = reinterpret_cast<const void*>(&largeClusterKernel<>);
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(16);
    config.blockDim = dim3(largeClusterThreads);
    int largest = 0;
    cudaError_t code = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (code == cudaSuccess) code = cudaOccupancyMaxPotentialClusterSize(&largest, kernel, &config);
    forgetError(code);
    return code == cudaSuccess ? largest : 0;
  });
  return static_cast<unsigned>(blocks);
}

GPUOPT_DETAIL_END
