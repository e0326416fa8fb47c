/// \file
/// How a multiprocessor splits its on-chip memory between shared memory and L1.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/capture.cuh>
#include <gpuopt/host/device.cuh>

#include <atomic>
#include <cstdint>

GPUOPT_DETAIL_BEGIN

// A kernel's preferred shared memory, in per cent of the on-chip memory. Sets it once per device. Constant-
// initialised, hence usable before main().
class SharedCarveout {
 public:
  // Call before each launch. Errors are ignored: this is a hint, and the launch reports its own.
  GPUOPT_HIDDEN void prefer(const void* kernel, int percent) {
    const auto device = static_cast<unsigned>(currentDevice());
    const std::uint64_t bit = device < 64 ? std::uint64_t{1} << device : 0;
    if ((isSet_.load(std::memory_order_relaxed) & bit) != 0) return;
    if (cudaPeekAtLastError() != cudaSuccess) return;  // cudaFuncSetAttribute would clear it; try next time
    const RelaxedCapture relaxed;                      // lazy loading of the kernel may allocate
    forgetError(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, percent));
    isSet_.fetch_or(bit, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> isSet_{0};
};

GPUOPT_DETAIL_END
