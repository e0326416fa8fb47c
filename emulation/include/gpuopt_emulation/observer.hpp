/// Who watches the lanes of a launch while it runs: the profile or the check for races, if there is one.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

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
  /// Memory that is not the emulated device's own.
  virtual void adopted(const void* data, std::size_t bytes, bool isOfHost) = 0;
  /// A copy or a fill has written bytes.
  virtual void written(const void* data, std::size_t bytes) = 0;
};

/// Null if there is none.
inline std::atomic<MemoryObserver*> memoryObserver{nullptr};

/// For whoever writes memory of the device on the host.
inline void noteWritten(const void* data, std::size_t bytes) {
  if (MemoryObserver* const observer = memoryObserver) observer->written(data, bytes);
}

/// When a piece of work comes in the order of streams. Only the observer knows what it holds.
struct Moment;
using MomentPointer = std::shared_ptr<const Moment>;

/// A stream; the legacy default stream of a device has the id 0.
struct StreamName {
  int device;
  unsigned long long id;
  std::thread::id thread;  ///< of the default streams of threads
  bool isBlocking;         ///< waits for the legacy default stream, and that for it

  friend bool operator==(const StreamName& a, const StreamName& b) {
    return a.device == b.device && a.id == b.id && a.thread == b.thread;
  }
};

/// What a copy or a fill does to memory: rows of `width` bytes, whose first ones are `pitch` bytes apart.
struct Transfer {
  const char* call;  ///< "a copy"
  bool isWrite;
  std::uintptr_t address;
  std::size_t pitch, width, height;
};

/// Learns in which order the host queues work, and what it waits for.
class StreamObserver {
 public:
  virtual ~StreamObserver() = default;
  /// Work is queued in streams, and also waits for the moments in `after`.
  virtual MomentPointer queued(const std::vector<StreamName>& streams, const std::vector<MomentPointer>& after) = 0;
  /// The host has waited for a piece of work, for a stream, for a device.
  virtual void awaited(const MomentPointer& moment) = 0;
  virtual void awaited(const StreamName& stream) = 0;
  virtual void awaitedDevice(int device) = 0;
  virtual void destroyed(const StreamName& stream) = 0;
  /// The work of the current moment copies or fills.
  virtual void transfers(const Transfer& transfer) = 0;
  /// A piece of work has waited for others, of other ranks: it comes after all that comes before them.
  virtual void met(const MomentPointer& moment, const std::vector<MomentPointer>& others) = 0;
};

/// Null if there is none.
inline std::atomic<StreamObserver*> streamObserver{nullptr};

/// The moment of the work that this thread does; null outside of work.
inline thread_local MomentPointer currentMoment;

/// Does a piece of work at a moment.
template <class Run>
auto runAt(const MomentPointer& moment, Run run) {
  struct Restore {
    MomentPointer before;
    ~Restore() { currentMoment = std::move(before); }
  } const restore{std::exchange(currentMoment, moment)};
  return run();
}

/// For whoever copies or fills memory in the order of a stream.
inline void noteTransfer(const Transfer& transfer) {
  if (currentMoment == nullptr || transfer.width == 0 || transfer.height == 0) return;
  if (StreamObserver* const observer = streamObserver) observer->transfers(transfer);
}

/// A pointer among the arguments of a kernel, and the alignment of what it points to.
struct PointerArgument {
  const void* pointer;
  std::size_t alignment;
  bool isOfHost;  ///< the host has launched the kernel, and not a kernel
};

}  // namespace gpuopt::emulation::detail
