/// \file
/// Transfers of pageable memory that are queued as a whole, for calls that return at once.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/pipeline/staging.cuh>
#include <gpuopt/device/transfer/ring.cuh>
#include <gpuopt/device/transfer/slots.cuh>
#include <gpuopt/device/transfer/tuning.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/event.cuh>
#include <gpuopt/host/stream_pool.cuh>
#include <gpuopt/host/workspace.cuh>
#include <gpuopt/transfer_types.cuh>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

GPUOPT_DETAIL_BEGIN

/// The batches of a queued transfer, in bytes. The first ones are small, so that copies begin soon.
inline std::vector<std::size_t> queueBatches(std::size_t all, std::size_t slotBytes) {
  std::vector<std::size_t> batches;
  for (std::size_t begin = 0, bytes = firstBatchBytes; begin < all; bytes = smallerOf(2 * bytes, slotBytes)) {
    batches.push_back(smallerOf(smallerOf(bytes, slotBytes), all - begin));
    begin += batches.back();
  }
  return batches;
}

/// Batches of the array go through slots in turn. Copies are in the user's stream, so that they are in its order; a
/// side stream has a host function for each batch, which fills its slot or empties it with the help of a few threads:
///
///     upload                                    download
///     side:    F0   F1   F2   F3                stream:  C0   C1   C2   C3 ..... end
///     stream:     C0   C1   C2   C3             side:       E0   E1   E2   E3
///
/// Events order the two. Every event is recorded before a stream is made to wait for it, and host functions wait for
/// nothing but the threads that copy: whichever streams the hardware queues behind each other, it comes to its end.
class QueuedTransfer final : public PendingTransfer {
 public:
  QueuedTransfer(std::unique_ptr<const HostSide> host, const RingRequest& request)
      : host_(std::move(host)), request_(request), staging_(stagingFor(request.slotBytes)) {
    const RelaxedCapture relaxed;
    const StreamKey key = streamKey(currentDevice(), request.stream);
    const LeasedSlots ring(ringMemory(request.slots * request.slotBytes), request.slots, request.function, &key);
    divide(ring->memory());
    try {
      isUpload() ? queueUpload(*ring) : queueDownload(*ring);
    } catch (...) {
      forgetError(cudaStreamSynchronize(request.stream));  // then nothing uses host or device any more
      forgetError(cudaStreamSynchronize(side_));
      throw;
    }
  }
  ~QueuedTransfer() override { worked_.waitQuietly(); }
  QueuedTransfer(const QueuedTransfer&) = delete;
  QueuedTransfer& operator=(const QueuedTransfer&) = delete;

  void wait() override { worked_.wait(); }
  bool isDone() override { return worked_.isDone(); }

 private:
  struct Batch {
    const QueuedTransfer* transfer;
    unsigned char* memory;
    std::size_t slot, begin, bytes;
  };

  bool isUpload() const { return request_.direction == TransferDirection::upload; }

  void divide(unsigned char* memory) {
    std::size_t begin = 0;
    for (const std::size_t bytes : queueBatches(request_.bytes, request_.slotBytes)) {
      const std::size_t slot = batches_.size() % request_.slots;
      batches_.push_back({this, memory + slot * request_.slotBytes, slot, begin, bytes});
      begin += bytes;
    }
  }

  /// Fills a slot, or empties it.
  static void work(const Batch& batch) noexcept {
    const HostSide& host = *batch.transfer->host_;
    const bool isUpload = batch.transfer->isUpload();
    const auto move = [&](std::size_t at, std::size_t count) noexcept {
      if (isUpload)
        host.read(batch.memory + at, batch.begin + at, count);
      else
        host.write(batch.memory + at, batch.begin + at, count);
    };
    inPieces(batch.bytes, move, batch.transfer->staging_);
  }

  /// Called by CUDA.
  static void hostFunction(void* batch) { work(*static_cast<const Batch*>(batch)); }

  void queueWork(Batch& batch) { check(cudaLaunchHostFunc(side_, hostFunction, &batch), "cudaLaunchHostFunc"); }

  void queueCopy(const Batch& batch) {
    unsigned char* device = request_.device + batch.begin;
    check(cudaMemcpyAsync(isUpload() ? device : batch.memory, isUpload() ? batch.memory : device, batch.bytes,
                          isUpload() ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, request_.stream),
          "cudaMemcpyAsync");
  }

  /// Marks the end of a batch for those who wait for it: a later batch in the same slot, and the next transfer. A
  /// stream takes about a thousand commands before its calls wait.
  void finish(TransferSlots& ring, std::size_t i, cudaStream_t stream) {
    const std::size_t slot = batches_[i].slot;
    if (i + request_.slots < batches_.size() || i + 1 == batches_.size()) ring.finishCopy(slot, slot, stream);
  }

  void queueUpload(TransferSlots& ring) {
    const bool isBusy = ring.isBusy();
    ring.makeWait(side_);
    for (std::size_t i = 0; i < batches_.size(); ++i) {
      Batch& batch = batches_[i];
      if (i >= request_.slots) ring[batch.slot].copied.makeWait(side_);
      if (i == 0 && !isBusy) {
        work(batch);
      } else {
        queueWork(batch);
        worked_.record(side_);
        worked_.makeWait(request_.stream);
      }
      queueCopy(batch);
      finish(ring, i, request_.stream);
    }
  }

  /// Work that is queued in the stream afterwards finds the host's memory written.
  void queueDownload(TransferSlots& ring) {
    ring.makeWait(request_.stream);
    for (std::size_t i = 0; i < batches_.size(); ++i) {
      Batch& batch = batches_[i];
      if (i >= request_.slots) ring[batch.slot].copied.makeWait(request_.stream);
      queueCopy(batch);
      worked_.record(request_.stream);
      worked_.makeWait(side_);
      queueWork(batch);
      finish(ring, i, side_);
    }
    worked_.record(side_);
    worked_.makeWait(request_.stream);
  }

  const std::unique_ptr<const HostSide> host_;
  const RingRequest request_;
  const TunedValue staging_;
  std::vector<Batch> batches_;
  PooledStream side_;
  Event worked_;  // after the latest host function
};

GPUOPT_DETAIL_END
