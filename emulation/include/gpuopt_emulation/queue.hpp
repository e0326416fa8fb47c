/// The work of streams: done at once, or deferred until something waits for it.
///
/// Deferred work is a graph: each piece knows what has to be done before. Whoever waits for a piece does all of that
/// first, and nothing else. Several threads may do so at the same time, each other pieces: a kernel of one device may
/// wait for one of another.
// SPDX-License-Identifier: MIT
#pragma once

#include "capture.hpp"
#include "current_device.hpp"
#include "errors.hpp"
#include "observer.hpp"
#include "settings.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

struct CUstream_st {
  unsigned long long id;
  int device;
  unsigned flags;
  int priority;
  std::atomic<bool> isDestroyed{false};  ///< it is never freed: who still uses it is told so
  std::shared_ptr<std::mutex> order = std::make_shared<std::mutex>();  ///< held while one of its kernels runs
  gpuopt::emulation::detail::CapturePlace place{};                     ///< of a stream that is captured
};

namespace gpuopt::emulation {

/// When the work of streams is done.
enum class QueueMode {
  immediate,  ///< before the call that queues it returns
  deferred,   ///< when something waits for it
};

namespace detail {

/// GPUOPT_EMULATION_QUEUE=immediate|deferred
inline QueueMode environmentQueueMode() {
  const char* text = std::getenv("GPUOPT_EMULATION_QUEUE");
  const std::string mode = text != nullptr ? text : "";
  if (mode == "immediate" || mode.empty()) return QueueMode::immediate;
  if (mode == "deferred") return QueueMode::deferred;
  std::fprintf(stderr, "gpuopt emulation: GPUOPT_EMULATION_QUEUE=%s is neither immediate nor deferred\n", text);
  std::abort();
}

inline bool isLegacy(cudaStream_t stream) { return stream == nullptr || stream == cudaStreamLegacy; }
inline bool isBuiltIn(cudaStream_t stream) { return isLegacy(stream) || stream == cudaStreamPerThread; }

/// The device of a stream: a built-in one is that of the current device.
inline int deviceOf(cudaStream_t stream) { return isBuiltIn(stream) ? currentDevice : stream->device; }

inline bool isDestroyed(cudaStream_t stream) { return !isBuiltIn(stream) && stream->isDestroyed; }

/// Fails because a stream was destroyed.
inline cudaError_t destroyedStream(const std::string& call) {
  return failure(cudaErrorInvalidResourceHandle, call + ": the stream was destroyed");
}

inline bool isBlocking(cudaStream_t stream) {
  return isBuiltIn(stream) || (stream->flags & cudaStreamNonBlocking) == 0;
}

inline bool isCapturing(cudaStream_t stream) { return !isBuiltIn(stream) && stream->place.capture != nullptr; }

/// Adds a stream to a capture.
inline void beginCapture(cudaStream_t stream, const std::shared_ptr<Capture>& capture) {
  stream->place = {capture, {}};
  capture->streams.push_back(stream);
  if (isBlocking(stream)) ++blockingCaptures;
}

inline void endCapture(Capture& capture) {
  for (const cudaStream_t stream : capture.streams) {
    stream->place = {};
    if (isBlocking(stream)) --blockingCaptures;
  }
}

/// Whether some nodes come after all that the other streams of a capture have queued.
inline bool comesAfterAll(const std::vector<cudaGraphNode_t>& nodes, const Capture& capture) {
  std::vector<cudaGraphNode_t> reached = nodes;
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (const cudaGraphNode_t node : reached[i]->before)
      if (std::find(reached.begin(), reached.end(), node) == reached.end()) reached.push_back(node);
  return reached.size() == capture.graph->nodes.size();
}

/// Kernels of one stream, or of the blocking streams of a device, run one after the other, also where several host
/// threads launch them.
inline std::shared_ptr<std::mutex> kernelOrder(cudaStream_t stream) {
  static auto* const blocking = [] {
    auto* const all = new std::shared_ptr<std::mutex>[MAX_DEVICES];
    for (int i = 0; i < MAX_DEVICES; ++i) all[i] = std::make_shared<std::mutex>();
    return all;
  }();
  return isBlocking(stream) ? blocking[deviceOf(stream)] : stream->order;
}

/// A piece of work of a stream.
struct Work {
  std::function<cudaError_t()> run;
  std::function<bool()> begins;  ///< if not null: begins it, and returns whether run() would not wait for others
  std::vector<std::shared_ptr<Work>> before;  ///< what has to be done first
  bool isRunning = false;
  std::atomic<bool> isDone{false};
  std::atomic<cudaError_t> code{cudaSuccess};  ///< read by who queued it, too
  std::chrono::steady_clock::time_point end{};
  MomentPointer moment;  ///< null if nobody observes streams

  /// Returns whether there is nothing left to do first.
  bool isReady() {
    while (!before.empty() && before.back()->isDone) before.pop_back();
    return before.empty();
  }

  void finish() {
    code = moment == nullptr ? run() : runAt(moment, run);
    run = nullptr;
    begins = nullptr;
    end = std::chrono::steady_clock::now();
    isDone = true;
  }
};

using WorkPointer = std::shared_ptr<Work>;
using Works = std::vector<WorkPointer>;

class Queue {
 public:
  // Never destroyed, like all state of the emulation.
  static Queue& instance() {
    static Queue* const queue = new Queue;
    return *queue;
  }

  /// Appends work to a stream, which also waits for `other` first, if that is not null.
  WorkPointer append(cudaStream_t stream, std::function<cudaError_t()> run, const WorkPointer& other = nullptr) {
    return append(std::vector<cudaStream_t>{stream}, std::move(run), other != nullptr ? Works{other} : Works{});
  }

  /// The same for a piece of work that several streams have in common, and that waits for all of `others`.
  WorkPointer append(const std::vector<cudaStream_t>& streams, std::function<cudaError_t()> run, const Works& others,
                     std::function<bool()> begins = nullptr) {
    const auto work = std::make_shared<Work>();
    if (isCapturing(streams.front())) return captured(streams.front()->place, work, std::move(run));
    work->run = std::move(run);
    work->begins = std::move(begins);
    if (blockingCaptures > 0 && isLegacy(streams.front()))
      work->run = [] {
        return failure(cudaErrorStreamCaptureImplicit,
                       "work is queued in the default stream while a stream is captured that it would wait for");
      };
    work->moment = momentOf(streams, others);
    if (mode_ == QueueMode::immediate) {
      work->finish();
      return work;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const cudaStream_t stream : streams)
      for (WorkPointer& last : unfinished(stream)) work->before.push_back(std::move(last));
    for (const WorkPointer& other : others) work->before.push_back(other);
    for (const cudaStream_t stream : streams) streams_[keyOf(stream)] = {isBlocking(stream), work};
    return work;
  }

  /// Does a piece of work, and first all that comes before it, or waits for the threads that do it. Returns the first
  /// failure.
  cudaError_t wait(const WorkPointer& work) {
    std::unique_lock<std::mutex> lock(mutex_);
    cudaError_t code = cudaSuccess;
    std::vector<WorkPointer> path{work};
    while (!path.empty()) {
      const WorkPointer last = path.back();
      if (last->isDone) {
        path.pop_back();
      } else if (last->isRunning) {
        done_.wait(lock);
      } else if (!last->isReady()) {
        path.push_back(last->before.back());
      } else {
        finish(*last, lock);
        if (code == cudaSuccess) code = last->code;
      }
    }
    noteAwaited(*work);
    return code;
  }

  cudaError_t wait(cudaStream_t stream) {
    const cudaError_t code = wait(endOf(stream));
    noteAwaited(stream);
    return code;
  }

  /// Waits for what is queued on a device.
  cudaError_t waitForDevice(int device) {
    const cudaError_t code = waitFor([device](int other) { return other == device; });
    if (StreamObserver* const observer = streamObserver) observer->awaitedDevice(device);
    return code;
  }

  /// Whether a piece of work is done: cudaErrorNotReady if not, but then one piece more is done.
  cudaError_t query(WorkPointer work) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (work->isDone) {
      noteAwaited(*work);
      return cudaSuccess;
    }
    while (!work->isReady()) work = WorkPointer(work->before.back());
    if (work->isRunning || (work->begins != nullptr && !runAt(work->moment, work->begins))) return cudaErrorNotReady;
    finish(*work, lock);
    return work->code == cudaSuccess ? cudaErrorNotReady : work->code.load();
  }

  cudaError_t query(cudaStream_t stream) {
    const WorkPointer end = endOf(stream);
    if (!end->isReady()) return query(end);
    noteAwaited(stream);
    return cudaSuccess;
  }

  QueueMode mode() const { return mode_; }
  void setMode(QueueMode mode) {
    static_cast<void>(waitFor([](int) { return true; }));
    mode_ = mode;
  }

 private:
  struct Key {
    int device;
    unsigned long long id;   // of the stream
    std::thread::id thread;  // of the per-thread default streams
    friend bool operator<(const Key& a, const Key& b) {
      return std::tie(a.device, a.id, a.thread) < std::tie(b.device, b.id, b.thread);
    }
  };
  struct Stream {
    bool isBlocking;   // waits for the legacy default stream, and that for it
    WorkPointer last;  // the latest work
  };

  static Key keyOf(cudaStream_t stream) {
    const int device = deviceOf(stream);
    if (isLegacy(stream)) return {device, 0, {}};
    return stream == cudaStreamPerThread ? Key{device, 2, std::this_thread::get_id()} : Key{device, stream->id, {}};
  }

  static StreamName nameOf(cudaStream_t stream) {
    const Key key = keyOf(stream);
    return {key.device, key.id, key.thread, isBlocking(stream)};
  }

  static MomentPointer momentOf(const std::vector<cudaStream_t>& streams, const Works& others) {
    StreamObserver* const observer = streamObserver;
    if (observer == nullptr) return nullptr;
    std::vector<StreamName> names;
    for (const cudaStream_t stream : streams) names.push_back(nameOf(stream));
    std::vector<MomentPointer> after;
    for (const WorkPointer& other : others) after.push_back(other->moment);
    return observer->queued(names, after);
  }

  /// The host knows that work, or all work of a stream, is done.
  static void noteAwaited(const Work& work) {
    StreamObserver* const observer = streamObserver;
    if (observer != nullptr && work.moment != nullptr) observer->awaited(work.moment);
  }
  static void noteAwaited(cudaStream_t stream) {
    if (StreamObserver* const observer = streamObserver) observer->awaited(nameOf(stream));
  }

  /// Makes a node of a graph instead; nothing is left to do.
  static WorkPointer captured(CapturePlace& place, const WorkPointer& work, std::function<cudaError_t()> run) {
    place.last = {place.capture->graph->add(std::move(run), place.last)};
    work->isDone = true;
    return work;
  }

  /// What the next work of a stream has to wait for.
  std::vector<WorkPointer> unfinished(cudaStream_t stream) {
    const Key own = keyOf(stream);
    std::vector<WorkPointer> found;
    for (auto entry = streams_.begin(); entry != streams_.end();) {
      const auto& [key, other] = *entry;
      const bool isSame = key.id == own.id && key.thread == own.thread;
      const bool isLegacyAndBlocking = isBlocking(stream) && other.isBlocking && (key.id == 0 || own.id == 0);
      if (other.last->isDone) {
        entry = streams_.erase(entry);
        continue;
      }
      if (key.device == own.device && (isSame || isLegacyAndBlocking)) found.push_back(other.last);
      ++entry;
    }
    return found;
  }

  /// Work that comes after all of a stream, and that nothing waits for.
  WorkPointer endOf(cudaStream_t stream) {
    const auto end = std::make_shared<Work>();
    const std::lock_guard<std::mutex> lock(mutex_);
    end->run = [] { return cudaSuccess; };
    end->before = unfinished(stream);
    return end;
  }

  /// Does a piece of work, unlocked meanwhile.
  void finish(Work& work, std::unique_lock<std::mutex>& lock) {
    work.isRunning = true;
    lock.unlock();
    work.finish();
    lock.lock();
    work.isRunning = false;
    done_.notify_all();
  }

  template <class IsMeant>
  cudaError_t waitFor(IsMeant isMeant) {
    std::vector<WorkPointer> queued;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (const auto& [key, stream] : streams_)
        if (isMeant(key.device)) queued.push_back(stream.last);
    }
    cudaError_t code = cudaSuccess;
    for (const WorkPointer& work : queued) {
      const cudaError_t next = wait(work);
      if (code == cudaSuccess) code = next;
    }
    return code;
  }

  std::atomic<QueueMode> mode_{environmentQueueMode()};
  std::mutex mutex_;
  std::condition_variable done_;   // a piece of work
  std::map<Key, Stream> streams_;  // those with work to do: a destroyed stream's work is done, too
};

/// Does work in the order of a stream: now, or when something waits for it. Returns its code if it is done.
inline cudaError_t submit(cudaStream_t stream, std::function<cudaError_t()> run) {
  if (isDestroyed(stream)) return destroyedStream("work is queued");
  return Queue::instance().append(stream, std::move(run))->code;
}

/// The same for work of which a captured stream makes a node of a type.
inline cudaError_t submitAs(cudaGraphNodeType type, cudaStream_t stream, std::function<cudaError_t()> run) {
  const cudaError_t code = submit(stream, std::move(run));
  if (isCapturing(stream)) stream->place.last.front()->type = type;
  return code;
}

}  // namespace detail

/// Sets when the work of streams is done, instead of the environment. Does all that is queued first.
inline void setQueueMode(QueueMode mode) { detail::Queue::instance().setMode(mode); }

/// The mode in force.
inline QueueMode queueMode() { return detail::Queue::instance().mode(); }

}  // namespace gpuopt::emulation
