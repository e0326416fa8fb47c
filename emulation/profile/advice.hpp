/// What to improve first: the lines that cost most more than they need, each with the cause and the cure.
// SPDX-License-Identifier: MIT
#pragma once

#include "numbers.hpp"

#include "gpuopt_emulation/profile.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace gpuopt::emulation::detail {

/// A line that could do with less.
struct Finding {
  const char* kind;  ///< sectors, bankConflicts, atomics or divergence
  double loss;       ///< sectors, passes and idle warp executions that are not needed; each takes about a cycle
  std::string kernel;
  SourceLine source;
  std::string cause;
  std::string advice;
};

inline bool isShared(AccessKind kind) { return kind >= AccessKind::sharedLoad; }
inline bool isAtomic(AccessKind kind) { return kind == AccessKind::globalAtomic || kind == AccessKind::sharedAtomic; }

inline const char* verbOf(AccessKind kind) {
  if (isAtomic(kind)) return "update";
  if (kind == AccessKind::asyncCopy) return "copy";
  return kind == AccessKind::globalLoad || kind == AccessKind::sharedLoad ? "read" : "write";
}

/// "32 lanes read 4 bytes, 256 bytes apart"
inline std::string describePattern(const AccessProfile& access) {
  const AccessPattern& pattern = access.pattern;
  std::string text = mean(access.counts.lanes, access.counts.requests) + " lanes " + verbOf(access.kind) + ' ' +
                     counted(pattern.bytes, "byte");
  if (pattern.regularity < 0.5) return text + " at addresses without a pattern";
  const auto apart = static_cast<std::uint64_t>(std::llabs(pattern.stride));
  if (apart == pattern.bytes) return text + ", side by side";
  if (apart == 0) return text + " at the same address";
  return text + ", " + counted(apart, "byte") + " apart";
}

inline std::string perRequest(std::uint64_t number, std::uint64_t ideal, std::uint64_t requests, const char* what) {
  return mean(number, requests) + ' ' + what + " a request where " + mean(ideal, requests) + " would do";
}

inline Finding sectorFinding(const AccessProfile& access) {
  const AccessCounts& counts = access.counts;
  const AccessPattern& pattern = access.pattern;
  const auto apart = static_cast<std::uint64_t>(std::llabs(pattern.stride));
  Finding finding{};
  finding.kind = "sectors";
  finding.loss = static_cast<double>(counts.sectors - counts.idealSectors);
  finding.cause =
      describePattern(access) + ": " + perRequest(counts.sectors, counts.idealSectors, counts.requests, "sectors");
  if (pattern.regularity < 0.5)
    finding.advice =
        "Sort the indices, move whole structures with gpuopt::gatherStructs or scatterStructs, or copy a small table "
        "to shared memory first.";
  else if (apart <= pattern.bytes)
    finding.advice = "Begin rows at multiples of 32 bytes: cudaMallocPitch, or a padded leading dimension.";
  else if (apart <= 128)
    finding.advice =
        "Move whole structures through shared memory, gpuopt::transformStructs or gpuopt::StagedStructs, or give each "
        "member an array of its own, gpuopt::SoaVector.";
  else
    finding.advice =
        "Let neighbouring lanes access neighbouring elements: exchange the indices, or transpose through shared "
        "memory, gpuopt::transposeTile.";
  return finding;
}

inline Finding bankFinding(const AccessProfile& access) {
  const AccessCounts& counts = access.counts;
  Finding finding{};
  finding.kind = "bankConflicts";
  finding.loss = static_cast<double>(counts.bankConflicts());
  finding.cause = describePattern(access) + ", up to " + counted(access.pattern.worstDegree, "word") +
                  " of one bank: " + perRequest(counts.wavefronts, counts.idealWavefronts, counts.requests, "passes");
  finding.advice = access.pattern.regularity < 0.5
                       ? "Give lanes that run together words of different banks, such as private copies side by side."
                       : "Pad the rows by one word, as in tile[32][33], or swizzle them: gpuopt::transposeTile does.";
  return finding;
}

inline Finding copyFinding(const AccessProfile& access) {
  const AccessCounts& counts = access.counts;
  Finding finding{};
  finding.kind = "bankConflicts";
  finding.loss = static_cast<double>(counts.bankConflicts());
  finding.cause = describePattern(access) + " in shared memory, asynchronously: " +
                  perRequest(counts.wavefronts, counts.idealWavefronts, counts.requests, "passes");
  finding.advice =
      "Copy to the same place within 128 bytes as the source has: begin each warp's tile at a multiple of 128 bytes.";
  return finding;
}

inline Finding atomicFinding(const AccessProfile& access) {
  const AccessCounts& counts = access.counts;
  Finding finding{};
  finding.kind = "atomics";
  finding.loss = static_cast<double>(counts.repeatedLanes);
  finding.cause = describePattern(access) + ": " + mean(counts.repeatedLanes, counts.requests) + " of " +
                  mean(counts.lanes, counts.requests) + " lanes wait for another lane's update";
  finding.advice =
      "Combine the values of a warp or block first, gpuopt::warpReduce or gpuopt::blockReduce, or keep "
      "private copies in shared memory.";
  return finding;
}

inline Finding branchFinding(const BranchCounts& branches) {
  Finding finding{};
  finding.kind = "divergence";
  finding.loss = static_cast<double>(branches.executions) * (1 - branches.efficiency());
  finding.cause = mean(branches.lanes, branches.executions) + " of " + mean(branches.present, branches.executions) +
                  " lanes are active, in " + counted(branches.executions, "execution") + " by warps";
  finding.advice = "Let all lanes of a warp take the same way: decide by threadIdx.x / 32, or gather the work first.";
  return finding;
}

/// The findings of a line, with what they are a fraction of.
inline void addFindings(std::vector<Finding>& findings, const KernelProfile& kernel, const LineProfile& line) {
  const auto add = [&](Finding finding) {
    finding.kernel = kernel.name;
    finding.source = line.source;
    findings.push_back(std::move(finding));
  };
  for (const AccessProfile& access : line.accesses) {
    if (isAtomic(access.kind))
      add(atomicFinding(access));
    else if (access.kind == AccessKind::asyncCopy)
      add(copyFinding(access));
    else
      add(isShared(access.kind) ? bankFinding(access) : sectorFinding(access));
  }
  constexpr double FEW = 0.75;  // of the lanes; the edges of arrays cost less
  if (line.branches.efficiency() < FEW) add(branchFinding(line.branches));
}

/// What a kernel does in all, in the unit of losses.
inline double workOf(const KernelProfile& kernel) {
  double work = static_cast<double>(kernel.branches().executions);
  for (const LineProfile& line : kernel.lines)
    for (const AccessProfile& access : line.accesses)
      work += static_cast<double>(access.counts.sectors + access.counts.wavefronts);
  return work;
}

/// The `count` worst findings, of those that are at least 2 % of their kernel's work.
inline std::vector<Finding> worstFindings(const Profile& profile, std::size_t count = SIZE_MAX) {
  std::vector<Finding> worst;
  for (const KernelProfile& kernel : profile.kernels) {
    std::vector<Finding> findings;
    for (const LineProfile& line : kernel.lines) addFindings(findings, kernel, line);
    const double least = 0.02 * workOf(kernel);
    for (Finding& finding : findings)
      if (finding.loss > 0 && finding.loss >= least) worst.push_back(std::move(finding));
  }
  std::stable_sort(worst.begin(), worst.end(), [](const Finding& a, const Finding& b) { return a.loss > b.loss; });
  if (worst.size() > count) worst.resize(count);
  return worst;
}

}  // namespace gpuopt::emulation::detail
