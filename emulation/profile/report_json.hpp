/// The report as JSON, with every count.
// SPDX-License-Identifier: MIT
#pragma once

#include "advice.hpp"
#include "numbers.hpp"

#include <sstream>
#include <string>
#include <vector>

namespace gpuopt::emulation::detail {

template <class T, class Write>
std::string listOf(const std::vector<T>& elements, Write write) {
  std::string list = "[";
  for (const T& element : elements) list += (list.size() == 1 ? "" : ", ") + write(element);
  return list + ']';
}

inline std::string json(const SourceLine& source) {
  return "{\"file\": " + quoted(source.file) + ", \"line\": " + std::to_string(source.line) +
         ", \"function\": " + quoted(source.function) + '}';
}

inline std::string json(const AccessProfile& access) {
  const AccessCounts& c = access.counts;
  const AccessPattern& p = access.pattern;
  std::ostringstream out;
  out << "{\"kind\": " << quoted(nameOf(access.kind)) << ", \"requests\": " << c.requests << ", \"lanes\": " << c.lanes
      << ", \"bytes\": " << c.bytes << ", \"sectors\": " << c.sectors << ", \"idealSectors\": " << c.idealSectors
      << ", \"wavefronts\": " << c.wavefronts << ", \"idealWavefronts\": " << c.idealWavefronts
      << ", \"repeatedLanes\": " << c.repeatedLanes << ", \"pattern\": {\"bytes\": " << p.bytes
      << ", \"stride\": " << p.stride << ", \"regularity\": " << p.regularity << ", \"misaligned\": " << p.misaligned
      << ", \"worstDegree\": " << p.worstDegree << ", \"rowLanes\": " << p.rowLanes
      << "}, \"frames\": " << listOf(access.frames, [](const SourceLine& frame) { return json(frame); }) << '}';
  return out.str();
}

inline std::string json(const BranchCounts& branches) {
  return "{\"executions\": " + std::to_string(branches.executions) + ", \"lanes\": " + std::to_string(branches.lanes) +
         ", \"present\": " + std::to_string(branches.present) + '}';
}

inline std::string json(const LineProfile& line) {
  return "\n      {\"source\": " + json(line.source) + ", \"branches\": " + json(line.branches) +
         ", \"accesses\": " + listOf(line.accesses, [](const AccessProfile& access) { return json(access); }) + '}';
}

inline std::string json(const KernelProfile& kernel, const Gpu& gpu) {
  std::ostringstream out;
  out << "\n    {\"name\": " << quoted(kernel.name) << ", \"launches\": " << kernel.launches
      << ", \"blocks\": " << kernel.blocks << ", \"warps\": " << kernel.warps << ", \"barriers\": " << kernel.barriers
      << ", \"bytesRead\": " << kernel.bytesRead << ", \"bytesWritten\": " << kernel.bytesWritten
      << ", \"leastMicroseconds\": " << minTime(kernel, gpu)
      << ", \"lines\": " << listOf(kernel.lines, [](const LineProfile& line) { return json(line); }) << '}';
  return out.str();
}

inline std::string json(const Finding& finding) {
  return "\n    {\"kind\": " + quoted(finding.kind) + ", \"kernel\": " + quoted(finding.kernel) +
         ", \"otherKernels\": " + std::to_string(finding.otherKernels) + ", \"source\": " + json(finding.source) +
         ", \"cause\": " + quoted(finding.cause) + ", \"advice\": " + quoted(finding.advice) +
         ", \"loss\": " + decimal(finding.loss, 1) + '}';
}

inline std::string jsonReport(const Profile& profile) {
  const Gpu gpu = gpuOfReports();
  return "{\"gpu\": {\"name\": " + quoted(gpu.name) + ", \"gigabytesPerSecond\": " + decimal(gpu.bandwidth, 0) +
         "},\n  \"worst\": " + listOf(worstFindings(profile), [](const Finding& finding) { return json(finding); }) +
         ",\n  \"kernels\": " +
         listOf(profile.kernels, [&gpu](const KernelProfile& kernel) { return json(kernel, gpu); }) + "\n}\n";
}

}  // namespace gpuopt::emulation::detail
