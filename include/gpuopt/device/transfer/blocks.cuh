/// \file
/// Transfers of many blocks of the host's memory: the host's part of gatherBlocks and scatterBlocks.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/transfer/blocks_kernel.cuh>
#include <gpuopt/device/transfer/launch.cuh>
#include <gpuopt/host/allocations.cuh>
#include <gpuopt/host/host_memory.cuh>
#include <gpuopt/host/pinned.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

GPUOPT_DETAIL_BEGIN

// The blocks of a group as pieces of the host's memory.
struct BlockPieces {
  BlockGroup group;

  // The block that byte `at` is in.
  std::size_t blockAt(std::size_t at) const {
    if (group.begins == nullptr) return at / group.blockBytes;
    return static_cast<std::size_t>(std::upper_bound(group.begins, group.begins + group.count, at + group.origin) -
                                    group.begins) -
           1;
  }

  template <class F>
  void visit(std::size_t at, std::size_t bytes, const F& f) const {
    std::size_t offset = 0;
    for (std::size_t i = blockAt(at); offset < bytes; ++i) {
      const std::size_t skipped = at + offset - group.begin(i);
      const std::size_t n = smallerOf(group.bytes(i) - skipped, bytes - offset);
      f(group.hosts[i] + skipped, offset, n);
      offset += n;
    }
  }
};

// launchMoveBlocks for one direction. Templates alone name it, so that nobody compiles kernels who moves no blocks.
using LaunchMoveBlocks = void (*)(const BlockGroup&, unsigned, unsigned, cudaStream_t, const char*);

// What all calls have in common.
struct BlockRequest {
  const void* device;  // written by uploads
  std::size_t count;
  std::size_t blockBytes;  // of all blocks, unless each has its own size
  TransferDirection direction;
  cudaStream_t stream;
  const char* function;
  bool isAsync = false;

  bool isUpload() const { return direction == TransferDirection::upload; }
  unsigned char* deviceBytes() const { return static_cast<unsigned char*>(const_cast<void*>(device)); }
};

// `count` blocks of `bytes` bytes together.
inline TransferRequest blocksRequest(std::size_t bytes, std::size_t count, TransferDirection direction,
                                     HostMemory memory, bool isAsync) {
  const auto tuned = memory == HostMemory::pinned ? tunedValue(Tunable::blocks, bytes / count)
                                                  : tunedValue(transferTunable(direction), bytes);
  return {bytes, direction, memory, coreCount(), tuned, isAsync};
}

// Transfers blocks in groups, each with a plan of its own.
class BlockTransfer final : public PendingTransfer {
 public:
  explicit BlockTransfer(const BlockRequest& request) : request_(request), hosts_(request.count) {
    if (request.count > 0 && isCapturing(request.stream))
      throwInvalid({request.function, ": stream is being captured: the list of blocks would not outlive the call"});
  }
  ~BlockTransfer() override {
    const RelaxedCapture relaxed;
    if (isQueued_) forgetError(cudaStreamSynchronize(request_.stream));  // the kernels read the lists
    waitQuietly();
  }

  const BlockRequest& request() const { return request_; }
  std::size_t bytesOf(std::size_t i) const {
    return begins_.empty() ? request_.blockBytes : begins_[i + 1] - begins_[i];
  }

  // Gives each block its own size, and returns their sum.
  template <class Size>
  std::size_t setSizes(const Size* sizes) {
    begins_ = PinnedVector<std::size_t>(request_.count + 1);
    begins_[0] = 0;
    std::size_t bits = 0;
    for (std::size_t i = 0; i < request_.count; ++i) {
      begins_[i + 1] = begins_[i] + static_cast<std::size_t>(sizes[i]);
      bits |= static_cast<std::size_t>(sizes[i]) | begins_[i + 1];
    }
    if (bits > PTRDIFF_MAX) {
      for (std::size_t i = 0; i < request_.count; ++i)
        requireSize(static_cast<std::size_t>(sizes[i]), {"sizes[", i, "]"}, request_.function);
      throwInvalid({request_.function, ": the sum of sizes is more than memory can hold"});
    }
    return begins_[request_.count];
  }

  // Queues the transfer of the blocks at host(i). Those of pageable memory are transferred before it returns, unless
  // the call is to return at once.
  template <class Host>
  void begin(const Host& host) {
    const LaunchMoveBlocks launch = request_.isUpload() ? launchMoveBlocks<true> : launchMoveBlocks<false>;
    const RelaxedCapture relaxed;
    for (std::size_t first = 0, count = 0; first < request_.count; first += count) {
      count = blocksIn(first, request_.count);
      transferGroup(first, count, fill(first, count, host), launch);
    }
  }

  // Waits for all that is queued in the stream.
  void waitForStream() {
    if (!isQueued_) return;
    const RelaxedCapture relaxed;
    isQueued_ = false;
    check(cudaStreamSynchronize(request_.stream), "cudaStreamSynchronize");
  }

  // The stream may be used for other work, for which wait() does not wait.
  void recordEnd() {
    if (!isQueued_) return;
    const RelaxedCapture relaxed;
    makeEnd().record(request_.stream);
    isQueued_ = false;
  }

 private:
  // What a group's plan needs to know of its addresses.
  struct Extent {
    unsigned char *lowest, *end;
    std::size_t alignment;  // of the differences of both sides' addresses
  };

  std::size_t beginOf(std::size_t i) const { return begins_.empty() ? i * request_.blockBytes : begins_[i]; }

  // Writes the addresses of a group's blocks to the list. Block i begins at begin(i) on the device: that is a
  // parameter, so that the loop over blocks of one size asks for nothing else.
  template <class Host, class Begin>
  Extent fillBy(const Begin& begin, std::size_t first, std::size_t count, const Host& host) {
    unsigned char** const hosts = hosts_.data();
    unsigned char *lowest = host(first), *end = lowest;
    std::uintptr_t differences = 16;
    for (std::size_t i = first; i < first + count; ++i) {
      unsigned char* const address = host(i);
      hosts[i] = address;
      lowest = smallerOf(lowest, address);
      end = largerOf(end, address + (begin(i + 1) - begin(i)));
      differences |= reinterpret_cast<std::uintptr_t>(request_.deviceBytes() + begin(i)) -
                     reinterpret_cast<std::uintptr_t>(address);
    }
    return {lowest, end, powerOfTwoIn(differences)};
  }

  template <class Host>
  Extent fill(std::size_t first, std::size_t count, const Host& host) {
    const std::size_t bytes = request_.blockBytes, *const begins = begins_.data();
    if (begins_.empty()) return fillBy([=](std::size_t i) { return i * bytes; }, first, count, host);
    return fillBy([=](std::size_t i) { return begins[i]; }, first, count, host);
  }

  void transferGroup(std::size_t first, std::size_t count, const Extent& extent, LaunchMoveBlocks launch) {
    const std::size_t origin = beginOf(first), bytes = beginOf(first + count) - origin;
    const BlockGroup group{hosts_.data() + first,
                           begins_.empty() ? nullptr : begins_.data() + first,
                           origin,
                           request_.deviceBytes() + origin,
                           count,
                           request_.blockBytes};
    const HostMemory memory = bytes == 0 ? HostMemory::pageable : memoryOf(group, extent);
    const TransferPlan plan =
        planBlocks(blocksRequest(bytes, count, request_.direction, memory, request_.isAsync), count, extent.alignment);
    run(group, bytes, plan, launch);
  }

  // Blocks of several allocations are pinned if each of them is in one.
  HostMemory memoryOf(const BlockGroup& group, const Extent& extent) {
    const HostMemory memory =
        hostMemory(extent.lowest, static_cast<std::size_t>(extent.end - extent.lowest), request_.function);
    if (memory != HostMemory::partlyPinned) return memory;
    for (std::size_t i = 0; i < group.count; ++i)
      if (group.bytes(i) > 0 && !allocations_.contain(group.hosts[i], group.bytes(i))) return memory;
    return HostMemory::pinned;
  }

  void run(const BlockGroup& group, std::size_t bytes, const TransferPlan& plan, LaunchMoveBlocks launch) {
    isQueued_ = true;
    switch (plan.algorithm) {
      case TransferAlgorithm::none:
        return;
      case TransferAlgorithm::engine:
        return queueCopies(group);
      case TransferAlgorithm::kernel:
        return launch(group, plan.wordBytes, plan.blocks, request_.stream, request_.function);
      default:
        return runStaged(group, bytes, plan);
    }
  }

  void runStaged(const BlockGroup& group, std::size_t bytes, const TransferPlan& plan) {
    auto host = std::make_unique<HostPieces<BlockPieces>>(BlockPieces{group}, plan.isStreaming);
    const Transfer transfer{nullptr, group.device, bytes, request_.direction, request_.stream, request_.function};
    if (auto pending = stageTransfer(std::move(host), transfer, plan)) queued_.push_back(std::move(pending));
  }

  void queueCopies(const BlockGroup& group) const {
    for (std::size_t i = 0; i < group.count; ++i)
      if (group.bytes(i) > 0)
        check(queueCopy({group.hosts[i], group.device + group.begin(i), group.bytes(i), request_.direction,
                         request_.stream, request_.function}),
              "cudaMemcpyAsync");
  }

  const BlockRequest request_;
  PinnedVector<unsigned char*> hosts_;
  PinnedVector<std::size_t> begins_;  // empty if all blocks have one size
  bool isQueued_ = false;             // work that no event covers
  Allocations allocations_;
  std::vector<std::unique_ptr<PendingTransfer>> queued_;  // they read the lists: destroyed first
};

GPUOPT_DETAIL_END
