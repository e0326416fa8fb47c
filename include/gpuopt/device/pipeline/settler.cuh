/// \file
/// The end of each chunk: it has left the device, and the sink has taken it.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/pipeline/ends.cuh>
#include <gpuopt/device/pipeline/slots.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>

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

GPUOPT_DETAIL_END
