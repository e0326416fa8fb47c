/// \file
/// One run of a pipeline: fills slots, queues copies and work, and waits.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/device/pipeline/ends.cuh>
#include <gpuopt/device/pipeline/options.cuh>
#include <gpuopt/device/pipeline/settler.cuh>
#include <gpuopt/device/pipeline/slots.cuh>
#include <gpuopt/device/pipeline/tuning.cuh>
#include <gpuopt/host/stream_watch.cuh>

#include <cstddef>
#include <functional>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// A chunk without its types.
struct RawChunk {
  void *in, *out;
  std::size_t count, first, index;
  cudaStream_t stream;
};

template <class Chunk>
struct ChunkTypes;
template <class In, class Out>
struct ChunkTypes<PipelineChunk<In, Out>> {
  static constexpr bool areCopyable =
      std::is_trivially_copyable_v<In> && (std::is_void_v<Out> || std::is_trivially_copyable_v<Out>);

  static PipelineChunk<In, Out> of(const RawChunk& raw) {
    return {static_cast<In*>(raw.in), static_cast<Out*>(raw.out), raw.count, raw.first, raw.index, raw.stream};
  }
};

// Bytes of an element at each end; 0 without a sink.
struct ElementBytes {
  std::size_t in, out;
  std::size_t larger() const { return largerOf(in, out); }
};

class PipelineRun {
 public:
  using Work = std::function<void(const RawChunk&)>;

  PipelineRun(const PipelineOptions& options, PipelineSlots& slots, ChunkSource& source, ChunkSink* sink,
              ElementBytes bytes)
      : options_(options), slots_(slots), source_(source), sink_(sink), bytes_(bytes), length_(source.length()) {}

  PipelineResult operator()(const Work& work) {
    requireNotCaptured(options_);
    if (sink_ != nullptr && length_ != unknownLength) sink_->requireRoom(length_);
    const RelaxedCapture relaxed;
    const std::size_t capacity = prepare();
    waitForCaller();
    if (sink_ != nullptr) sink_->begin(source_);
    ChunkSettler settler(slots_, sink_);
    try {
      std::size_t chunks = 0;
      while (goesOn(settler, chunks) && queueNext(chunks, capacity, work)) ++chunks, settler.add();
      finish(settler, chunks);
    } catch (...) {
      settler.stop();
      slots_.drain();
      throw;
    }
    return result_;
  }

 private:
  // A known length limits the chunks.
  void requireOptions() const {
    if (length_ == unknownLength) requireSize(options_.chunkBytes, {"options.chunkBytes"}, "gpuopt::Pipeline");
    const auto slots = static_cast<int>(options_.slots);
    if (slots < 0) throwInvalid({"gpuopt::Pipeline: options.slots (", slots, ") is negative"});
  }

  // Makes the slots; returns the most elements of a chunk.
  std::size_t prepare() {
    requireOptions();
    const bool isFilled = source_.isStaged(), isDrained = sink_ != nullptr && sink_->isStaged();
    const std::size_t capacity = chunkElements(length_, bytes_.larger(), options_.chunkBytes, sink_ != nullptr);
    const std::size_t in = capacity * bytes_.in, out = capacity * bytes_.out;
    const unsigned slots = options_.slots != 0 ? options_.slots : slotsFor(isFilled, isDrained);
    const unsigned tickets = isDrained ? slots : largerOf(slots, chunksAhead);  // the sink gives slots back
    const std::size_t chunks =
        length_ == unknownLength ? tickets : largerOf(ceilDivide(length_, capacity), std::size_t{1});
    slots_.reserve(smallerOf<std::size_t>(slots, chunks), smallerOf<std::size_t>(tickets, chunks),
                   {isFilled ? in : 0, in, out, isDrained ? out : 0});
    return capacity;
  }

  // The work may read what the caller's earlier kernels write.
  void waitForCaller() {
    slots_.begin().record(options_.after);
    slots_.begin().makeWait(slots_.streams().work);
  }

  // Waits for the ticket of the next chunk. False if the run is cancelled.
  bool goesOn(ChunkSettler& settler, std::size_t chunks) {
    const std::size_t count = slots_.ticketCount();
    return !isCancelled() && (chunks < count || settle(settler, chunks - count + 1));
  }

  bool isCancelled() {
    if (options_.cancel != nullptr && options_.cancel->load()) result_.isCancelled = true;
    return result_.isCancelled;
  }

  // Waits until that many chunks are settled, and reports them.
  bool settle(ChunkSettler& settler, std::size_t chunks) {
    settler.waitFor(chunks);
    const bool wasCancelled = result_.isCancelled;
    const std::size_t before = result_.chunks;
    result_ = settler.result();
    result_.isCancelled = result_.isCancelled || wasCancelled;
    const bool isNew = result_.chunks > before && !wasCancelled && options_.progress != nullptr;
    if (isNew && !options_.progress(result_.elements, length_ == unknownLength ? 0 : length_))
      result_.isCancelled = true;
    return !result_.isCancelled;
  }

  // Fills a slot and queues its chunk. False at the end of the source.
  bool queueNext(std::size_t index, std::size_t capacity, const Work& work) {
    PipelineSlot& slot = slots_.slotOf(index);
    if (slot.hostIn != nullptr) fillAhead(slot, slots_.slotOf(index + 1), index, capacity);
    const SourceChunk chunk = source_.next(slot.hostIn, capacity);
    if (chunk.count == 0) return false;
    PipelineTicket& ticket = slots_.ticketOf(index);
    ticket.first = queued_;
    ticket.count = chunk.count;
    queued_ += chunk.count;
    if (sink_ != nullptr) sink_->requireRoom(queued_);
    queueWork(slot, chunk, {slot.in, slot.out, ticket.count, ticket.first, index, slots_.streams().work}, work);
    if (sink_ != nullptr) queueResults(slot, ticket);
    ticket.done.record(sink_ != nullptr ? slots_.streams().down : slots_.streams().work);
    return true;
  }

  // Begins to fill the next slot, too, if its last chunk has left it: then helpers need not be woken for each chunk. Of
  // a gigabyte by chunks of 8 MiB, a sum reaches 53 GB/s instead of 38 (H200, 2026-11-23). Where the sink needs the
  // helpers, too, only small chunks: both ways by chunks of 16 MiB went from 75 down to 56, by 8 MiB from 58 up to 71
  // (H100, 2026-11-27).
  void fillAhead(const PipelineSlot& slot, const PipelineSlot& next, std::size_t index, std::size_t capacity) {
    if (begun_ <= index) {
      slot.arrived.wait();
      begun_ = index + (source_.begin(slot.hostIn, capacity) ? 1 : 0);
    }
    if (begun_ != index + 1 || &next == &slot ||
        (sink_ != nullptr && sink_->isStaged() && capacity * bytes_.larger() > largestSinkChunkBytes))
      return;
    const cudaError_t code = cudaEventQuery(next.arrived);
    forgetError(code);
    if (code == cudaSuccess && source_.begin(next.hostIn, capacity)) ++begun_;
  }

  // Each stream waits until the slot's last chunk has left the memory that it writes.
  void queueWork(PipelineSlot& slot, const SourceChunk& chunk, const RawChunk& raw, const Work& work) {
    const PipelineStreams& streams = slots_.streams();
    slot.worked.makeWait(streams.up);
    copy(slot.in, chunk.data, chunk.count * bytes_.in, streams.up);
    slot.arrived.record(streams.up);
    slot.arrived.makeWait(streams.work);
    if (sink_ != nullptr) slot.left.makeWait(streams.work);
    const StreamWatch watch(streams.work);
    work(raw);
    watch.require("gpuopt::Pipeline", "chunk.stream");
    slot.worked.record(streams.work);
  }

  void queueResults(PipelineSlot& slot, PipelineTicket& ticket) {
    const cudaStream_t down = slots_.streams().down;
    void* const target = sink_->target(slot.hostOut, ticket.first);
    ticket.target = target;
    slot.worked.makeWait(down);
    copy(target, slot.out, ticket.count * bytes_.out, down);
    slot.left.record(down);
  }

  static void copy(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
  }

  // All chunks that are queued reach the sink, unless it has refused one. Work that was refused is waited for.
  void finish(ChunkSettler& settler, std::size_t chunks) {
    while (result_.chunks < chunks && !settler.result().isCancelled) settle(settler, result_.chunks + 1);
    settler.stop();
    slots_.drain();
    if (sink_ != nullptr) sink_->finish();
  }

  const PipelineOptions& options_;
  PipelineSlots& slots_;
  ChunkSource& source_;
  ChunkSink* sink_;
  ElementBytes bytes_;
  std::size_t length_, queued_ = 0, begun_ = 0;
  PipelineResult result_;
};

GPUOPT_DETAIL_END
