/// \file
/// How data gets from host to device and back: planTransfer, plain host code.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/explain.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/transfer/tuning.cuh>
#include <gpuopt/host/host_memory.cuh>
#include <gpuopt/host/tuning/tunable.cuh>
#include <gpuopt/soa/equality.cuh>
#include <gpuopt/transfer_types.cuh>

#include <cstddef>
#include <optional>
#include <string>

GPUOPT_DETAIL_BEGIN

enum class TransferAlgorithm { none, engine, runtime, kernel, ring, queue };

// What the choice depends on.
struct TransferRequest {
  std::size_t bytes;
  TransferDirection direction;
  HostMemory memory;
  unsigned cores;
  std::optional<TunedValue> tuned = {};  // of the tuning file: the ring's threads and slots, or a kernel's blocks
  bool isAsync = false;
};
template <>
inline constexpr bool isPlan<TransferRequest> = true;
template <>
inline constexpr bool isPlan<TunedValue> = true;

struct TransferPlan {
  TransferAlgorithm algorithm;
  const char* reason;
  unsigned threads = 0;       // that fill or empty slots
  std::size_t slotBytes = 0;  // of a slot
  std::size_t slots = 0;
  bool isStreaming = false;  // whether slots, or the host's memory, are written past the caches
  unsigned blocks = 0;       // thread blocks of the kernel, at most
  unsigned wordBytes = 16;   // that the kernel moves at once on the device's side: 16, 4 or 1
  bool fitsSlot = false;     // a download that one slot has room for: nothing is divided, and there is no event
  bool packsRows = false;    // rows with gaps on the device pass through dense memory there
};
template <>
inline constexpr bool isPlan<TransferPlan> = true;

template <std::size_t N>
constexpr TransferTier tierOf(const TransferTier (&tiers)[N], std::size_t bytes) {
  std::size_t i = 0;
  while (bytes > tiers[i].maxBytes) ++i;
  return tiers[i];
}

constexpr TransferTier tierOf(const TransferRequest& request) {
  return request.direction == TransferDirection::upload ? tierOf(uploadTiers, request.bytes)
                                                        : tierOf(downloadTiers, request.bytes);
}

// Whether the runtime copies a pageable array of this size, unless the tuning file says otherwise.
constexpr bool isForRuntime(std::size_t bytes, TransferDirection direction) {
  return tierOf({bytes, direction, HostMemory::pageable, 1}).threads == 0;
}

inline constexpr const char* tunedReason = "the tuning file says so";

inline const char* stagingReason(HostMemory memory) {
  return memory == HostMemory::pageable ? "the host's memory is pageable"
                                        : "the host's memory is registered in part, or in several parts";
}

// For calls that return at once.
inline TransferPlan planQueue(const TransferRequest& request) {
  const std::size_t slotBytes = queueSlotBytes(request.bytes);
  return {TransferAlgorithm::queue,
          stagingReason(request.memory),
          0,
          slotBytes,
          smallerOf(ceilDivide(request.bytes, slotBytes), queueSlots),
          request.direction == TransferDirection::download || fillsPastCaches(request.bytes)};
}

inline TransferPlan planRing(const TransferRequest& request) {
  const bool isTuned = request.tuned && request.tuned->count > 0;
  const TransferTier found =
      isTuned ? TransferTier{request.bytes, request.tuned->count, request.tuned->bytes} : tierOf(request);
  const TransferTier tier = found.threads > 0 ? found : smallTier;
  const std::size_t regions = ceilDivide(request.bytes, tier.slotBytes);
  const std::size_t threads = smallerOf(std::size_t{smallerOf(tier.threads, transferCores(request.cores))}, regions);
  const bool isDownload = request.direction == TransferDirection::download;
  TransferPlan plan{TransferAlgorithm::ring,
                    isTuned ? tunedReason : stagingReason(request.memory),
                    static_cast<unsigned>(threads),
                    tier.slotBytes,
                    smallerOf(regions, ringSlots(threads, tier.slotBytes)),
                    isDownload || fillsPastCaches(request.bytes)};
  plan.fitsSlot = isDownload && tier.slotBytes >= request.bytes;
  return plan;
}

inline TransferPlan planTransfer(const TransferRequest& request) {
  if (request.bytes == 0) return {TransferAlgorithm::none, "there is nothing to copy"};
  if (request.memory == HostMemory::pinned) return {TransferAlgorithm::engine, "the host's memory is pinned"};
  if (request.isAsync) return planQueue(request);
  const unsigned threads = request.tuned ? request.tuned->count : tierOf(request).threads;
  if (request.memory == HostMemory::pageable && threads == 0)
    return {TransferAlgorithm::runtime,
            request.tuned ? tunedReason : "the host's memory is pageable, and the array is small"};
  return planRing(request);
}

constexpr unsigned blockWordBytes(std::size_t alignment) { return alignment >= 16 ? 16 : alignment >= 4 ? 4 : 1; }

// By a kernel of some thread blocks; by the copy engine if there are none.
inline TransferPlan planPinnedBlocks(unsigned blocks, std::size_t alignment, const char* reason) {
  TransferPlan plan{blocks == 0 ? TransferAlgorithm::engine : TransferAlgorithm::kernel, reason};
  plan.blocks = blocks;
  plan.wordBytes = blockWordBytes(alignment);
  return plan;
}

// For rows of `rowBytes` bytes, with gaps on at least one side.
inline TransferPlan planRows(TransferRequest request, std::size_t rowBytes, bool hasDeviceGaps) {
  if (request.memory == HostMemory::pinned) return {TransferAlgorithm::engine, "the host's memory is pinned"};
  // The runtime copies no rows from pageable memory by itself.
  if (!request.isAsync) request.memory = HostMemory::partlyPinned;
  TransferPlan plan = planTransfer(request);
  plan.isStreaming = plan.isStreaming && rowBytes >= streamingBlockBytes;
  plan.packsRows = hasDeviceGaps;
  return plan;
}

// For `count` blocks of request.bytes together. `alignment` is a power of two that divides the difference of every
// block's addresses on both sides.
inline TransferPlan planBlocks(const TransferRequest& request, std::size_t count, std::size_t alignment = 16) {
  if (request.bytes == 0) return {TransferAlgorithm::none, "there is nothing to copy"};
  if (request.memory != HostMemory::pinned) {
    TransferPlan plan = request.isAsync ? planQueue(request) : planRing(request);
    plan.isStreaming = plan.isStreaming && request.bytes / count >= streamingBlockBytes;
    return plan;
  }
  const std::size_t blockBytes = request.bytes / count;
  if (request.tuned) return planPinnedBlocks(request.tuned->count, alignment, tunedReason);
  if (blockBytes >= engineBlockBytes) return {TransferAlgorithm::engine, "the blocks are large"};
  return planPinnedBlocks(blocksGrid(blockBytes, request.direction == TransferDirection::upload), alignment,
                          "the host's memory is pinned");
}

inline std::string nameOf(const TransferPlan& plan) {
  switch (plan.algorithm) {
    case TransferAlgorithm::none:
      return "nothing";
    case TransferAlgorithm::engine:
      return "the copy engine";
    case TransferAlgorithm::runtime:
      return "the CUDA runtime";
    case TransferAlgorithm::kernel:
      return "a kernel that accesses the host's memory";
    case TransferAlgorithm::queue:
      return message({"host functions and ", plan.slots, " pinned slots of ", plan.slotBytes, " bytes"});
    case TransferAlgorithm::ring:
      break;
  }
  return message({"ring of ", plan.slots, plan.slots == 1 ? " pinned slot of " : " pinned slots of ", plan.slotBytes,
                  " bytes, ", plan.threads, plan.threads == 1 ? " thread" : " threads",
                  plan.isStreaming ? ", written past the caches" : ""});
}

inline std::string planInWords(const TransferPlan& plan) {
  Explanation words{nameOf(plan), plan.reason};
  words.hasLength = false;
  return inWords(words);
}

// The same, with the bytes that it moves.
inline std::string planInWords(const TransferPlan& plan, std::size_t bytes) {
  if (plan.algorithm == TransferAlgorithm::none) return inWords({"", plan.reason});
  const std::string launch = plan.algorithm == TransferAlgorithm::kernel
                                 ? message({", words of ", plan.wordBytes, " bytes, up to ", plan.blocks, " blocks of ",
                                            blocksThreads, " threads"})
                                 : "";
  return inWords({nameOf(plan) + launch, plan.reason, 0, 0, bytes, bytes});
}

GPUOPT_DETAIL_END
