/// \file
/// The slots of a pipeline: memory for one chunk each, on the device and pinned on the host, and their events.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/pipeline/plan.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/event.cuh>
#include <gpuopt/host/memory.cuh>
#include <gpuopt/host/pinned.cuh>
#include <gpuopt/host/stream_pool.cuh>
#include <gpuopt/pipeline_types.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <vector>

GPUOPT_DETAIL_BEGIN

// Makes memory larger if more is needed, which loses what it held: the old one goes back to the pool first.
inline unsigned char* growTo(PinnedVector<unsigned char>& memory, std::size_t bytes) {
  if (bytes > memory.size()) {
    memory = {};
    memory = PinnedVector<unsigned char>(bytes);
  }
  return memory.data();
}
inline unsigned char* growTo(OrderedMemory& memory, std::size_t bytes) {
  const cudaStream_t stream = memory.stream();
  if (bytes > memory.bytes()) {
    memory = OrderedMemory(0, stream, memory.source());
    memory = OrderedMemory(bytes, stream, memory.source());
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");  // other streams will use it, too
  }
  return memory.data();
}

inline void copyAsync(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
}

// Memory for one chunk.
struct PipelineSlot {
  Event arrived, worked, left;  // recorded after the copy to the device, the work, the copy from the device
  unsigned char *hostIn = nullptr, *in = nullptr, *out = nullptr, *hostOut = nullptr;
};

// One chunk that is queued. There are more of these than slots: the streams themselves wait for a slot, so the host
// queues ahead.
struct PipelineTicket {
  Event done;
  const void* target = nullptr;  // where the results are copied to
  std::size_t count = 0, first = 0;
};

// The memory that slots of some bytes take together.
inline std::size_t bytesOfSlots(std::size_t slots, std::size_t bytes, const char* function) {
  constexpr std::size_t MAX_BYTES = PTRDIFF_MAX;
  if (bytes > MAX_BYTES / slots)
    throwInvalid(
        {function, ": ", slots, " slots of ", smallerOf(bytes, MAX_BYTES), " bytes are more than memory can hold"});
  return slots * bytes;
}

template <class Items>
void resize(Items& items, std::size_t count) {
  while (items.size() < count) items.emplace_back();
  while (items.size() > count) items.pop_back();
}

inline void requireNotCaptured(const PipelineOptions& options) {
  if (isCapturing(options.after))
    throwInvalid({"gpuopt::Pipeline: options.after is being captured: a pipeline waits, which a graph cannot"});
}

// Streams, events and memory, which a pipeline keeps from run to run.
class PipelineSlots {
 public:
  explicit PipelineSlots(const PipelineOptions& options)
      : own_(options.streams != nullptr ? 0 : 3),
        streams_(options.streams != nullptr ? *options.streams : PipelineStreams{own_[0], own_[1], own_[2]}),
        in_(0, streams_.work, options.memory),
        out_(0, streams_.work, options.memory) {}

  void reserve(const PipelinePlan& plan) {
    const SlotBytes& bytes = plan.slotBytes;
    const std::size_t slots = plan.slots;
    const Shares hostIn(hostIn_, slots, bytes.hostIn), hostOut(hostOut_, slots, bytes.hostOut),
        in(in_, slots, bytes.in), out(out_, slots, bytes.out);
    resize(slots_, slots);
    resize(tickets_, plan.tickets);
    for (std::size_t i = 0; i < slots; ++i) {
      slots_[i].in = in.of(i);
      slots_[i].out = out.of(i);
      slots_[i].hostIn = hostIn.of(i);
      slots_[i].hostOut = hostOut.of(i);
    }
  }

  std::size_t ticketCount() const { return tickets_.size(); }
  PipelineSlot& slotOf(std::size_t chunk) { return slots_[chunk % slots_.size()]; }
  PipelineTicket& ticketOf(std::size_t chunk) { return tickets_[chunk % tickets_.size()]; }
  const Event& begin() const { return begin_; }
  const PipelineStreams& streams() const { return streams_; }

  // Waits for all that was queued, whatever became of it.
  void drain() noexcept {
    for (const cudaStream_t stream : {streams_.up, streams_.work, streams_.down})
      forgetError(cudaStreamSynchronize(stream));
  }

 private:
  // What each slot has of some memory.
  class Shares {
   public:
    template <class Memory>
    Shares(Memory& memory, std::size_t slots, std::size_t bytes) : pitch_(slotPitch(bytes)) {
      if (pitch_ > 0) data_ = growTo(memory, bytesOfSlots(slots, pitch_, "gpuopt::Pipeline"));
    }

    unsigned char* of(std::size_t slot) const { return data_ != nullptr ? data_ + slot * pitch_ : nullptr; }

   private:
    std::size_t pitch_;
    unsigned char* data_ = nullptr;
  };

  std::vector<PooledStream> own_;  // destroyed last: the buffers give their memory back in a stream
  PipelineStreams streams_;
  OrderedMemory in_, out_;
  PinnedVector<unsigned char> hostIn_, hostOut_;
  Event begin_;
  std::vector<PipelineSlot> slots_;
  std::vector<PipelineTicket> tickets_;
};

GPUOPT_DETAIL_END
