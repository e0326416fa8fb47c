/// Launches, copies and fills as later ones know them.
// SPDX-License-Identifier: MIT
#pragma once

#include "order.hpp"
#include "shadow.hpp"

#include "gpuopt_emulation/observer.hpp"

#include <cstdint>
#include <vector>

namespace gpuopt::emulation::detail {

/// A launch, a copy or a fill as later ones know it; a copy is one block of one thread.
struct LaunchName {
  const void* kernel;  ///< null for copies
  const char* call;    ///< null for kernels
  dim3 grid, block;
  std::uint32_t firstRun;
  std::uint64_t blocks;
  MomentPointer moment;
};

/// Stands for what the host does outside of streams.
inline constexpr std::uint32_t HOST_RUN = UINT32_MAX;

/// A copy or a fill that was done.
struct KnownTransfer {
  Transfer what;
  Record access;
  MomentPointer moment;
};

/// What no order of streams puts before or after a piece of work.
struct Unordered {
  struct Runs {
    std::uint32_t first, end;
    bool has(std::uint32_t run) const { return first <= run && run < end; }
  };
  std::vector<Runs> launches;
  std::vector<KnownTransfer> transfers;
};

}  // namespace gpuopt::emulation::detail
