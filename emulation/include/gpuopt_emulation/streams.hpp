/// Streams and events.
// SPDX-License-Identifier: MIT
#pragma once

#include "errors.hpp"
#include "queue.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

struct CUevent_st {
  unsigned flags;
  int device;
  gpuopt::emulation::detail::WorkPointer recorded;     ///< null before the first record
  gpuopt::emulation::detail::CapturePlace captured{};  ///< where in a capture it was recorded last
};

namespace gpuopt::emulation::detail {

inline std::atomic<unsigned long long> nextStreamId{3};  // 0, 1 and 2 are the built-in streams

/// A host function. A query begins it on a thread of its own, as CUDA has one: the function may wait for whoever
/// queries.
class HostCall {
 public:
  HostCall(cudaHostFn_t function, void* argument) : function_(function), argument_(argument) {}

  /// Returns whether it is done.
  static bool begin(const std::shared_ptr<HostCall>& call) {
    if (!call->hasBegun_) std::thread([call] { call->run(); }).detach();
    call->hasBegun_ = true;
    return call->isDone_;
  }

  cudaError_t finish() {
    if (!hasBegun_) run();
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return isDone_.load(); });
    return cudaSuccess;
  }

 private:
  void run() {
    isInHostFunction = true;
    ++runningHostFunctions;
    function_(argument_);
    --runningHostFunctions;
    isInHostFunction = false;
    const std::lock_guard<std::mutex> lock(mutex_);
    isDone_ = true;
    done_.notify_all();
  }

  const cudaHostFn_t function_;
  void* const argument_;
  bool hasBegun_ = false;  // the queue calls begin() and finish() one after the other
  std::atomic<bool> isDone_{false};
  std::mutex mutex_;
  std::condition_variable done_;
};

/// Keeps the memory of a destroyed stream, so that who still uses the stream can be told.
inline void keepDestroyed(cudaStream_t stream) {
  static std::mutex mutex;
  static auto* const kept = new std::vector<cudaStream_t>;
  const std::lock_guard<std::mutex> lock(mutex);
  kept->push_back(stream);
}

/// Lets a stream take part in the capture in which an event was recorded, and wait for what came before that.
inline cudaError_t joinCapture(cudaStream_t stream, const CapturePlace& event) {
  if (isBuiltIn(stream)) return result(cudaErrorStreamCaptureImplicit);
  if (!isCapturing(stream)) beginCapture(stream, event.capture);
  if (stream->place.capture != event.capture) return result(cudaErrorStreamCaptureUnmatched);
  std::vector<cudaGraphNode_t>& last = stream->place.last;
  for (const cudaGraphNode_t node : event.last)
    if (std::find(last.begin(), last.end(), node) == last.end()) last.push_back(node);
  return cudaSuccess;
}

/// Fails because a stream is captured, and makes its capture fail.
inline cudaError_t unlessCaptured(cudaStream_t stream) {
  if (!isCapturing(stream)) return cudaSuccess;
  stream->place.capture->isInvalid = true;
  return failure(cudaErrorStreamCaptureUnsupported, "a stream is waited for while it is captured");
}

}  // namespace gpuopt::emulation::detail

// ----------------------------------------------------------------------------------------- streams

inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  *stream = new CUstream_st{gpuopt::emulation::detail::nextStreamId++, gpuopt::emulation::detail::currentDevice, flags,
                            priority};
  return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
inline cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  namespace emulated = gpuopt::emulation::detail;
  if (emulated::isBuiltIn(stream)) return emulated::result(cudaErrorInvalidResourceHandle);
  if (stream->isDestroyed.exchange(true)) return emulated::destroyedStream("cudaStreamDestroy");
  if (auto* const observer = emulated::streamObserver.load())
    observer->destroyed({stream->device, stream->id, {}, emulated::isBlocking(stream)});
  emulated::keepDestroyed(stream);
  return cudaSuccess;
}

inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  namespace emulated = gpuopt::emulation::detail;
  if (emulated::isDestroyed(stream)) return emulated::destroyedStream("cudaStreamSynchronize");
  if (const cudaError_t code = emulated::unlessCaptured(stream); code != cudaSuccess) return code;
  return emulated::waited(emulated::Queue::instance().wait(stream));
}
inline cudaError_t cudaStreamQuery(cudaStream_t stream) {
  namespace emulated = gpuopt::emulation::detail;
  if (emulated::isDestroyed(stream)) return emulated::destroyedStream("cudaStreamQuery");
  if (const cudaError_t code = emulated::unlessCaptured(stream); code != cudaSuccess) return code;
  return emulated::passOn(emulated::Queue::instance().query(stream));
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned = 0) {
  namespace emulated = gpuopt::emulation::detail;
  if (emulated::isDestroyed(stream)) return emulated::destroyedStream("cudaStreamWaitEvent");
  if (event->captured.capture != nullptr) return emulated::joinCapture(stream, event->captured);
  const auto nothing = [] { return cudaSuccess; };
  return emulated::Queue::instance().append(stream, nothing, event->recorded)->code;
}

inline cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  *id = gpuopt::emulation::detail::isBuiltIn(stream) ? reinterpret_cast<unsigned long long>(stream) : stream->id;
  return cudaSuccess;
}

inline cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  namespace emulated = gpuopt::emulation::detail;
  if (emulated::isDestroyed(stream)) return emulated::destroyedStream("cudaStreamGetDevice");
  *device = emulated::deviceOf(stream);
  return cudaSuccess;
}

inline cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  *flags = gpuopt::emulation::detail::isBuiltIn(stream) ? cudaStreamDefault : stream->flags;
  return cudaSuccess;
}

inline cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  *priority = gpuopt::emulation::detail::isBuiltIn(stream) ? 0 : stream->priority;
  return cudaSuccess;
}

inline cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = *greatest = 0;
  return cudaSuccess;
}

inline cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* argument) {
  namespace emulated = gpuopt::emulation::detail;
  if (emulated::isCapturing(stream)) {
    return emulated::submitAs(cudaGraphNodeTypeHost, stream,
                              [function, argument] { return emulated::HostCall(function, argument).finish(); });
  }
  const auto call = std::make_shared<emulated::HostCall>(function, argument);
  return emulated::Queue::instance()
      .append(
          {stream}, [call] { return call->finish(); }, {}, [call] { return emulated::HostCall::begin(call); })
      ->code;
}

/// The older form of cudaLaunchHostFunc.
inline cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* argument, unsigned) {
  return gpuopt::emulation::detail::submit(stream, [=] {
    callback(stream, cudaSuccess, argument);
    return cudaSuccess;
  });
}

// ------------------------------------------------------------------------------------------ events

inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  *event = new CUevent_st{flags, gpuopt::emulation::detail::currentDevice, nullptr, {}};
  return cudaSuccess;
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags = cudaEventDefault) {
  return cudaEventCreateWithFlags(event, flags);
}

inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return gpuopt::emulation::detail::resultIf(event != nullptr, cudaErrorInvalidResourceHandle);
}

inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr) {
  namespace emulated = gpuopt::emulation::detail;
  if (emulated::isDestroyed(stream)) return emulated::destroyedStream("cudaEventRecord");
  if (emulated::deviceOf(stream) != event->device)
    return emulated::failure(cudaErrorInvalidResourceHandle, "cudaEventRecord: event and stream are of two devices");
  event->captured = {};
  if (emulated::isCapturing(stream))
    event->captured = stream->place;
  else
    event->recorded = emulated::Queue::instance().append(stream, [] { return cudaSuccess; });
  return cudaSuccess;
}

inline cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr, unsigned = 0) {
  return cudaEventRecord(event, stream);
}

inline cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  namespace emulated = gpuopt::emulation::detail;
  return event->recorded == nullptr ? cudaSuccess : emulated::waited(emulated::Queue::instance().wait(event->recorded));
}

inline cudaError_t cudaEventQuery(cudaEvent_t event) {
  namespace emulated = gpuopt::emulation::detail;
  return event->recorded == nullptr ? cudaSuccess
                                    : emulated::passOn(emulated::Queue::instance().query(event->recorded));
}

/// Milliseconds on the CPU: they say nothing of a GPU's speed.
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  namespace emulated = gpuopt::emulation::detail;
  const bool isTimed = begin->recorded != nullptr && end->recorded != nullptr &&
                       ((begin->flags | end->flags) & cudaEventDisableTiming) == 0;
  if (!isTimed) return emulated::result(cudaErrorInvalidResourceHandle);
  if (!begin->recorded->isDone || !end->recorded->isDone) return emulated::result(cudaErrorNotReady);
  *milliseconds = std::chrono::duration<float, std::milli>(end->recorded->end - begin->recorded->end).count();
  return cudaSuccess;
}
