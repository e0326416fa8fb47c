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
  QueuedTransfer(std::unique_ptr<const HostSide> host, const Transfer& transfer, const TransferPlan& plan)
      : host_(std::move(host)), transfer_(transfer), slots_(plan.slots), staging_(stagingFor(plan.slotBytes)) {
    const RelaxedCapture relaxed;
    const StreamKey key = streamKey(currentDevice(), transfer.stream);
    const LeasedSlots ring(ringMemory(plan.slots * plan.slotBytes), plan.slots, transfer.function, &key);
    divide(ring->memory(), plan.slotBytes);
    try {
      queue(*ring, makeEnd());
    } catch (...) {
      forgetError(cudaStreamSynchronize(transfer.stream));  // then nothing uses host or device any more
      forgetError(cudaStreamSynchronize(side_));
      throw;
    }
  }
  ~QueuedTransfer() override { waitQuietly(); }
  QueuedTransfer(const QueuedTransfer&) = delete;
  QueuedTransfer& operator=(const QueuedTransfer&) = delete;

 private:
  struct Batch {
    const QueuedTransfer* transfer;
    unsigned char* memory;
    std::size_t slot, begin, bytes;
  };

  void divide(unsigned char* memory, std::size_t slotBytes) {
    std::size_t begin = 0;
    for (const std::size_t bytes : queueBatches(transfer_.bytes, slotBytes)) {
      const std::size_t slot = batches_.size() % slots_;
      batches_.push_back({this, memory + slot * slotBytes, slot, begin, bytes});
      begin += bytes;
    }
  }

  /// Fills a slot, or empties it. Called by CUDA, too.
  static void work(void* argument) noexcept {
    const Batch& batch = *static_cast<const Batch*>(argument);
    const QueuedTransfer& transfer = *batch.transfer;
    const auto move = [&](std::size_t at, std::size_t count) noexcept {
      transfer.host_->copy(batch.memory + at, batch.begin + at, count, transfer.transfer_.direction);
    };
    inPieces(batch.bytes, move, transfer.staging_);
  }

  /// A batch's copy, or the host's part in it.
  void queuePart(Batch& batch, bool isCopy) {
    if (isCopy)
      queueSlotCopy(transfer_, batch.memory, batch.begin, batch.bytes, transfer_.stream);
    else
      check(cudaLaunchHostFunc(side_, work, &batch), "cudaLaunchHostFunc");
  }

  /// Queues the first parts of all batches in one stream, the second ones in the other.
  void queue(TransferSlots& ring, const Event& worked) {
    const bool isUpload = transfer_.isUpload(), isBusy = ring.isBusy();
    const cudaStream_t first = isUpload ? side_ : transfer_.stream, second = isUpload ? transfer_.stream : side_;
    ring.makeWait(first);
    for (std::size_t i = 0; i < batches_.size(); ++i) {
      Batch& batch = batches_[i];
      if (i >= slots_) ring[batch.slot].copied.makeWait(first);
      if (isUpload && i == 0 && !isBusy) {
        work(&batch);
      } else {
        queuePart(batch, !isUpload);
        worked.order(first, second);
      }
      queuePart(batch, isUpload);
      finish(ring, i, second);
    }
    if (!isUpload) worked.order(second, first);  // what is queued afterwards finds the host's memory written
  }

  /// Marks the end of a batch for those who wait for it: a later batch in the same slot, and the next transfer. A
  /// stream takes about a thousand commands before its calls wait.
  void finish(TransferSlots& ring, std::size_t i, cudaStream_t stream) {
    const std::size_t slot = batches_[i].slot;
    if (i + slots_ < batches_.size() || i + 1 == batches_.size()) ring.finishCopy(slot, slot, stream);
  }

  const std::unique_ptr<const HostSide> host_;
  const Transfer transfer_;
  const std::size_t slots_;
  const TunedValue staging_;
  std::vector<Batch> batches_;
  PooledStream side_;
};

GPUOPT_DETAIL_END
