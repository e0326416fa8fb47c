/// \file
/// Programmatic dependent launch: how a kernel waits for the one before it in the stream.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/core/device_code.cuh>

#include <cuda_runtime.h>

GPUOPT_DETAIL_BEGIN

// Lets the next kernel of the stream launch, then waits for the results of the previous one. A kernel calls this before
// it touches global memory. The start of a kernel then overlaps the end of the one before (sm_90), which saves 0.3 us
// per call in a graph.
__device__ inline void overlapPreviousKernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Only waits for the results of the previous kernel. For short blocks: if the next kernel launched early, its blocks
// would gather on the few multiprocessors that are free first.
__device__ inline void waitForPreviousKernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Waits for the results of the previous kernel, and then lets the next one launch, which may read whatever that kernel
// had written without waiting. For a small kernel that prepares something for the next one.
__device__ inline void letNextKernelOverlap() {
  waitForPreviousKernel();
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

GPUOPT_DETAIL_END
