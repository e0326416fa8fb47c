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

#include <memory>
#include <type_traits>
#include <utility>

GPUOPT_DETAIL_BEGIN

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
  const bool isUpload = transfer.isUpload();
  const HostMemory memory = hostMemory(transfer.host, transfer.bytes, transfer.function,
                                       isUpload ? "(host, n, device)" : "(device, n, host)");
  if (transfer.bytes > 0) requireAccess(transfer.device, transfer.bytes, "device", transfer.function);
  return planFor(transfer, memory, isAsync);
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

// A download through one slot that all of it has room in: nothing to be divided, no event.
inline void downloadBySlot(const HostSide& host, const Transfer& transfer, const TransferPlan& plan) {
  const RelaxedCapture relaxed;
  const LeasedSlots ring(ringMemory(plan.slotBytes), 0, transfer.function);
  queueSlotCopy(transfer, ring->memory(), 0, transfer.bytes, transfer.stream);
  check(cudaStreamSynchronize(transfer.stream), "cudaStreamSynchronize");
  host.copy(ring->memory(), 0, transfer.bytes, transfer.direction);
}

// Returns when the transfer is done. Its copies are in the stream itself, unless each thread has another stream of that
// name.
inline void runRing(const HostSide& host, const Transfer& transfer, const TransferPlan& plan) {
  requireNoCapture(transfer);
  if (plan.fitsSlot) return downloadBySlot(host, transfer, plan);
  const bool isDirect = plan.threads == 1 || !isPerThreadStream(transfer.stream);
  RingTransfer ring(host, transfer, plan, isDirect);
  ring.begin(plan.threads - 1);
  ring.wait();
}

// Returns at once, with what goes on.
inline std::unique_ptr<PendingTransfer> queueTransfer(std::unique_ptr<const HostSide> host, const Transfer& transfer,
                                                      const TransferPlan& plan) {
  requireNoCapture(transfer);
  return std::make_unique<QueuedTransfer>(std::move(host), transfer, plan);
}

// Does as planned, through slots: returns what goes on, or nothing when the transfer is done.
inline std::unique_ptr<PendingTransfer> stageTransfer(std::unique_ptr<const HostSide> host, const Transfer& transfer,
                                                      const TransferPlan& plan) {
  if (plan.algorithm == TransferAlgorithm::queue) return queueTransfer(std::move(host), transfer, plan);
  runRing(*host, transfer, plan);
  return nullptr;
}

// What follows a copy that the copy engine was given: a wait, or what goes on. In a graph, it happens whenever that
// runs.
inline std::unique_ptr<PendingTransfer> endCopy(const Transfer& transfer, bool isAsync) {
  const RelaxedCapture relaxed;
  auto pending = isAsync ? std::make_unique<PendingTransfer>() : nullptr;
  if (isCapturing(transfer.stream)) return pending;
  if (isAsync)
    pending->makeEnd().record(transfer.stream);
  else
    check(cudaStreamSynchronize(transfer.stream), "cudaStreamSynchronize");
  return pending;
}

// False if the copy is refused.
inline bool copyNow(const Transfer& transfer) {
  if (!tryCopy(transfer)) return false;
  endCopy(transfer, false);
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
  runRing(HostBytes({transfer.host}, ring.isStreaming), transfer, ring);
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
  if (isEngine && tryCopy(transfer)) return endCopy(transfer, true);
  const TransferPlan queue = isEngine ? planFor(transfer, HostMemory::partlyPinned, true) : plan;
  return queueTransfer(std::make_unique<HostBytes>(OnePiece{transfer.host}, queue.isStreaming), transfer, queue);
}

GPUOPT_DETAIL_END
