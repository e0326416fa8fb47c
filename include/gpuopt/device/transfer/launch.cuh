/// \file
/// Begins the transfers that planTransfer decides on.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/device/transfer/plan.cuh>
#include <gpuopt/device/transfer/ring.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/workspace.cuh>

#include <cstddef>
#include <memory>
#include <optional>

GPUOPT_DETAIL_BEGIN

// A transfer without types. `host` is only read for uploads.
struct Transfer {
  unsigned char* host;
  unsigned char* device;
  std::size_t bytes;
  TransferDirection direction;
  cudaStream_t stream;
  const char* function;
};

// What the host's memory is, by its first byte and its last. The copy engine and kernels can access pinned memory, and
// managed memory, too.
inline HostMemory hostMemory(const void* host, std::size_t bytes, const char* function) {
  if (bytes == 0) return HostMemory::pageable;
  const RelaxedCapture relaxed;
  const cudaMemoryType first = memoryTypeOf(host);
  const cudaMemoryType last = memoryTypeOf(static_cast<const unsigned char*>(host) + bytes - 1);
  if (first == cudaMemoryTypeDevice) throwInvalid({function, ": host is in the memory of a device"});
  if (first != last) return HostMemory::partlyPinned;
  return first == cudaMemoryTypeUnregistered ? HostMemory::pageable : HostMemory::pinned;
}

inline Tunable transferTunable(TransferDirection direction) {
  return direction == TransferDirection::upload ? Tunable::upload : Tunable::download;
}

inline TransferPlan planOf(const Transfer& transfer) {
  return planTransfer({transfer.bytes, transfer.direction, hostMemory(transfer.host, transfer.bytes, transfer.function),
                       coreCount(), tunedValue(transferTunable(transfer.direction), transfer.bytes)});
}

inline void queueCopy(const Transfer& transfer) {
  const bool isUpload = transfer.direction == TransferDirection::upload;
  check(cudaMemcpyAsync(isUpload ? transfer.device : transfer.host, isUpload ? transfer.host : transfer.device,
                        transfer.bytes, isUpload ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, transfer.stream),
        "cudaMemcpyAsync");
}

// A graph would have to call the host's threads.
inline void requireNoCapture(const Transfer& transfer) {
  if (isCapturing(transfer.stream))
    throwInvalid({transfer.function,
                  ": stream is being captured, and host is pageable memory: use pinned or registered "
                  "memory, such as gpuopt::PinnedVector"});
}

inline RingRequest ringRequest(const Transfer& transfer, const TransferPlan& plan, bool isDirect) {
  requireNoCapture(transfer);
  return {transfer.device,    transfer.bytes, plan.slotBytes,  plan.slots,
          transfer.direction, isDirect,       transfer.stream, transfer.function};
}

// Returns when the transfer is done. Its copies are in the stream itself, unless each thread has another stream of that
// name.
template <class Host>
void runRing(const Host& host, const Transfer& transfer, const TransferPlan& plan) {
  const bool isDirect = plan.threads == 1 || !isPerThreadStream(transfer.stream);
  RingTransfer<Host> ring(host, ringRequest(transfer, plan, isDirect));
  ring.begin(plan.threads - 1);
  ring.wait();
}

// A copy by the copy engine.
class EngineTransfer final : public PendingTransfer {
 public:
  explicit EngineTransfer(const Transfer& transfer) {
    const RelaxedCapture relaxed;
    queueCopy(transfer);
    if (!isCapturing(transfer.stream)) copied_.emplace().record(transfer.stream);
  }
  ~EngineTransfer() override {
    if (copied_) copied_->waitQuietly();
  }
  void wait() override {
    if (copied_) copied_->wait();
  }
  bool isDone() override { return !copied_ || copied_->isDone(); }

 private:
  std::optional<Event> copied_;
};

// The same, and waits for it. In a graph, it happens whenever that runs.
inline void copyNow(const Transfer& transfer) {
  const RelaxedCapture relaxed;
  queueCopy(transfer);
  if (!isCapturing(transfer.stream)) check(cudaStreamSynchronize(transfer.stream), "cudaStreamSynchronize");
}

// A copy of pageable memory by the runtime, which reads or writes the host's memory before it returns; except on
// devices that may access that memory themselves, where it may do so later.
inline void copySmall(const Transfer& transfer) {
  requireNoCapture(transfer);
  const RelaxedCapture relaxed;
  queueCopy(transfer);
  if (deviceAttribute(cudaDevAttrPageableMemoryAccess, currentDevice()) != 0)
    check(cudaStreamSynchronize(transfer.stream), "cudaStreamSynchronize");
}

// Returns when the transfer is done.
inline void runTransfer(const Transfer& transfer, const TransferPlan& plan) {
  switch (plan.algorithm) {
    case TransferAlgorithm::none:
      return;
    case TransferAlgorithm::engine:
      return copyNow(transfer);
    case TransferAlgorithm::runtime:
      return copySmall(transfer);
    default:
      return runRing(HostBytes{transfer.host, plan.isStreaming}, transfer, plan);
  }
}

// Returns at once.
inline std::unique_ptr<PendingTransfer> beginTransfer(const Transfer& transfer, const TransferPlan& plan) {
  switch (plan.algorithm) {
    case TransferAlgorithm::none:
      return nullptr;
    case TransferAlgorithm::engine:
      return std::make_unique<EngineTransfer>(transfer);
    case TransferAlgorithm::runtime:
      copySmall(transfer);
      return nullptr;
    default: {
      auto ring = std::make_unique<RingTransfer<HostBytes>>(HostBytes{transfer.host, plan.isStreaming},
                                                            ringRequest(transfer, plan, false));
      ring->begin(plan.threads);
      return ring;
    }
  }
}

GPUOPT_DETAIL_END
