/// The work of streams: done at once, or deferred until something waits for it.
///
/// Deferred work is a graph: each piece knows what has to be done before. Whoever waits for a piece does all of that
/// first, and nothing else.
// SPDX-License-Identifier: MIT
#pragma once

#include "errors.hpp"
#include "settings.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

struct CUstream_st {
  unsigned long long id;
  unsigned flags;
  int priority;
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

/// A piece of work of a stream.
struct Work {
  std::function<cudaError_t()> run;
  std::vector<std::shared_ptr<Work>> before;  ///< what has to be done first
  bool isDone = false;
  std::atomic<cudaError_t> code{cudaSuccess};  ///< read by who queued it, too
  std::chrono::steady_clock::time_point end{};

  /// Returns whether there is nothing left to do first.
  bool isReady() {
    while (!before.empty() && before.back()->isDone) before.pop_back();
    return before.empty();
  }

  void finish() {
    code = run();
    run = nullptr;
    end = std::chrono::steady_clock::now();
    isDone = true;
  }
};

using WorkPointer = std::shared_ptr<Work>;

class Queue {
 public:
  // Never destroyed, like all state of the emulation.
  static Queue& instance() {
    static Queue* const queue = new Queue;
    return *queue;
  }

  /// Appends work to a stream, which also waits for `other` first, if that is not null.
  WorkPointer append(cudaStream_t stream, std::function<cudaError_t()> run, const WorkPointer& other = nullptr) {
    const auto work = std::make_shared<Work>();
    work->run = std::move(run);
    if (mode_ == QueueMode::immediate) {
      work->finish();
      return work;
    }
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    work->before = unfinished(stream);
    if (other != nullptr) work->before.push_back(other);
    streams_[keyOf(stream)] = {isBlocking(stream), work};
    return work;
  }

  /// Does a piece of work, and first all that comes before it. Returns the first failure.
  cudaError_t wait(const WorkPointer& work) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    cudaError_t code = cudaSuccess;
    std::vector<WorkPointer> path{work};
    while (!path.empty()) {
      const WorkPointer last = path.back();
      if (!last->isDone && !last->isReady()) {
        path.push_back(last->before.back());
        continue;
      }
      path.pop_back();
      if (last->isDone) continue;
      last->finish();
      if (code == cudaSuccess) code = last->code;
    }
    return code;
  }

  cudaError_t wait(cudaStream_t stream) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    return wait(endOf(stream));
  }

  cudaError_t waitForAll() {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    cudaError_t code = cudaSuccess;
    while (!streams_.empty()) {
      const cudaError_t next = wait(streams_.begin()->second.last);
      if (code == cudaSuccess) code = next;
      streams_.erase(streams_.begin());
    }
    return code;
  }

  /// Whether a piece of work is done: cudaErrorNotReady if not, but then one piece more is done.
  cudaError_t query(WorkPointer work) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    if (work->isDone) return cudaSuccess;
    while (!work->isReady()) work = WorkPointer(work->before.back());
    work->finish();
    return work->code == cudaSuccess ? cudaErrorNotReady : work->code.load();
  }

  cudaError_t query(cudaStream_t stream) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    const WorkPointer end = endOf(stream);
    return end->isReady() ? cudaSuccess : query(end);
  }

  QueueMode mode() const { return mode_; }
  void setMode(QueueMode mode) {
    static_cast<void>(waitForAll());
    mode_ = mode;
  }

 private:
  struct Key {
    unsigned long long id;   // of the stream
    std::thread::id thread;  // of the per-thread default streams
    friend bool operator<(const Key& a, const Key& b) { return a.id < b.id || (a.id == b.id && a.thread < b.thread); }
  };
  struct Stream {
    bool isBlocking;   // waits for the legacy default stream, and that for it
    WorkPointer last;  // the latest work
  };

  static Key keyOf(cudaStream_t stream) {
    if (isLegacy(stream)) return {0, {}};
    return stream == cudaStreamPerThread ? Key{2, std::this_thread::get_id()} : Key{stream->id, {}};
  }

  static bool isBlocking(cudaStream_t stream) {
    return isBuiltIn(stream) || (stream->flags & cudaStreamNonBlocking) == 0;
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
      if (isSame || isLegacyAndBlocking) found.push_back(other.last);
      ++entry;
    }
    return found;
  }

  /// Work that comes after all of a stream, and that nothing waits for.
  WorkPointer endOf(cudaStream_t stream) {
    const auto end = std::make_shared<Work>();
    end->run = [] { return cudaSuccess; };
    end->before = unfinished(stream);
    return end;
  }

  std::atomic<QueueMode> mode_{environmentQueueMode()};
  std::recursive_mutex mutex_;
  std::map<Key, Stream> streams_;  // those with work to do: a destroyed stream's work is done, too
};

/// Does work in the order of a stream: now, or when something waits for it. Returns its code if it is done.
inline cudaError_t submit(cudaStream_t stream, std::function<cudaError_t()> run) {
  return Queue::instance().append(stream, std::move(run))->code;
}

}  // namespace detail

/// Sets when the work of streams is done, instead of the environment. Does all that is queued first.
inline void setQueueMode(QueueMode mode) { detail::Queue::instance().setMode(mode); }

/// The mode in force.
inline QueueMode queueMode() { return detail::Queue::instance().mode(); }

}  // namespace gpuopt::emulation
