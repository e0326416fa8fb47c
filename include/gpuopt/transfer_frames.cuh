/// \file
/// Frames from a camera or another source in real time: one thread produces them, the device works on them, another
/// thread takes the results. A fixed number of frames is on the way, and latency is measured.
///
///     gpuopt::FrameRing<unsigned short, float> ring(pixels, 1, [&](const auto& frame) {   // queues kernels
///       gpuopt::reduceInto<float>(frame.in, pixels, frame.out, frame.stream);
///     });
///     ring.run([&](unsigned short* frame) { return camera.read(frame); },         // in a thread of its own
///              [&](const gpuopt::Frame<float>& frame) { show(frame.data[0] / pixels); });
///
/// **Errors.** Bad arguments throw std::invalid_argument, errors of the runtime CudaError. Too much pinned memory is
/// std::runtime_error.
///
/// More: docs/pipelines.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/device/pipeline/ends.cuh>
#include <gpuopt/device/pipeline/frame_slots.cuh>
#include <gpuopt/device/pipeline/plan.cuh>
#include <gpuopt/device/pipeline/tuning.cuh>
#include <gpuopt/pipeline_types.cuh>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

GPUOPT_NAMESPACE_BEGIN

/// Who gives way when no slot is free for a new frame.
enum class FramePolicy {
  wait,       ///< the producer waits for the consumer: no frame is lost
  dropOldest  ///< a new frame displaces the oldest that the consumer has not taken yet: the latest ones are seen
};

/// How the device gets at frames.
enum class FrameTransfer {
  copy,   ///< copied to the device's memory and back: for kernels that read an element more than once
  mapped  ///< kernels read and write pinned memory through the link: the shortest latency for one pass
};

/// What can be chosen about a ring of frames.
struct FrameOptions {
  /// Frames on the way: produced, on the device, or consumed; 2 or more. With dropOldest one slot is added, so that no
  /// frame is dropped before another one is there.
  std::size_t slots = 3;
  FramePolicy policy = FramePolicy::wait;        ///< what happens when all are taken
  FrameTransfer transfer = FrameTransfer::copy;  ///< how the device gets at frames
};

namespace detail {

// The request of a ring, checked.
template <class In, class Out>
FramesRequest framesRequest(std::size_t inCount, std::size_t outCount, const FrameOptions& options,
                            const char* function) {
  requireSize(inCount, {"inCount"}, function, sizeof(In));
  requireSize(outCount, {"outCount"}, function, sizeof(Out));
  if (inCount == 0 || outCount == 0)
    throwInvalid({function, ": a frame of ", inCount, " elements has ", outCount, " results: both must be 1 or more"});
  requireSize(options.slots, {"slots"}, function);
  if (options.slots < 2) throwInvalid({function, ": slots is ", options.slots, ", but 2 or more are needed"});
  return {inCount * sizeof(In), outCount * sizeof(Out), options.slots, options.policy == FramePolicy::dropOldest,
          options.transfer == FrameTransfer::mapped};
}

}  // namespace detail

/// A frame on the device, for the work.
///
/// \tparam In,Out an element of a frame and of its results
template <class In, class Out>
struct FrameTask {
  const In* in;         ///< the frame
  Out* out;             ///< its results
  std::size_t number;   ///< number of the frame, from 0 on
  cudaStream_t stream;  ///< where the work queues its kernels
};

/// The results of a frame, for the consumer.
///
/// \tparam Out an element of them
template <class Out>
struct Frame {
  const Out* data = nullptr;            ///< the results, until the next frame is asked for; null: there are no more
  std::size_t number = 0;               ///< number of the frame; numbers that are missing were dropped
  std::chrono::nanoseconds latency{0};  ///< from produced to here

  /// Whether there is one.
  explicit operator bool() const { return data != nullptr; }
};

/// What a ring has done so far.
struct FrameStatistics {
  std::size_t produced = 0;  ///< frames submitted
  std::size_t consumed = 0;  ///< frames that the consumer has got
  std::size_t dropped = 0;   ///< frames that it never will
  FrameLatency latency;      ///< of those consumed, from submitted to consumed
};

/// A ring of slots for frames of one size. One thread produces frames, one consumes them; run() makes both.
///
///     while (In* frame = ring.acquire()) { fill(frame); ring.submit(); }        // one thread,
///     ring.close();                                                             // at its end
///     while (const gpuopt::Frame<Out> frame = ring.next()) use(frame.data);     // another thread
///
/// The work of a frame follows that of the frame before, so that both may use the same memory, for example for what
/// moves between them. Copies of neighbouring frames run at once.
///
/// \tparam In,Out an element of a frame and of its results
template <class In, class Out>
class FrameRing {
  static_assert(std::is_trivially_copyable_v<In> && std::is_trivially_copyable_v<Out>,
                "gpuopt::FrameRing: the elements of frames and results must be trivially copyable");

 public:
  /// Queues the kernels of one frame; called by the producer.
  using Work = std::function<void(const FrameTask<In, Out>&)>;

  /// Allocates pinned memory, and on the device as much, for all slots.
  ///
  /// \param inCount,outCount elements of a frame and of its results
  /// \param work queues the kernels of one frame; called by submit()
  /// \param options slots, policy, transfer
  FrameRing(std::size_t inCount, std::size_t outCount, Work work, const FrameOptions& options = {})
      : policy_(options.policy),
        work_(std::move(work)),
        slots_(detail::planFrames(detail::framesRequest<In, Out>(inCount, outCount, options, "gpuopt::FrameRing"))) {
    queued_.reserve(slots_.count());
    for (std::size_t i = 0; i < slots_.count(); ++i) free_.push_back(&slots_[i]);
  }

  /// Waits for the device. Neither thread may be using the ring any more.
  ~FrameRing() = default;
  FrameRing(const FrameRing&) = delete;
  FrameRing& operator=(const FrameRing&) = delete;

  /// Pinned memory for the next frame; null if the ring is closed. Waits for a slot; if frames are dropped, only until
  /// the device is done with a dropped one.
  [[nodiscard]] In* acquire() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return isClosed_ || filling_ != nullptr || !free_.empty(); });
    if (isClosed_) return nullptr;
    if (filling_ != nullptr) return inOf(*filling_);
    filling_ = takeFirst(free_);
    lock.unlock();
    filling_->done.wait();
    return inOf(*filling_);
  }

  /// The same without waiting: null if no slot is free at this moment, so that a producer can leave a frame out instead
  /// of being late for the next one; null also if the ring is closed. submit() passes the frame on.
  [[nodiscard]] In* tryAcquire() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (isClosed_) return nullptr;
    if (filling_ != nullptr) return inOf(*filling_);
    if (free_.empty() || !free_.front()->done.isDone()) return nullptr;  // the device may still read a dropped frame
    filling_ = takeFirst(free_);
    return inOf(*filling_);
  }

  /// Passes the frame of acquire() or tryAcquire() on to the device; drops the oldest frame, if the policy says so and
  /// no slot is left. If the work throws, so does this, and the frame is not submitted.
  void submit() {
    detail::FrameSlot* const slot = filling_;
    if (slot == nullptr) detail::throwInvalid({"gpuopt::FrameRing: submit() without a frame of acquire()"});
    slot->produced = std::chrono::steady_clock::now();
    slot->number = statistics_.produced;
    queue(*slot);
    const std::lock_guard<std::mutex> lock(mutex_);
    filling_ = nullptr;
    ++statistics_.produced;
    queued_.push_back(slot);
    if (policy_ == FramePolicy::dropOldest && free_.empty()) {
      free_.push_back(takeFirst(queued_));
      ++statistics_.dropped;
    }
    isWaking_.store(true, std::memory_order_release);
    changed_.notify_all();
  }

  /// The results of the next frame, as soon as it is there; none if the ring is closed and all are consumed. Gives the
  /// frame before back. Throws what close() was given, after the last frame.
  [[nodiscard]] Frame<Out> next() {
    giveBack();
    spin();
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return isClosed_ || !queued_.empty(); });
    if (queued_.empty()) {
      if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
      return {};
    }
    held_ = takeFirst(queued_);
    isWaking_.store(isClosed_ || !queued_.empty(), std::memory_order_relaxed);
    lock.unlock();
    held_->done.wait();
    const auto latency = std::chrono::steady_clock::now() - held_->produced;
    lock.lock();
    ++statistics_.consumed;
    statistics_.latency.add(latency);
    return {reinterpret_cast<const Out*>(held_->hostOut), held_->number, latency};
  }

  /// No further frames: acquire() returns null, and next() none after those that are on their way. Any thread may call
  /// it.
  ///
  /// \param error what next() throws at the end
  void close(std::exception_ptr error = nullptr) {
    const std::lock_guard<std::mutex> lock(mutex_);
    isClosed_ = true;
    isWaking_.store(true, std::memory_order_release);
    if (error_ == nullptr) error_ = std::move(error);
    changed_.notify_all();
  }

  /// Produces frames in a thread of its own and consumes them in the calling one, until there are no more. The ring is
  /// closed then.
  ///
  /// What either throws reaches the caller, after the other has ended.
  ///
  /// \param produce `bool produce(In* frame)` fills a frame; false: there was none, and there will be none
  /// \param consume `consume(const Frame<Out>&)` returns nothing, or whether to go on
  template <class Produce, class Consume>
  void run(const Produce& produce, const Consume& consume) {
    const int device = currentDevice();
    std::thread producer([&] { produceAll(device, produce); });
    const Joiner joiner{*this, producer};
    while (const Frame<Out> frame = next())
      if (!detail::goesOn(consume, frame)) break;
  }

  /// What has become of the frames so far.
  [[nodiscard]] FrameStatistics statistics() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return statistics_;
  }

 private:
  struct Joiner {
    FrameRing& ring;
    std::thread& producer;
    ~Joiner() {
      ring.close();
      producer.join();
    }
  };

  static In* inOf(detail::FrameSlot& slot) { return reinterpret_cast<In*>(slot.hostIn); }

  static detail::FrameSlot* takeFirst(std::vector<detail::FrameSlot*>& slots) {
    detail::FrameSlot* const first = slots.front();
    slots.erase(slots.begin());
    return first;
  }

  void giveBack() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (held_ == nullptr) return;
    free_.push_back(std::exchange(held_, nullptr));
    changed_.notify_all();
  }

  // The consumer looks for the next frame for a while without a lock.
  void spin() const {
    const auto end = std::chrono::steady_clock::now() + detail::frameSpin;
    while (!isWaking_.load(std::memory_order_acquire) && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
  }

  void queue(detail::FrameSlot& slot) {
    try {
      slots_.queue(slot, [this](const detail::FrameSlot& frame) {
        work_({reinterpret_cast<const In*>(frame.in), reinterpret_cast<Out*>(frame.out), frame.number, frame.stream});
      });
    } catch (...) {
      detail::forgetError(cudaStreamSynchronize(slot.stream));
      throw;
    }
  }

  template <class Produce>
  void produceAll(int device, const Produce& produce) noexcept {
    try {
      check(cudaSetDevice(device), "cudaSetDevice");
      while (In* const frame = acquire()) {
        if (!produce(frame)) break;
        submit();
      }
      close();
    } catch (...) {
      close(std::current_exception());
    }
  }

  FramePolicy policy_;
  Work work_;
  detail::FrameSlots slots_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<detail::FrameSlot*> free_, queued_;
  detail::FrameSlot *filling_ = nullptr, *held_ = nullptr;  // of the producer, of the consumer
  bool isClosed_ = false;
  std::atomic<bool> isWaking_{false};  // there are frames for the consumer, or the end
  std::exception_ptr error_;
  FrameStatistics statistics_;
};

/// Says in one line how a FrameRing<In, Out> of these arguments moves frames: slots, memory, copies, and why. Nothing
/// is allocated. Errors are those of the ring. The words may change from version to version.
///
/// \tparam In,Out an element of a frame and of its results
/// \param inCount,outCount elements of a frame and of its results
/// \param options slots, policy, transfer
template <class In, class Out>
[[nodiscard]] std::string explainFrames(std::size_t inCount, std::size_t outCount, const FrameOptions& options = {}) {
  const auto request = detail::framesRequest<In, Out>(inCount, outCount, options, "gpuopt::explainFrames");
  return detail::planInWords(detail::planFrames(request));
}

GPUOPT_NAMESPACE_END
