/// Copies, fills, and the values of device variables, in the order of streams.
// SPDX-License-Identifier: MIT
#pragma once

#include "memory.hpp"
#include "queue.hpp"

#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

namespace gpuopt::emulation::detail {

/// A copy of `height` rows; the gaps between them stay as they are.
struct CopyJob {
  void* to;
  std::size_t toPitch;
  const void* from;
  std::size_t fromPitch, width, height;

  std::size_t bytesOf(std::size_t pitch) const { return height == 0 ? 0 : (height - 1) * pitch + width; }

  cudaError_t check(cudaMemcpyKind kind) const {
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return result(cudaErrorInvalidMemcpyDirection);
    return resultIf(width <= toPitch && width <= fromPitch && isCopyable("cudaMemcpy", to, bytesOf(toPitch)) &&
                    isCopyable("cudaMemcpy", from, bytesOf(fromPitch)));
  }

  cudaError_t run() const {
    noteTransfer({"a copy", false, reinterpret_cast<std::uintptr_t>(from), fromPitch, width, height});
    noteTransfer({"a copy", true, reinterpret_cast<std::uintptr_t>(to), toPitch, width, height});
    for (std::size_t row = 0; row < height && width > 0; ++row) {
      std::memmove(static_cast<char*>(to) + row * toPitch, static_cast<const char*>(from) + row * fromPitch, width);
      noteWritten(static_cast<char*>(to) + row * toPitch, width);
    }
    return cudaSuccess;
  }
};

inline bool isPageable(const void* pointer) { return memory().attributes(pointer).type == cudaMemoryTypeUnregistered; }

/// Larger copies from pageable memory wait for the stream: the runtime "may synchronize with the stream" then, and
/// does.
inline constexpr std::size_t STAGED_BYTES = 64 * 1024;

/// As the runtime does it: what is read from pageable host memory is read before the call returns, and what is written
/// there is there when it returns.
inline cudaError_t copyAsync(const CopyJob& job, cudaMemcpyKind kind, cudaStream_t stream) {
  if (const cudaError_t code = job.check(kind); code != cudaSuccess) return code;
  if (isDestroyed(stream)) return destroyedStream("cudaMemcpyAsync");
  Queue& queue = Queue::instance();
  if (isCapturing(stream) || (isLegacy(stream) && blockingCaptures > 0))
    return submit(stream, [job] { return job.run(); });
  std::function<cudaError_t()> run = [job] { return job.run(); };
  if (isPageable(job.from)) {
    if (job.width * job.height > STAGED_BYTES)
      if (const cudaError_t code = queue.wait(stream); code != cudaSuccess) return passOn(code);
  }
  if (isPageable(job.from) && queue.mode() == QueueMode::deferred) {
    const auto staged = std::make_shared<std::vector<unsigned char>>(job.width * job.height);
    const CopyJob fill{staged->data(), job.width, job.from, job.fromPitch, job.width, job.height};
    const CopyJob drain{job.to, job.toPitch, staged->data(), job.width, job.width, job.height};
    static_cast<void>(fill.run());
    run = [drain, staged] { return drain.run(); };
  }
  const WorkPointer work = queue.append(stream, std::move(run));
  return isPageable(job.to) ? passOn(queue.wait(work)) : cudaSuccess;
}

/// Waits unless only the device's memory is involved.
inline cudaError_t copy(const CopyJob& job, cudaMemcpyKind kind) {
  const cudaError_t code = copyAsync(job, kind, cudaStreamLegacy);
  const bool staysOnDevice = memory().attributes(job.to).type == cudaMemoryTypeDevice &&
                             memory().attributes(job.from).type == cudaMemoryTypeDevice;
  if (code != cudaSuccess || staysOnDevice) return code;
  return waited(Queue::instance().wait(cudaStreamLegacy));
}

inline cudaError_t fillAsync(void* pointer, int value, std::size_t bytes, cudaStream_t stream) {
  if (!isCopyable("cudaMemset", pointer, bytes)) return result(cudaErrorInvalidValue);
  return submitAs(cudaGraphNodeTypeMemset, stream, [=] {
    noteTransfer({"a fill", true, reinterpret_cast<std::uintptr_t>(pointer), bytes, bytes, 1});
    if (bytes > 0) std::memset(pointer, value, bytes);
    noteWritten(pointer, bytes);
    return cudaSuccess;
  });
}

/// Waits for the fill of memory that the host can read, as the runtime does.
inline cudaError_t waitUnlessDevices(const void* pointer) {
  if (memory().attributes(pointer).type == cudaMemoryTypeDevice) return cudaSuccess;
  return passOn(Queue::instance().wait(cudaStreamLegacy));
}

}  // namespace gpuopt::emulation::detail

// ----------------------------------------------------------------------------------- copies, fills

inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return gpuopt::emulation::detail::copy({to, bytes, from, bytes, bytes, 1}, kind);
}

inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream = nullptr) {
  return gpuopt::emulation::detail::copyAsync({to, bytes, from, bytes, bytes, 1}, kind, stream);
}

inline cudaError_t cudaMemcpy2D(void* to, std::size_t toPitch, const void* from, std::size_t fromPitch,
                                std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return gpuopt::emulation::detail::copy({to, toPitch, from, fromPitch, width, height}, kind);
}

inline cudaError_t cudaMemcpy2DAsync(void* to, std::size_t toPitch, const void* from, std::size_t fromPitch,
                                     std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream = nullptr) {
  return gpuopt::emulation::detail::copyAsync({to, toPitch, from, fromPitch, width, height}, kind, stream);
}

inline cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes, cudaStream_t stream = nullptr) {
  return gpuopt::emulation::detail::fillAsync(pointer, value, bytes, stream);
}

inline cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes) {
  namespace emulated = gpuopt::emulation::detail;
  const cudaError_t code = emulated::fillAsync(pointer, value, bytes, cudaStreamLegacy);
  return code != cudaSuccess ? code : emulated::waitUnlessDevices(pointer);
}

// -------------------------------------------------------------------------------- device variables

template <class T>
cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol) {
  *pointer = const_cast<std::remove_const_t<T>*>(&symbol);
  gpuopt::emulation::detail::memory().adopt(*pointer, sizeof(T), cudaMemoryTypeDevice);
  return cudaSuccess;
}

template <class T>
cudaError_t cudaGetSymbolSize(std::size_t* bytes, const T&) {
  *bytes = sizeof(T);
  return cudaSuccess;
}

namespace gpuopt::emulation::detail {

/// The address of `bytes` of a variable; null if it does not have them.
template <class T>
char* symbolBytes(const T& symbol, std::size_t bytes, std::size_t offset) {
  void* pointer = nullptr;
  if (offset > sizeof(T) || bytes > sizeof(T) - offset) return nullptr;
  static_cast<void>(cudaGetSymbolAddress(&pointer, symbol));
  return static_cast<char*>(pointer) + offset;
}

}  // namespace gpuopt::emulation::detail

template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = nullptr) {
  char* const to = gpuopt::emulation::detail::symbolBytes(symbol, bytes, offset);
  if (to == nullptr) return gpuopt::emulation::detail::result(cudaErrorInvalidValue);
  return cudaMemcpyAsync(to, from, bytes, kind, stream);
}

template <class T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  char* const to = gpuopt::emulation::detail::symbolBytes(symbol, bytes, offset);
  if (to == nullptr) return gpuopt::emulation::detail::result(cudaErrorInvalidValue);
  return cudaMemcpy(to, from, bytes, kind);
}

template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = nullptr) {
  const char* const from = gpuopt::emulation::detail::symbolBytes(symbol, bytes, offset);
  if (from == nullptr) return gpuopt::emulation::detail::result(cudaErrorInvalidValue);
  return cudaMemcpyAsync(to, from, bytes, kind, stream);
}

template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  const char* const from = gpuopt::emulation::detail::symbolBytes(symbol, bytes, offset);
  if (from == nullptr) return gpuopt::emulation::detail::result(cudaErrorInvalidValue);
  return cudaMemcpy(to, from, bytes, kind);
}
