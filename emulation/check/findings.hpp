/// Mistakes, and which of them are reported.
// SPDX-License-Identifier: MIT
#pragma once

#include "describe.hpp"
#include "shadow.hpp"

#include "gpuopt_emulation/check.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace gpuopt::emulation::detail {

using Instructions = std::tuple<FindingKind, std::uintptr_t, std::uintptr_t>;

/// A mistake as it was seen, before it has words.
struct Sighting {
  FindingKind kind;
  Record earlier, now;
  std::uintptr_t address;
  std::size_t bytes;
  bool isShared;
  bool isStrange = false;  ///< outside of all memory of the device
  std::uint64_t count = 1;

  Instructions instructions() const { return {kind, earlier.pc, now.pc}; }
  /// 0 for threads of one warp, 1 for those of one block, 2 for others.
  unsigned reach() const {
    return earlier.run != now.run ? 2 : earlier.lane / WARP_LANES != now.lane / WARP_LANES ? 1 : 0;
  }
};

/// Mistakes: those of the same lines of a kernel are one, whichever came first.
struct Findings {
  using Place = std::tuple<FindingKind, std::string, std::string, std::string>;  // kernel and lines
  std::map<Place, Finding> byLocation;
  std::map<Instructions, Finding*> byInstructions;  // saves the way to the lines
};

struct CheckSettings {
  bool reportsEqualValues = false;
  bool isStrict = false;             ///< shuffles, votes and matches order no accesses to memory
  std::vector<std::string> ignored;  ///< parts of reports and of names of functions
  std::string without;               ///< the location of a barrier or fence that is to order nothing
  bool endsAtFirst = false;          ///< the program ends at its first mistake
};

/// The status of a program in which mistakes were found.
inline constexpr int FOUND_STATUS = 66;

}  // namespace gpuopt::emulation::detail
