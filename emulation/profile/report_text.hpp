/// The report as text.
// SPDX-License-Identifier: MIT
#pragma once

#include "advice.hpp"
#include "numbers.hpp"

#include <cstddef>
#include <iomanip>
#include <map>
#include <sstream>
#include <string>

namespace gpuopt::emulation::detail {

inline constexpr std::size_t WORST = 5;

inline void writeFindings(std::ostream& out, const Profile& profile) {
  const std::vector<Finding> worst = worstFindings(profile, WORST);
  out << (worst.empty() ? "Nothing to improve: no line moves or repeats much more than it needs.\n"
                        : "What to improve first\n");
  for (std::size_t i = 0; i < worst.size(); ++i)
    out << ' ' << i + 1 << ". " << placeText(worst[i].source) << ", " << kernelsText(worst[i]) << "\n    "
        << worst[i].cause << ".\n    " << worst[i].advice << '\n';
}

inline void writeTotals(std::ostream& out, const KernelProfile& kernel, const Gpu& gpu) {
  const AccessCounts loads = kernel.counts(AccessKind::globalLoad), stores = kernel.counts(AccessKind::globalStore);
  std::uint64_t conflicts = 0;
  for (const LineProfile& line : kernel.lines) conflicts += line.bankConflicts();
  out << '\n'
      << kernel.name << "\n  " << (kernel.launches == 1 ? "1 launch" : std::to_string(kernel.launches) + " launches")
      << ", " << counted(kernel.blocks, "block") << ", " << counted(kernel.warps, "warp") << "; "
      << percent(kernel.branches().activeLanes()) << " of the lanes active, " << counted(kernel.barriers, "barrier")
      << " by warps\n  global memory: reads " << sizeText(kernel.bytesRead) << ", writes "
      << sizeText(kernel.bytesWritten) << ", at least " << minTimeText(kernel, gpu) << "; of the sectors, loads use "
      << percent(loads.utilisation()) << ", stores " << percent(stores.utilisation())
      << "\n  shared memory: " << conflicts << (conflicts == 1 ? " pass" : " passes")
      << " more than without bank conflicts\n";
}

/// The accesses of one kind that a line has, and what they cost.
inline void writeAccess(std::ostream& out, AccessKind kind, const AccessCounts& counts) {
  out << std::left << std::setw(14) << nameOf(kind) << std::right << std::setw(10) << counts.requests << std::setw(7)
      << mean(counts.lanes, counts.requests) << std::setw(11) << (isShared(kind) ? counts.wavefronts : counts.sectors)
      << std::setw(11) << (isShared(kind) ? counts.idealWavefronts : counts.idealSectors) << std::setw(8)
      << (isShared(kind) ? "" : percent(counts.utilisation())) << '\n';
}

inline void writeLine(std::ostream& out, const LineProfile& line, int width) {
  std::map<AccessKind, AccessCounts> kinds;
  for (const AccessProfile& access : line.accesses) kinds[access.kind] += access.counts;
  std::string place = placeText(line.source);
  for (const auto& [kind, counts] : kinds) {
    out << "  " << std::left << std::setw(width) << place;
    writeAccess(out, kind, counts);
    place.clear();
  }
  if (line.branches.efficiency() < 1)
    out << "  " << std::left << std::setw(width) << place << std::setw(14) << "divergence" << std::right
        << std::setw(10) << line.branches.executions << std::setw(7)
        << mean(line.branches.lanes, line.branches.executions) << '\n';
}

inline void writeLines(std::ostream& out, const KernelProfile& kernel) {
  std::size_t width = 4;
  for (const LineProfile& line : kernel.lines) width = (std::max)(width, placeText(line.source).size());
  width += 2;
  out << "  " << std::left << std::setw(static_cast<int>(width)) << "line" << std::setw(14) << "" << std::right
      << std::setw(10) << "requests" << std::setw(7) << "lanes" << std::setw(11) << "transfers" << std::setw(11)
      << "ideal" << std::setw(8) << "used" << '\n';
  for (const LineProfile& line : kernel.lines) writeLine(out, line, static_cast<int>(width));
}

inline std::string textReport(const Profile& profile) {
  const Gpu gpu = gpuOfReports();
  std::ostringstream out;
  writeFindings(out, profile);
  for (const KernelProfile& kernel : profile.kernels) {
    writeTotals(out, kernel, gpu);
    writeLines(out, kernel);
  }
  out << "\nTransfers are 32-byte sectors of global memory, and passes through the banks of shared memory.\n";
  return out.str();
}

}  // namespace gpuopt::emulation::detail
