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
  const char* kind;  ///< sectors, bankConflicts, atomics, divergence or reuse
  double loss;       ///< sectors, passes and idle warp executions that are not needed; each takes about a cycle
  std::string kernel;
  SourceLine source;
  std::string cause;
  std::string advice;
  unsigned otherKernels = 0;  ///< with the same finding at the same line, such as instances of a template
  std::string pattern{};      ///< what findings of one line have in common that are one to a reader
};

inline bool isShared(AccessKind kind) { return kind >= AccessKind::sharedLoad; }
inline bool isAtomic(AccessKind kind) { return kind == AccessKind::globalAtomic || kind == AccessKind::sharedAtomic; }

inline const char* verbOf(AccessKind kind) {
  if (isAtomic(kind)) return "update";
  if (kind == AccessKind::asyncCopy) return "copy";
  return kind == AccessKind::globalLoad || kind == AccessKind::sharedLoad ? "read" : "write";
}

/// "read 4 bytes, 256 bytes apart"
inline std::string addressesOf(const AccessProfile& access) {
  const AccessPattern& pattern = access.pattern;
  const std::string text = verbOf(access.kind) + (' ' + counted(pattern.bytes, "byte"));
  if (pattern.regularity < 0.5) return text + " at addresses without a pattern";
  const auto apart = static_cast<std::uint64_t>(std::llabs(pattern.stride));
  const std::string rows =
      pattern.rowLanes < 32 ? " in each row of " + std::to_string(pattern.rowLanes) + " lanes" : std::string();
  if (apart == pattern.bytes) return text + ", side by side" + rows;
  if (apart == 0) return text + " at the same address" + rows;
  return text + ", " + counted(apart, "byte") + " apart" + rows;
}

/// "32 lanes read 4 bytes, 256 bytes apart"
inline std::string describePattern(const AccessProfile& access) {
  return mean(access.counts.lanes, access.counts.requests) + " lanes " + addressesOf(access);
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
  else if (apart <= pattern.bytes && apart * pattern.rowLanes < 32)
    finding.advice =
        "Make blocks 32 threads wide, so that a warp reads one row, or read the values from a tile in shared memory.";
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

/// The same memory is read again and again, by any pattern: what shared memory is for.
inline Finding reuseFinding(const AccessProfile& access, std::uint64_t sectorsOfKernel) {
  const AccessCounts& counts = access.counts;
  Finding finding{};
  finding.kind = "reuse";
  finding.loss = static_cast<double>(counts.idealSectors) - static_cast<double>(sectorsOfKernel);
  finding.cause = describePattern(access) + ": " + counted(counts.sectors, "sector") +
                  ", though the kernel reads only " + counted(sectorsOfKernel, "different one");
  finding.advice = "Let each block copy a tile to shared memory and read it from there.";
  return finding;
}

/// Warps of blocks whose size is no multiple of 32, above all of blocks of few threads.
inline Finding blockSizeFinding(const BranchCounts& branches) {
  Finding finding{};
  finding.kind = "divergence";
  finding.loss = static_cast<double>(branches.executions) * (1 - branches.activeLanes());
  finding.cause = mean(branches.lanes, branches.executions) + " of 32 lanes are active, in " +
                  counted(branches.executions, "execution") + " by warps: the blocks have no more threads";
  finding.advice = "Launch blocks of a multiple of 32 threads, 128 to 256 of them.";
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

constexpr double FEW = 0.75;  // of the lanes; the edges of arrays cost less

/// Adds a finding, to one that says the same of the same line.
inline void add(std::vector<Finding>& findings, Finding finding) {
  for (Finding& other : findings) {
    if (finding.kind != std::string(other.kind) || finding.pattern != other.pattern || finding.advice != other.advice ||
        finding.source.line != other.source.line || finding.source.file != other.source.file)
      continue;
    if (finding.loss > other.loss) std::swap(finding, other);
    other.loss += finding.loss;
    other.otherKernels += finding.otherKernels + (finding.kernel != other.kernel);
    return;
  }
  findings.push_back(std::move(finding));
}

/// The findings of a line.
inline void addFindings(std::vector<Finding>& findings, const KernelProfile& kernel, const LineProfile& line) {
  constexpr std::uint64_t OFTEN = 8;  // a loop, and not each warp once
  const auto addOf = [&](Finding finding, std::string pattern) {
    finding.kernel = kernel.name;
    finding.source = line.source;
    finding.pattern = std::move(pattern);
    add(findings, std::move(finding));
  };
  const std::uint64_t sectors = kernel.bytesRead / 32;
  for (const AccessProfile& access : line.accesses) {
    const std::string pattern = addressesOf(access);
    if (isAtomic(access.kind))
      addOf(atomicFinding(access), pattern);
    else if (access.kind == AccessKind::asyncCopy)
      addOf(copyFinding(access), pattern);
    else
      addOf(isShared(access.kind) ? bankFinding(access) : sectorFinding(access), pattern);
    if (access.kind == AccessKind::globalLoad && access.counts.idealSectors >= OFTEN * sectors &&
        access.counts.requests >= OFTEN * kernel.warps)
      addOf(reuseFinding(access, sectors), pattern);
  }
  if (line.branches.efficiency() < FEW) addOf(branchFinding(line.branches), "");
}

/// What a kernel does in all, in the unit of losses.
inline double workOf(const KernelProfile& kernel) {
  double work = static_cast<double>(kernel.branches().executions);
  for (const LineProfile& line : kernel.lines)
    for (const AccessProfile& access : line.accesses)
      work += static_cast<double>(access.counts.sectors + access.counts.wavefronts);
  return work;
}

/// The findings of a kernel that are at least 2 % of its work.
inline std::vector<Finding> findingsOf(const KernelProfile& kernel) {
  std::vector<Finding> findings;
  const LineProfile* busiest = nullptr;
  for (const LineProfile& line : kernel.lines) {
    addFindings(findings, kernel, line);
    if (busiest == nullptr || line.branches.executions > busiest->branches.executions) busiest = &line;
  }
  const BranchCounts branches = kernel.branches();
  if (busiest != nullptr && branches.activeLanes() < FEW * branches.efficiency()) {
    findings.push_back(blockSizeFinding(branches));
    findings.back().kernel = kernel.name;
    findings.back().source = busiest->source;
  }
  const double least = 0.02 * workOf(kernel);
  const auto isSmall = [least](const Finding& finding) { return finding.loss <= 0 || finding.loss < least; };
  findings.erase(std::remove_if(findings.begin(), findings.end(), isSmall), findings.end());
  return findings;
}

/// "addRows<4>(float*) and 2 other kernels"
inline std::string kernelsText(const Finding& finding) {
  return finding.kernel +
         (finding.otherKernels == 0 ? std::string() : " and " + counted(finding.otherKernels, "other kernel"));
}

/// The `count` worst findings. A line of several kernels, such as the instances of a template, has one for all of them.
inline std::vector<Finding> worstFindings(const Profile& profile, std::size_t count = SIZE_MAX) {
  std::vector<Finding> worst;
  for (const KernelProfile& kernel : profile.kernels)
    for (Finding& finding : findingsOf(kernel)) add(worst, std::move(finding));
  std::stable_sort(worst.begin(), worst.end(), [](const Finding& a, const Finding& b) { return a.loss > b.loss; });
  if (worst.size() > count) worst.resize(count);
  return worst;
}

}  // namespace gpuopt::emulation::detail
