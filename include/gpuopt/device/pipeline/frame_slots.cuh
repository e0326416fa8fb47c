/// \file
/// The slots of a ring of frames, and the device's side of it.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/pipeline/slots.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/memory.cuh>
#include <gpuopt/host/pinned.cuh>
#include <gpuopt/host/stream_pool.cuh>
#include <gpuopt/host/stream_watch.cuh>

#include <cuda_runtime.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

GPUOPT_DETAIL_BEGIN

// A frame on its way, without its types.
struct FrameSlot {
  PooledStream stream;
  Event worked, done;
  unsigned char *hostIn = nullptr, *hostOut = nullptr, *in = nullptr, *out = nullptr;
  std::size_t number = 0;
  std::chrono::steady_clock::time_point produced;
};

// Where the kernels of a frame find it.
struct RawFrame {
  void *in, *out;
  std::size_t number;
  cudaStream_t stream;
};

class FrameSlots {
 public:
  FrameSlots(std::size_t count, std::size_t inBytes, std::size_t outBytes, bool isMapped)
      : inBytes_(inBytes),
        outBytes_(outBytes),
        isMapped_(isMapped),
        pinned_(bytesOfSlots(count, pitch(), "gpuopt::FrameRing")),
        slots_(count),
        device_(nullptr, slots_[0].stream) {
    unsigned char* const device = isMapped ? nullptr : device_.reserve(pinned_.size());
    for (std::size_t i = 0; i < count; ++i) {
      FrameSlot& slot = slots_[i];
      const std::size_t in = i * pitch(), out = in + slotPitch(inBytes);
      slot.hostIn = pinned_.data() + in;
      slot.hostOut = pinned_.data() + out;
      slot.in = isMapped ? pinned_.devicePointer() + in : device + in;
      slot.out = isMapped ? pinned_.devicePointer() + out : device + out;
    }
  }
  ~FrameSlots() {
    for (FrameSlot& slot : slots_) forgetError(cudaStreamSynchronize(slot.stream));
  }
  FrameSlots(const FrameSlots&) = delete;
  FrameSlots& operator=(const FrameSlots&) = delete;

  std::size_t count() const { return slots_.size(); }
  FrameSlot& operator[](std::size_t i) { return slots_[i]; }

  // Queues a frame. Its work follows that of the frame before, so that both may use the same memory.
  void queue(FrameSlot& slot, const std::function<void(const RawFrame&)>& work) {
    if (!isMapped_) copy(slot.in, slot.hostIn, inBytes_, slot.stream);
    if (before_ != nullptr) before_->makeWait(slot.stream);
    const StreamWatch watch(slot.stream);
    work({slot.in, slot.out, slot.number, slot.stream});
    watch.require("gpuopt::FrameRing", "frame.stream");
    before_ = isMapped_ ? &slot.done : &slot.worked;
    if (!isMapped_) {
      slot.worked.record(slot.stream);
      copy(slot.hostOut, slot.out, outBytes_, slot.stream);
    }
    slot.done.record(slot.stream);
  }

 private:
  // Of a frame and its results.
  std::size_t pitch() const { return cappedSum(slotPitch(inBytes_), slotPitch(outBytes_)); }

  static void copy(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
  }

  std::size_t inBytes_, outBytes_;
  bool isMapped_;
  PinnedVector<unsigned char> pinned_;  // first: its capacity limits the number of slots
  std::vector<FrameSlot> slots_;
  DeviceBuffer device_;
  const Event* before_ = nullptr;  // when the work of the frame before has ended
};

GPUOPT_DETAIL_END
