/// \file
/// The report as CSV: a row for each line of a kernel and kind of access, for spreadsheets and comparisons.
// SPDX-License-Identifier: MIT
#pragma once

#include "numbers.hpp"

#include <map>
#include <sstream>
#include <string>

namespace gpuopt::emulation::detail {

/// A field in quotes: names of kernels have commas.
inline std::string csvText(const std::string& text) {
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
  return field + '"';
}

inline std::string csvStart(const KernelProfile& kernel, const LineProfile& line, const std::string& kind) {
  std::ostringstream out;
  out << csvText(kernel.name) << ',' << kernel.launches << ',' << csvText(line.source.file) << ',' << line.source.line
      << ',' << csvText(line.source.function) << ',' << kind << ',';
  return out.str();
}

inline std::string csvOf(const AccessCounts& c) {
  std::ostringstream out;
  out << c.requests << ',' << c.lanes << ',' << c.bytes << ',' << c.sectors << ',' << c.idealSectors << ','
      << c.wavefronts << ',' << c.idealWavefronts << ',' << c.repeatedLanes << ",\n";
  return out.str();
}

/// The kinds of accesses of a line, each summed, and its branches, whose requests are executions by warps.
inline std::string csvOf(const KernelProfile& kernel, const LineProfile& line) {
  std::map<AccessKind, AccessCounts> kinds;
  for (const AccessProfile& access : line.accesses) kinds[access.kind] += access.counts;
  std::string rows;
  for (const auto& [kind, counts] : kinds) rows += csvStart(kernel, line, nameOf(kind)) + csvOf(counts);
  const BranchCounts& branches = line.branches;
  if (branches.executions > 0)
    rows += csvStart(kernel, line, "branches") + std::to_string(branches.executions) + ',' +
            std::to_string(branches.lanes) + ",,,,,,," + std::to_string(branches.present) + '\n';
  return rows;
}

inline std::string csvReport(const Profile& profile) {
  std::string report =
      "kernel,launches,file,line,function,kind,requests,lanes,bytes,sectors,ideal_sectors,wavefronts,ideal_wavefronts,"
      "repeated_lanes,present_lanes\n";
  for (const KernelProfile& kernel : profile.kernels)
    for (const LineProfile& line : kernel.lines) report += csvOf(kernel, line);
  return report;
}

}  // namespace gpuopt::emulation::detail
