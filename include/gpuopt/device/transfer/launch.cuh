/// \file
/// Begins the transfers that planTransfer decides on.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/transfer/plan.cuh>
#include <gpuopt/device/transfer/queue.cuh>
#include <gpuopt/device/transfer/ring.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/host_memory.cuh>
#include <gpuopt/host/workspace.cuh>
#include <gpuopt/transfer_types.cuh>

#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

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

template <class T>
unsigned char* bytesOf(T* data) {
  return reinterpret_cast<unsigned char*>(const_cast<std::remove_const_t<T>*>(data));
}

inline Tunable transferTunable(TransferDirection direction) {
  return direction == TransferDirection::upload ? Tunable::upload : Tunable::download;
}

// The request of a transfer from or to such memory, and its plan.
inline TransferRequest transferRequest(const Transfer& transfer, HostMemory memory, bool isAsync) {
  return {transfer.bytes,
          transfer.direction,
          memory,
          coreCount(),
          tunedValue(transferTunable(transfer.direction), transfer.bytes),
          isAsync};
}
inline TransferPlan planFor(const Transfer& transfer, HostMemory memory, bool isAsync) {
  return planTransfer(transferRequest(transfer, memory, isAsync));
}

// The same, once it is checked what memory both arrays are in.
inline TransferPlan planOf(const Transfer& transfer, bool isAsync = false) {
  const bool isUpload = transfer.direction == TransferDirection::upload;
  const HostMemory memory = hostMemory(transfer.host, transfer.bytes, transfer.function,
                                       isUpload ? "(host, n, device)" : "(device, n, host)");
  if (transfer.bytes > 0) requireAccess(transfer.device, transfer.bytes, "device", transfer.function);
  return planFor(transfer, memory, isAsync);
}

inline cudaError_t queueCopy(const Transfer& transfer) {
  const bool isUpload = transfer.direction == TransferDirection::upload;
  return cudaMemcpyAsync(isUpload ? transfer.device : transfer.host, isUpload ? transfer.host : transfer.device,
                         transfer.bytes, isUpload ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, transfer.stream);
}

// False if the runtime refuses a copy, as it does if a part of the host's memory is registered and the rest is not: the
// plan has seen both ends alone.
inline bool tryCopy(const Transfer& transfer) {
  const cudaError_t code = queueCopy(transfer);
  if (code != cudaErrorInvalidValue) check(code, "cudaMemcpyAsync");
  forgetError(code);
  return code == cudaSuccess;
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

// A download through one slot that all of it has room in: nothing to be divided, no event.
inline void downloadBySlot(const HostSide& host, const Transfer& transfer, const TransferPlan& plan) {
  requireNoCapture(transfer);
  const RelaxedCapture relaxed;
  const LeasedSlots ring(ringMemory(plan.slotBytes), 0, transfer.function);
  check(cudaMemcpyAsync(ring->memory(), transfer.device, transfer.bytes, cudaMemcpyDeviceToHost, transfer.stream),
        "cudaMemcpyAsync");
  check(cudaStreamSynchronize(transfer.stream), "cudaStreamSynchronize");
  host.write(ring->memory(), 0, transfer.bytes);
}

// Returns when the transfer is done. Its copies are in the stream itself, unless each thread has another stream of that
// name.
inline void runRing(const HostSide& host, const Transfer& transfer, const TransferPlan& plan) {
  if (plan.fitsSlot) return downloadBySlot(host, transfer, plan);
  const bool isDirect = plan.threads == 1 || !isPerThreadStream(transfer.stream);
  RingTransfer ring(host, ringRequest(transfer, plan, isDirect));
  ring.begin(plan.threads - 1);
  ring.wait();
}

// Returns at once, with what goes on.
inline std::unique_ptr<PendingTransfer> queueTransfer(std::unique_ptr<const HostSide> host, const Transfer& transfer,
                                                      const TransferPlan& plan) {
  return std::make_unique<QueuedTransfer>(std::move(host), ringRequest(transfer, plan, true));
}

// Does as planned, through slots: returns what goes on, or nothing when the transfer is done.
inline std::unique_ptr<PendingTransfer> stageTransfer(std::unique_ptr<const HostSide> host, const Transfer& transfer,
                                                      const TransferPlan& plan) {
  if (plan.algorithm == TransferAlgorithm::queue) return queueTransfer(std::move(host), transfer, plan);
  runRing(*host, transfer, plan);
  return nullptr;
}

// A copy by the copy engine that has been queued.
class EngineTransfer final : public PendingTransfer {
 public:
  explicit EngineTransfer(const Transfer& transfer) {
    const RelaxedCapture relaxed;
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

// A copy by the copy engine, and waits for it; false if it is refused. In a graph, it happens whenever that runs.
inline bool copyNow(const Transfer& transfer) {
  if (!tryCopy(transfer)) return false;
  if (!isCapturing(transfer.stream)) check(cudaStreamSynchronize(transfer.stream), "cudaStreamSynchronize");
  return true;
}

// A copy of pageable memory by the runtime, which reads or writes the host's memory before it returns; except on
// devices that may access that memory themselves, where it may do so later. False if it is refused.
inline bool copySmall(const Transfer& transfer) {
  requireNoCapture(transfer);
  if (!tryCopy(transfer)) return false;
  if (deviceAttribute(cudaDevAttrPageableMemoryAccess, currentDevice()) != 0)
    check(cudaStreamSynchronize(transfer.stream), "cudaStreamSynchronize");
  return true;
}

// A small array of pageable memory, with few questions to the runtime: those of the plan and around it take a tenth of
// such a transfer's time. False if the plan is to decide.
inline bool transferSmall(const Transfer& transfer) {
  if (transfer.bytes == 0 || !isForRuntime(transfer.bytes, transfer.direction) || isTuned()) return false;
  [[maybe_unused]] const CallRange range(transfer.function);
  const RelaxedCapture relaxed;
  if (memoryTypeOf(transfer.host) != cudaMemoryTypeUnregistered) return false;
  requireAccess(transfer.device, transfer.bytes, "device", transfer.function);
  return copySmall(transfer);
}

// Returns when the transfer is done. The ring does what the runtime refuses; its own copies report the reason if
// that is not the host's memory.
inline void runTransfer(const Transfer& transfer, const TransferPlan& plan) {
  [[maybe_unused]] const CallRange range(transfer.function);
  if (plan.algorithm == TransferAlgorithm::none) return;
  const RelaxedCapture relaxed;
  if (plan.algorithm == TransferAlgorithm::engine && copyNow(transfer)) return;
  if (plan.algorithm == TransferAlgorithm::runtime && copySmall(transfer)) return;
  const bool isRing = plan.algorithm == TransferAlgorithm::ring;
  const TransferPlan ring = isRing ? plan : planFor(transfer, HostMemory::partlyPinned, false);
  runRing(HostBytes{transfer.host, ring.isStreaming}, transfer, ring);
}

// The transfer of an array.
inline void transferNow(const Transfer& transfer) {
  if (!transferSmall(transfer)) runTransfer(transfer, planOf(transfer));
}

// The same as planned, for calls that return at once.
inline std::unique_ptr<PendingTransfer> beginTransfer(const Transfer& transfer, const TransferPlan& plan) {
  [[maybe_unused]] const CallRange range(transfer.function);
  if (plan.algorithm == TransferAlgorithm::none) return nullptr;
  const bool isEngine = plan.algorithm == TransferAlgorithm::engine;
  const RelaxedCapture relaxed;
  if (isEngine && tryCopy(transfer)) return std::make_unique<EngineTransfer>(transfer);
  const TransferPlan queue = isEngine ? planFor(transfer, HostMemory::partlyPinned, true) : plan;
  return queueTransfer(std::make_unique<HostBytes>(transfer.host, queue.isStreaming), transfer, queue);
}

GPUOPT_DETAIL_END
