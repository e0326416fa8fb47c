/// What is said of a block in which no lane can run although not all have returned.
// SPDX-License-Identifier: MIT
#pragma once

#include "lane.hpp"
#include "report.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace gpuopt::emulation::detail {

inline std::string describeWait(const Request& request) {
  const bool warp = request.operation->scope == Operation::Scope::warp;
  return request.operation->name + (warp ? " (mask " + hexadecimal(request.mask) + ')' : std::string()) + " at " +
         detail::text(request.site);
}

/// The lines where lanes wait, each once.
inline std::vector<Site> waitingLines(const Lane* lanes, unsigned threads) {
  std::vector<Site> lines;
  for (unsigned i = 0; i < threads; ++i) {
    const Site site = lanes[i].request.site;
    const auto isSame = [site](const Site& s) { return s.line == site.line && std::strcmp(s.file, site.file) == 0; };
    if (lanes[i].state == Lane::State::waiting && std::none_of(lines.begin(), lines.end(), isSame))
      lines.push_back(site);
  }
  return lines;
}

/// Why no lane can run although not all have returned: who waits where, and who has left.
inline std::string describeStall(const Lane* lanes, unsigned threads) {
  std::vector<std::pair<std::string, std::vector<unsigned>>> groups;
  std::vector<unsigned> gone;
  bool barrier = false;
  for (unsigned i = 0; i < threads; ++i) {
    const Lane& lane = lanes[i];
    if (lane.state == Lane::State::left) {
      gone.push_back(i);
      continue;
    }
    barrier = barrier || lane.request.operation->scope == Operation::Scope::block;
    const std::string where = describeWait(lane.request);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == where; });
    if (group == groups.end()) group = groups.insert(group, {where, {}});
    group->second.push_back(i);
  }
  std::ostringstream out;
  out << (barrier ? "divergent barrier" : "divergent warp collective: its mask names lanes that never come");
  for (const auto& [where, who] : groups) out << "\n  threads " << ranges(who) << " wait in " << where;
  if (!gone.empty()) out << "\n  threads " << ranges(gone) << " have left the kernel";
  if (threads > WARP_LANES) out << "\n  (threads are numbered in the block; 32 of them make a warp)";
  return out.str();
}

}  // namespace gpuopt::emulation::detail
