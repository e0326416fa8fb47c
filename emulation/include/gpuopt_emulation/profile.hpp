/// \file
/// What kernels do to memory, counted on the emulated device, without a GPU: sectors, bank conflicts, divergence.
///
///     #include <gpuopt_emulation/profile.hpp>
///
///     const auto profile = gpuopt::profile([&] { gpuopt::launch(kernel, config, in, out); });
///     REQUIRE(profile.globalLoads().utilisation() > 0.95);
///     REQUIRE(profile.bankConflicts() == 0);
///
/// The program is compiled with `gpuopt_emulate(program PROFILE)` in CMake. With the environment variable
/// `GPUOPT_PROFILE=report.txt` (or `.json`, `.html`) every such program writes a report of all its kernels.
///
/// docs/profile.md says what is counted and how it relates to a GPU's counters.
// SPDX-License-Identifier: MIT
#pragma once

#ifndef GPUOPT_EMULATION_PROFILE
#error "gpuopt: profiles need a program that is compiled for them: call gpuopt_emulate(<target> PROFILE)"
#include <see_the_error_above>
#endif

#include "source_line.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace gpuopt {

/// The accesses of warps. What one instruction of a warp accesses is one request.
struct AccessCounts {
  std::uint64_t requests = 0;         ///< executions by warps
  std::uint64_t lanes = 0;            ///< active lanes, summed over the requests
  std::uint64_t bytes = 0;            ///< bytes requested; those that several lanes of a request want count once
  std::uint64_t sectors = 0;          ///< of global memory: 32-byte sectors touched
  std::uint64_t idealSectors = 0;     ///< the fewest sectors that could hold the bytes
  std::uint64_t wavefronts = 0;       ///< of shared memory: passes through its banks
  std::uint64_t idealWavefronts = 0;  ///< passes without bank conflicts; of asynchronous copies: one for 128 bytes
  std::uint64_t repeatedLanes = 0;    ///< of atomics: lanes whose address another lane of the request has, too

  /// The fraction of the transferred sectors that is used; 1 is best, also of no access at all.
  double utilisation() const;
  /// Nsight Compute's l1tex__average_t_sectors_per_request.
  double sectorsPerRequest() const;
  /// The passes that bank conflicts add; of asynchronous copies: those that misalignment adds, too.
  std::uint64_t bankConflicts() const { return wavefronts - idealWavefronts; }
  /// Active lanes of a request, on average.
  double meanLanes() const;

  AccessCounts& operator+=(const AccessCounts& other);  ///< adds counts
};

/// The basic blocks of code that warps execute.
struct BranchCounts {
  std::uint64_t executions = 0;  ///< by warps
  std::uint64_t lanes = 0;       ///< active lanes, summed over the executions
  std::uint64_t present = 0;     ///< lanes that the warps have, summed over the executions

  /// The fraction of a warp's lanes that is active; 1 is best, also of no code at all. Lanes that the last warp of a
  /// block does not have do not count.
  double efficiency() const;
  /// The fraction of 32 lanes that is active: 1/32 in a block of one thread. 1 of no code at all.
  double activeLanes() const;

  BranchCounts& operator+=(const BranchCounts& other);  ///< adds counts
};

/// A kind of access to memory.
enum class AccessKind {
  globalLoad,    ///< reads global memory
  globalStore,   ///< writes global memory
  globalAtomic,  ///< an atomic function on global memory
  sharedLoad,    ///< reads shared memory
  sharedStore,   ///< writes shared memory
  sharedAtomic,  ///< an atomic function on shared memory
  asyncCopy,     ///< what an asynchronous copy writes to shared memory; what it reads is a globalLoad
};

/// How the addresses of a request relate to each other.
struct AccessPattern {
  unsigned bytes = 0;        ///< of one lane's access
  long long stride = 0;      ///< from lane to lane, in bytes, in most of the requests
  double regularity = 0;     ///< the fraction of the requests of several lanes with this stride
  double misaligned = 0;     ///< the fraction of the requests whose first byte is not the first of a sector
  unsigned worstDegree = 0;  ///< of the worst bank conflict: the most words of one bank in one pass
  unsigned rowLanes = 32;    ///< neighbouring lanes with this stride: 16 where a warp has two rows of a block
};

/// One instruction that accesses memory.
struct AccessProfile {
  AccessKind kind{};               ///< what it does
  AccessCounts counts;             ///< of all its executions
  AccessPattern pattern;           ///< of its addresses
  std::vector<SourceLine> frames;  ///< its line, then the lines that it is inlined into
};

/// One line of the source.
struct LineProfile {
  SourceLine source;                    ///< outside of libraries if it was inlined there
  std::vector<AccessProfile> accesses;  ///< to memory
  BranchCounts branches;                ///< of the basic blocks that begin here

  /// The sum over the accesses of a kind.
  AccessCounts counts(AccessKind kind) const;
  /// Loads from global memory.
  AccessCounts globalLoads() const { return counts(AccessKind::globalLoad); }
  /// Stores to global memory.
  AccessCounts globalStores() const { return counts(AccessKind::globalStore); }
  /// Loads from shared memory.
  AccessCounts sharedLoads() const { return counts(AccessKind::sharedLoad); }
  /// Stores to shared memory.
  AccessCounts sharedStores() const { return counts(AccessKind::sharedStore); }
  /// Atomic functions on global memory.
  AccessCounts globalAtomics() const { return counts(AccessKind::globalAtomic); }
  /// Atomic functions on shared memory.
  AccessCounts sharedAtomics() const { return counts(AccessKind::sharedAtomic); }
  /// What asynchronous copies write to shared memory.
  AccessCounts asyncCopies() const { return counts(AccessKind::asyncCopy); }
  /// The passes through shared memory that bank conflicts add, of loads, stores and atomics.
  std::uint64_t bankConflicts() const;
};

/// One kernel, over all its launches.
struct KernelProfile {
  std::string name;                ///< with its parameters
  std::uint64_t launches = 0;      ///< number
  std::uint64_t blocks = 0;        ///< of all launches
  std::uint64_t warps = 0;         ///< of all launches
  std::uint64_t barriers = 0;      ///< executions of block-wide barriers by warps
  std::uint64_t bytesRead = 0;     ///< of global memory, in sectors that a launch reads at least once
  std::uint64_t bytesWritten = 0;  ///< of global memory, in sectors that a launch writes at least once
  std::vector<LineProfile> lines;  ///< in the order of files and lines

  /// The sum over all lines.
  AccessCounts counts(AccessKind kind) const;
  /// The sum over all lines.
  BranchCounts branches() const;
};

/// What the launches of a while did to memory.
class Profile {
 public:
  /// The kernels in the order of their first launches.
  std::vector<KernelProfile> kernels;

  /// The sum over all kernels.
  AccessCounts counts(AccessKind kind) const;
  /// Loads from global memory.
  AccessCounts globalLoads() const { return counts(AccessKind::globalLoad); }
  /// Stores to global memory.
  AccessCounts globalStores() const { return counts(AccessKind::globalStore); }
  /// Loads from shared memory.
  AccessCounts sharedLoads() const { return counts(AccessKind::sharedLoad); }
  /// Stores to shared memory.
  AccessCounts sharedStores() const { return counts(AccessKind::sharedStore); }
  /// Atomic functions on global memory.
  AccessCounts globalAtomics() const { return counts(AccessKind::globalAtomic); }
  /// Atomic functions on shared memory.
  AccessCounts sharedAtomics() const { return counts(AccessKind::sharedAtomic); }
  /// What asynchronous copies write to shared memory.
  AccessCounts asyncCopies() const { return counts(AccessKind::asyncCopy); }

  /// The passes through shared memory that bank conflicts add, of loads, stores and atomics.
  std::uint64_t bankConflicts() const;
  /// The fraction of the lanes that is active, over all basic blocks: 1 without divergence.
  double warpEfficiency() const;
  /// Executions of block-wide barriers by warps.
  std::uint64_t barriers() const;

  /// The profile of the kernels whose names contain `part`. Throws std::out_of_range if there is none.
  Profile kernel(const std::string& part) const;

  /// What a line does, "kernel.cu:42"; the path may begin at any folder. A line of a library counts what was inlined
  /// from it, too. Throws std::out_of_range if nothing of it was executed.
  LineProfile at(const std::string& place) const;

  /// The report as text: what to improve first, then every kernel line by line.
  std::string text() const;
  /// The report for programs.
  std::string json() const;
  /// The report for spreadsheets: a row for each line and kind of access.
  std::string csv() const;
  /// The report for readers: the source with a bar beside each line.
  std::string html() const;
};

/// Calls `work` and returns what the kernels did that were launched meanwhile, by any thread. Waits for the device.
/// Passes exceptions on.
///
/// Cost: up to 20 times the time of the kernels on the emulated device.
Profile profile(const std::function<void()>& work);

}  // namespace gpuopt
