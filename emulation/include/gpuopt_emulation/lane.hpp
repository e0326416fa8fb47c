/// A thread of a block: what it waits for, and with whom.
// SPDX-License-Identifier: MIT
#pragma once

#include "fiber.hpp"
#include "limits.hpp"
#include "observer.hpp"
#include "report.hpp"

#include <cstdint>
#include <optional>

// As in fiber.hpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O2")
#endif

namespace gpuopt::emulation::detail {

struct Lane;

/// What lanes do together. They have arrived at the same operation when they name the same object of this
/// type.
struct Operation {
  enum class Scope { warp, block };
  const char* name;
  Scope scope;
  /// Computes every participant's result from all their values while all of them are parked, so that no lane
  /// sees a later value of another. `first` is the first lane of the warp or block; `participants` is the
  /// mask of lanes in a warp, and the number of threads in a block.
  void (*complete)(Lane* first, unsigned participants);
  bool needsAll = false;  ///< also lanes that have left the kernel
};

/// A lane's part in an operation.
struct Request {
  const Operation* operation = nullptr;
  unsigned mask = 0;
  unsigned source = 0;
  std::uint64_t value = 0;
  std::uint64_t result = 0;
  Site site;
};

class Block;

/// Calls `visit(i)` for each lane that a mask names, in order.
template <class Visit>
void forEachLane(unsigned mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<unsigned>(__builtin_ctz(mask)));
}

struct Lane {
  enum class State { fresh, running, waiting, yielded, left };

  Block* block = nullptr;
  unsigned index = 0;  ///< in the block
  uint3 thread{0, 0, 0};
  State state = State::left;
  Request request;
  std::optional<Fiber> fiber;
  Trace* trace = nullptr;  ///< null if nobody observes the launch

  GPUOPT_EMULATION_HOT unsigned inWarp() const { return index % WARP_LANES; }
  unsigned bit() const { return 1u << inWarp(); }
};

/// The lane that runs on this thread; none outside kernels.
inline thread_local Lane* currentLane = nullptr;

}  // namespace gpuopt::emulation::detail

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
