/// Who watches the lanes of a launch while it runs: the profile, if there is one.
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
  virtual void begin(const Launch& launch, const SharedMemory& shared, Lane* lanes, unsigned threads) = 0;
  /// A lane has come to an operation.
  virtual void wait(Lane& lane, const Operation& operation) = 0;
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
  /// Every block has come to its end.
  virtual void end(const Launch& launch) = 0;
};

/// The observer of the launches that follow; null if there is none.
inline std::atomic<LaunchObserver*> launchObserver{nullptr};

/// A pointer among the arguments of a kernel, and the alignment of what it points to.
struct PointerArgument {
  const void* pointer;
  std::size_t alignment;
};

}  // namespace gpuopt::emulation::detail
