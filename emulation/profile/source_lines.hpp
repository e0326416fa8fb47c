/// What was counted, by the lines of the source.
// SPDX-License-Identifier: MIT
#pragma once

#include "frames.hpp"
#include "recorder.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gpuopt::emulation::detail {

/// The lines of a kernel, in order.
class Lines {
 public:
  void addAccess(std::uintptr_t pc, AccessKind kind, const InstructionCounts& instruction) {
    const bool isWord = (pc & KernelCounts::WORD) != 0;
    std::vector<SourceLine> frames = framesOf(pc & ~KernelCounts::WORD);
    const SourceLine* const line = lineOf(frames);
    const bool isOwnAtomic = !frames.empty() && contains(frames.front().file, "gpuopt_emulation/atomics.hpp");
    const bool isAtomic = kind == AccessKind::globalAtomic || kind == AccessKind::sharedAtomic;
    if (line == nullptr || (isOwnAtomic && (isWord || !isAtomic))) return;
    const AccessCounts& counts = instruction.counts;
    const auto fraction = [](std::uint64_t part, std::uint64_t all) {
      return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
    };
    const Stride& stride = instruction.stride.candidate;
    const bool hasStride = stride.bytes != NO_STRIDE;
    const AccessPattern pattern{
        instruction.bytes,
        hasStride ? stride.bytes : 0,
        hasStride ? fraction(instruction.stride.votes, counts.requests - instruction.single) : 0,
        fraction(instruction.misaligned, counts.requests),
        instruction.worstDegree,
        stride.rowLanes};
    at(*line).accesses.push_back({kind, counts, pattern, std::move(frames)});
  }

  void addBranch(std::uintptr_t pc, const BranchCounts& counts) {
    const std::vector<SourceLine> frames = framesOf(pc);
    if (frames.empty() || isSystemFile(frames.front().file)) return;
    if (const SourceLine* const line = lineOf(frames)) at(*line).branches += counts;
  }

  std::vector<LineProfile> inOrder() && {
    std::vector<LineProfile> lines;
    for (auto& [place, line] : lines_) lines.push_back(std::move(line));
    return lines;
  }

 private:
  LineProfile& at(const SourceLine& line) {
    LineProfile& found = lines_[{line.file, line.line}];
    found.source = line;
    return found;
  }

  std::map<std::pair<std::string, int>, LineProfile> lines_;
};

inline KernelProfile describeKernel(const void* kernel, const KernelCounts& counts) {
  Lines lines;
  // In the order of addresses, so that a report is the same on every run.
  const std::map<KernelCounts::Instruction, InstructionCounts> accesses(counts.accesses.begin(), counts.accesses.end());
  for (const auto& [instruction, found] : accesses) lines.addAccess(instruction.first, instruction.second, found);
  for (const auto& [pc, found] : counts.branches) lines.addBranch(pc, found);
  constexpr std::uint64_t SECTOR = GlobalAccess::SECTOR;
  return {kernelName(kernel),
          counts.launches,
          counts.blocks,
          counts.warps,
          counts.barriers,
          SECTOR * counts.sectorsRead,
          SECTOR * counts.sectorsWritten,
          std::move(lines).inOrder()};
}

inline Profile describe(const Recorder& recorder) {
  Profile profile;
  recorder.forEachKernel([&profile](const void* kernel, const KernelCounts& counts) {
    profile.kernels.push_back(describeKernel(kernel, counts));
  });
  return profile;
}

}  // namespace gpuopt::emulation::detail
