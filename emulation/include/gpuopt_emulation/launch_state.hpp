/// A launch while its blocks run.
// SPDX-License-Identifier: MIT
#pragma once

#include "errors.hpp"
#include "grid_barrier.hpp"
#include "observer.hpp"
#include "settings.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace gpuopt::emulation::detail {

/// A kernel launch as the workers see it.
struct Launch {
  const void* kernel;
  dim3 grid, block;
  std::size_t sharedBytes;
  void (*body)(const void* arguments);  ///< calls the kernel
  const void* arguments;
  Schedule schedule;
  std::uint64_t blocks;
  std::vector<PointerArgument> pointers;
  LaunchObserver* observer = launchObserver;
  MomentPointer moment = currentMoment;
  std::atomic<std::uint64_t> nextBlock{0};
  std::atomic<bool> failed{false};
  std::atomic<cudaError_t> code{cudaErrorLaunchFailure};  ///< of a launch that has failed
  GridBarrier* barrier = nullptr;                         ///< of a cooperative launch
  std::mutex childrenMutex{};
  std::vector<std::function<cudaError_t()>> children{};  ///< launches by its threads, which run when it has ended
};

}  // namespace gpuopt::emulation::detail
