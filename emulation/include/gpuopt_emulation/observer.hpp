/// Who watches the lanes of a launch while it runs: the profile or the check for races, if there is one.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace gpuopt::emulation::detail {

struct Lane;
struct Launch;
struct Operation;
class SharedMemory;

/// What a lane has done and nobody has counted yet. Only the observer knows what it holds.
struct Trace;

/// Watches the blocks of one worker, one after the other.
class BlockObserver {
 public:
  virtual ~BlockObserver() = default;
  /// Before any lane runs: gives each lane its trace.
  virtual void begin(const Launch& launch, std::uint64_t number, const SharedMemory& shared, Lane* lanes,
                     unsigned threads) = 0;
  /// A lane has come to an operation.
  virtual void wait(Lane& lane, const Operation& operation) = 0;
  /// Those who take part in an operation have come: the lanes of a warp that a mask names, or all of the block.
  virtual void meet(const Operation& /*operation*/, Lane* /*first*/, unsigned /*participants*/) {}
  /// A lane has run as far as it could.
  virtual void step(Lane& lane) = 0;
  /// The block has come to its end, or has failed.
  virtual void end(bool failed) = 0;
};

/// Watches launches.
class LaunchObserver {
 public:
  virtual ~LaunchObserver() = default;
  virtual std::unique_ptr<BlockObserver> observeBlocks(const Launch& launch) = 0;
  /// Whether launches have to run one at a time.
  virtual bool takesTurns() const { return true; }
  /// Every block has come to its end.
  virtual void end(const Launch& launch) = 0;
};

/// The observer of the launches that follow; null if there is none.
inline std::atomic<LaunchObserver*> launchObserver{nullptr};

/// Learns what the host does to memory of the device.
class MemoryObserver {
 public:
  virtual ~MemoryObserver() = default;
  /// Memory with guards around it, whose bytes have no value yet unless the host can write them unseen.
  virtual void allocated(const void* data, std::size_t bytes, std::size_t before, std::size_t behind,
                         bool isWritten) = 0;
  virtual void freed(const void* data, std::size_t bytes, std::size_t before, std::size_t behind) = 0;
  /// A copy or a fill has written bytes.
  virtual void written(const void* data, std::size_t bytes) = 0;
};

/// Null if there is none.
inline std::atomic<MemoryObserver*> memoryObserver{nullptr};

/// For whoever writes memory of the device on the host.
inline void noteWritten(const void* data, std::size_t bytes) {
  if (MemoryObserver* const observer = memoryObserver) observer->written(data, bytes);
}

/// A pointer among the arguments of a kernel, and the alignment of what it points to.
struct PointerArgument {
  const void* pointer;
  std::size_t alignment;
};

}  // namespace gpuopt::emulation::detail
