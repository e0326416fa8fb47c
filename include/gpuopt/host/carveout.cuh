/// \file
/// How a multiprocessor divides its on-chip memory while a kernel runs.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/capture.cuh>
#include <gpuopt/host/device.cuh>

#include <atomic>
#include <cstdint>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// One kernel's wish for shared memory, in per cent of what shared memory and the L1 cache have together. It
// is told to each device once. Zero-initialised, so that it is ready before any code runs.
class SharedCarveout {
 public:
  // To be called before each launch. The wish is a hint: whatever is wrong, the launch itself will say so.
  GPUOPT_HIDDEN void prefer(const void* kernel, int percent) {
    const auto device = static_cast<unsigned>(currentDevice());
    const std::uint64_t bit = device < 64 ? std::uint64_t{1} << device : 0;
    if ((told_.load(std::memory_order_relaxed) & bit) != 0) return;
    if (cudaPeekAtLastError() != cudaSuccess) return;  // cudaFuncSetAttribute would clear it: next time
    const RelaxedCapture relaxed;                      // the kernel's code may have to be loaded first
    forgetError(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, percent));
    told_.fetch_or(bit, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> told_{0};
};

}  // namespace detail
GPUOPT_NAMESPACE_END
