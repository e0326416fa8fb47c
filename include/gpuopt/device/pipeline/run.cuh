/// \file
/// One run of a pipeline, as planPipeline says: fills slots, queues copies and work, and settles each chunk when it
/// has left the device and the sink has taken it.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/pipeline/ends.cuh>
#include <gpuopt/device/pipeline/plan.cuh>
#include <gpuopt/device/pipeline/slots.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/stream_watch.cuh>
#include <gpuopt/pipeline_types.cuh>

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// Settles chunks in their order. A sink that copies or calls back does so in a thread of its own, beside the thread
// that fills and queues.
class ChunkSettler {
 public:
  ChunkSettler(PipelineSlots& slots, ChunkSink* sink) : slots_(slots), sink_(sink), device_(currentDevice()) {
    if (sink != nullptr && sink->isStaged()) thread_ = std::thread([this] { settleAll(); });
  }
  ~ChunkSettler() { stop(); }
  ChunkSettler(const ChunkSettler&) = delete;
  ChunkSettler& operator=(const ChunkSettler&) = delete;

  // One chunk more is queued.
  void add() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++queued_;
    changed_.notify_all();
  }

  // Waits until that many chunks are settled, or the sink has refused one. Throws what the sink has thrown.
  void waitFor(std::size_t chunks) {
    if (!thread_.joinable()) {
      while (settled_ < chunks && !isRefused_) settleNext();
      return;
    }
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return settled_ >= chunks || isRefused_ || error_ != nullptr; });
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

  // What is settled, and whether the sink has refused to go on.
  PipelineResult result() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return {elements_, settled_, isRefused_};
  }

  // Settles no further chunk. The sink is not called any more when this returns.
  void stop() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      isStopped_ = true;
      changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  void settleNext() {
    const PipelineTicket& ticket = slots_.ticketOf(settled_);
    ticket.done.wait();
    const bool isTaken = sink_ == nullptr || sink_->take(ticket.target, ticket.first, ticket.count);
    const std::lock_guard<std::mutex> lock(mutex_);
    isRefused_ = !isTaken;
    if (isTaken) elements_ += ticket.count, ++settled_;
    changed_.notify_all();
  }

  bool waitForChunk() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return isStopped_ || isRefused_ || settled_ < queued_; });
    return !isStopped_ && !isRefused_;
  }

  void settleAll() noexcept {
    try {
      check(cudaSetDevice(device_), "cudaSetDevice");
      while (waitForChunk()) settleNext();
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      error_ = std::current_exception();
      changed_.notify_all();
    }
  }

  PipelineSlots& slots_;
  ChunkSink* sink_;
  int device_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t queued_ = 0, settled_ = 0, elements_ = 0;
  bool isRefused_ = false, isStopped_ = false;
  std::exception_ptr error_;
  std::thread thread_;  // last: it uses all the others
};

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

// The types of both ends. Calls without a chunk's work use it, too.
template <class Chunk>
constexpr bool requireCopyable() {
  constexpr bool COPIES = ChunkTypes<Chunk>::areCopyable;
  static_assert(COPIES, "gpuopt::Pipeline: the elements at both ends must be trivially copyable");
  return true;
}

// Queues the kernels of a chunk in its stream.
class ChunkWork {
 public:
  virtual ~ChunkWork() = default;
  virtual void queue(const RawChunk& chunk) = 0;
};

// Work of the caller's.
template <class Chunk, class Work>
class TypedWork final : public ChunkWork {
 public:
  explicit TypedWork(const Work& work) : work_(work) {}
  void queue(const RawChunk& chunk) override { work_(ChunkTypes<Chunk>::of(chunk)); }

 private:
  const Work& work_;
};

// Bytes of an element at each end; 0 without a sink.
struct ElementBytes {
  std::size_t in, out;
};

// The request of a run, whose options are checked. A known length limits the chunks.
inline PipelineRequest pipelineRequest(const PipelineOptions& options, const ChunkSource& source, const ChunkSink* sink,
                                       ElementBytes bytes) {
  requireNotCaptured(options);
  const std::size_t length = source.length();
  if (sink != nullptr && length != unknownLength) sink->requireRoom(length);
  if (length == unknownLength) requireSize(options.chunkBytes, {"options.chunkBytes"}, "gpuopt::Pipeline");
  const auto slots = static_cast<int>(options.slots);
  if (slots < 0) throwInvalid({"gpuopt::Pipeline: options.slots (", slots, ") is negative"});
  PipelineRequest request;
  request.length = length;
  request.inBytes = bytes.in;
  request.outBytes = bytes.out;
  request.chunkBytes = options.chunkBytes;
  request.slots = options.slots;
  request.isFilled = source.isStaged();
  request.isDrained = sink != nullptr && sink->isStaged();
  return request;
}

class PipelineRun {
 public:
  PipelineRun(const PipelineOptions& options, const PipelinePlan& plan, PipelineSlots& slots, ChunkSource& source,
              ChunkSink* sink)
      : options_(options), plan_(plan), slots_(slots), source_(source), sink_(sink) {}

  PipelineResult operator()(ChunkWork& work) {
    [[maybe_unused]] const CallRange range("gpuopt::Pipeline::run");
    const RelaxedCapture relaxed;
    slots_.reserve(plan_);
    slots_.begin().order(options_.after, slots_.streams().work);  // the work may read what earlier kernels write
    if (sink_ != nullptr) sink_->begin(source_);
    ChunkSettler settler(slots_, sink_);
    try {
      std::size_t chunks = 0;
      while (goesOn(settler, chunks) && queueNext(chunks, work)) ++chunks, settler.add();
      finish(settler, chunks);
    } catch (...) {
      settler.stop();
      slots_.drain();
      throw;
    }
    return result_;
  }

 private:
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
    if (isNew && !options_.progress(result_.elements, plan_.request.length == unknownLength ? 0 : plan_.request.length))
      result_.isCancelled = true;
    return !result_.isCancelled;
  }

  // Fills a slot and queues its chunk. False at the end of the source.
  bool queueNext(std::size_t index, ChunkWork& work) {
    PipelineSlot& slot = slots_.slotOf(index);
    if (slot.hostIn != nullptr) fillAhead(slot, slots_.slotOf(index + 1), index);
    const SourceChunk chunk = source_.next(slot.hostIn, plan_.chunkElements);
    if (chunk.count == 0) return false;
    PipelineTicket& ticket = slots_.ticketOf(index);
    ticket.first = queued_;
    ticket.count = chunk.count;
    queued_ += chunk.count;
    if (sink_ != nullptr) sink_->requireRoom(queued_);
    queueElements(slot, chunk);
    const cudaStream_t stream = slots_.streams().work;
    const StreamWatch watch(stream);
    work.queue({slot.in, slot.out, ticket.count, ticket.first, index, stream});
    watch.require("gpuopt::Pipeline", "chunk.stream");
    slot.worked.record(stream);
    if (sink_ != nullptr) queueResults(slot, ticket);
    ticket.done.record(sink_ != nullptr ? slots_.streams().down : stream);
    return true;
  }

  // Begins to fill the next slot, too, if its last chunk has left it: then helpers need not be woken for each chunk. Of
  // a gigabyte by chunks of 8 MiB, a sum reaches 53 GB/s instead of 38 (H200, 2026-11-23).
  void fillAhead(const PipelineSlot& slot, const PipelineSlot& next, std::size_t index) {
    if (begun_ <= index) {
      slot.arrived.wait();
      begun_ = index + (source_.begin(slot.hostIn, plan_.chunkElements) ? 1 : 0);
    }
    if (begun_ != index + 1 || !plan_.fillsAhead || !next.arrived.isDone()) return;
    if (source_.begin(next.hostIn, plan_.chunkElements)) ++begun_;
  }

  // Each stream waits until the slot's last chunk has left the memory that it writes.
  void queueElements(const PipelineSlot& slot, const SourceChunk& chunk) {
    const PipelineStreams& streams = slots_.streams();
    slot.worked.makeWait(streams.up);
    copyAsync(slot.in, chunk.data, chunk.count * plan_.request.inBytes, streams.up);
    slot.arrived.order(streams.up, streams.work);
    if (sink_ != nullptr) slot.left.makeWait(streams.work);
  }

  void queueResults(PipelineSlot& slot, PipelineTicket& ticket) {
    const cudaStream_t down = slots_.streams().down;
    void* const target = sink_->target(slot.hostOut, ticket.first);
    ticket.target = target;
    slot.worked.makeWait(down);
    copyAsync(target, slot.out, ticket.count * plan_.request.outBytes, down);
    slot.left.record(down);
  }

  // All chunks that are queued reach the sink, unless it has refused one. Work that was refused is waited for.
  void finish(ChunkSettler& settler, std::size_t chunks) {
    while (result_.chunks < chunks && !settler.result().isCancelled) settle(settler, result_.chunks + 1);
    settler.stop();
    slots_.drain();
    if (sink_ != nullptr) sink_->finish();
  }

  const PipelineOptions& options_;
  const PipelinePlan& plan_;
  PipelineSlots& slots_;
  ChunkSource& source_;
  ChunkSink* sink_;
  std::size_t queued_ = 0, begun_ = 0;
  PipelineResult result_;
};

GPUOPT_DETAIL_END
