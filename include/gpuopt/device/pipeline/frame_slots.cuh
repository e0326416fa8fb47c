/// \file
/// The slots of a ring of frames, and the device's side of it.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/pipeline/plan.cuh>
#include <gpuopt/device/pipeline/slots.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/memory.cuh>
#include <gpuopt/host/pinned.cuh>
#include <gpuopt/host/stream_pool.cuh>
#include <gpuopt/host/stream_watch.cuh>

#include <cuda_runtime.h>

#include <chrono>
#include <cstddef>
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

class FrameSlots {
 public:
  explicit FrameSlots(const FramesPlan& plan)
      : plan_(plan),
        pinned_(bytesOfSlots(plan.slots, plan.pitch(), "gpuopt::FrameRing")),
        slots_(plan.slots),
        device_(0, slots_[0].stream) {
    unsigned char* const device = plan.copies ? growTo(device_, pinned_.size()) : pinned_.devicePointer();
    for (std::size_t i = 0; i < plan.slots; ++i) {
      FrameSlot& slot = slots_[i];
      const std::size_t in = i * plan.pitch(), out = in + plan.inPitch;
      slot.hostIn = pinned_.data() + in;
      slot.hostOut = pinned_.data() + out;
      slot.in = device + in;
      slot.out = device + out;
    }
  }
  ~FrameSlots() {
    for (FrameSlot& slot : slots_) forgetError(cudaStreamSynchronize(slot.stream));
  }
  FrameSlots(const FrameSlots&) = delete;
  FrameSlots& operator=(const FrameSlots&) = delete;

  std::size_t count() const { return slots_.size(); }
  FrameSlot& operator[](std::size_t i) { return slots_[i]; }

  // Queues a frame and its work, work(slot), which follows that of the frame before: both may use the same memory.
  template <class Work>
  void queue(FrameSlot& slot, const Work& work) {
    if (plan_.copies) copyAsync(slot.in, slot.hostIn, plan_.request.inBytes, slot.stream);
    if (before_ != nullptr) before_->makeWait(slot.stream);
    const StreamWatch watch(slot.stream);
    work(slot);
    watch.require("gpuopt::FrameRing", "frame.stream");
    before_ = plan_.copies ? &slot.worked : &slot.done;
    if (plan_.copies) {
      slot.worked.record(slot.stream);
      copyAsync(slot.hostOut, slot.out, plan_.request.outBytes, slot.stream);
    }
    slot.done.record(slot.stream);
  }

 private:
  FramesPlan plan_;
  PinnedVector<unsigned char> pinned_;  // first: its capacity limits the number of slots
  std::vector<FrameSlot> slots_;
  OrderedMemory device_;
  const Event* before_ = nullptr;  // when the work of the frame before has ended
};

GPUOPT_DETAIL_END
