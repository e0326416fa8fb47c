/// \file
/// Small pieces of pinned host memory that kernels write and the host reads.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/free_list.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <cstring>

GPUOPT_DETAIL_BEGIN

/// Slots of mapped memory for all threads and devices, zero at first. The device writes them under the host's address
/// (unified addressing). Never freed: cudaFreeHost waits for all devices of the process.
class MappedSlots {
 public:
  MappedSlots(std::size_t slotBytes, std::size_t slotsPerAllocation)
      : slotBytes_(slotBytes), slotsPerAllocation_(slotsPerAllocation) {}

  unsigned char* acquire() {
    unsigned char* slot = nullptr;
    while ((slot = free_.take([](unsigned char*) { return true; })) == nullptr) grow();
    return slot;
  }

  void release(unsigned char* slot) noexcept { free_.put(slot); }

 private:
  void grow() {
    const RelaxedCapture relaxed;
    const std::size_t bytes = slotsPerAllocation_ * slotBytes_;
    void* memory = nullptr;
    free_.add(slotsPerAllocation_);
    check(cudaHostAlloc(&memory, bytes, cudaHostAllocMapped | cudaHostAllocPortable), "cudaHostAlloc");
    std::memset(memory, 0, bytes);
    for (std::size_t i = 0; i < slotsPerAllocation_; ++i)
      free_.put(static_cast<unsigned char*>(memory) + i * slotBytes_);
  }

  const std::size_t slotBytes_, slotsPerAllocation_;
  FreeList<unsigned char*> free_;
};

GPUOPT_DETAIL_END
