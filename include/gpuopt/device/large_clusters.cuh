/// \file
/// Whether a device runs clusters of more than eight blocks, which need as many multiprocessors side by side.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/registry.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/launch.cuh>

#include <cuda_runtime.h>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Threads of a block of such a cluster, at most.
inline constexpr int largeClusterThreads = 512;

// A template only so that several files may have it.
template <int BLOCK = largeClusterThreads>
GPUOPT_KERNEL void __launch_bounds__(BLOCK) largeClusterKernel() {}

// Whether a device runs clusters of largeCluster blocks even if each block has all shared memory of a multiprocessor.
// Then no launch of such a cluster fails, whatever its blocks need.
GPUOPT_HIDDEN inline bool runsLargeClusters(int device) {
  static auto& known = *new Registry<int, bool>;  // destructors of static objects may still launch
  return known.get(device, [device] {
    const RelaxedCapture relaxed;  // lazy loading of the kernel may allocate
    const auto kernel = reinterpret_cast<const void*>(&largeClusterKernel<>);
    const int shared = deviceAttribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(largeCluster);
    config.blockDim = dim3(largeClusterThreads);
    config.dynamicSmemBytes = static_cast<std::size_t>(shared);
    int blocks = 0;
    cudaError_t code = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (code == cudaSuccess) code = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    if (code == cudaSuccess) code = cudaOccupancyMaxPotentialClusterSize(&blocks, kernel, &config);
    forgetError(code);
    return code == cudaSuccess && blocks >= static_cast<int>(largeCluster);
  });
}

GPUOPT_DETAIL_END
