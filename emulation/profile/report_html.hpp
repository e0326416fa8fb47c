/// The report as a page: what to improve first, then each kernel's source with a bar beside each line.
// SPDX-License-Identifier: MIT
#pragma once

#include "advice.hpp"
#include "numbers.hpp"
#include "report_text.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace gpuopt::emulation::detail {

inline std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      default:
        result += c;
    }
  return result;
}

inline constexpr char PAGE_BEGIN[] = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>gpuopt profile</title><style>
body { font: 16px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 70rem; padding: 0 .8rem 3rem; }
h2 { font-size: 1.05rem; overflow-wrap: anywhere; margin-top: 2.5rem; }
ol { padding-left: 1.3rem; } li { margin-bottom: .7rem; } li b { overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; font: 13px/1.5 ui-monospace, monospace; }
.totals { white-space: pre-line; margin-top: -.8rem; }
td { padding: 0 .4rem; vertical-align: top; }
td.number { color: #767676; text-align: right; width: 1%; }
td.bar { width: 18%; min-width: 4.5rem; }
td.code { white-space: pre-wrap; overflow-wrap: anywhere; }
.bar div { display: flex; height: .8rem; margin-top: .35rem; }
.bar i { background: #3a7d44; height: 100%; } .bar u { background: #c0392b; height: 100%; }
details { display: inline; } summary { cursor: pointer; white-space: pre-wrap; }
details pre { color: #444; margin: .1rem 0 .5rem; white-space: pre-wrap; }
tr.hot { background: #f6f6f2; }
@media (prefers-color-scheme: dark) {
  body { background: #16181a; color: #ddd; } tr.hot { background: #202326; } details pre { color: #bbb; } }
</style></head><body>
<h1>What kernels do to memory</h1>
)";

/// What a line needs, and what it costs beyond that, in the unit of losses.
struct LineCost {
  double needed = 0, lost = 0;
};

inline LineCost costOf(const LineProfile& line) {
  LineCost cost;
  for (const AccessProfile& access : line.accesses) {
    const AccessCounts& counts = access.counts;
    const std::uint64_t ideal = counts.idealSectors + counts.idealWavefronts;
    cost.needed += static_cast<double>(ideal);
    cost.lost += static_cast<double>(counts.sectors + counts.wavefronts - ideal);
    if (isAtomic(access.kind)) cost.lost += static_cast<double>(counts.repeatedLanes);
  }
  const auto executions = static_cast<double>(line.branches.executions);
  cost.needed += executions * line.branches.efficiency();
  cost.lost += executions * (1 - line.branches.efficiency());
  return cost;
}

inline std::string barOf(const LineCost& cost, double most) {
  const auto part = [most](double value) { return decimal(100 * value / most, 1) + '%'; };
  return "<div><i style=\"width:" + part(cost.needed) + "\"></i><u style=\"width:" + part(cost.lost) + "\"></u></div>";
}

/// The lines that an access is inlined through, if it is not the user's own.
inline std::string inliningOf(const LineProfile& line) {
  std::string text;
  for (const AccessProfile& access : line.accesses) {
    if (access.frames.empty() || access.frames.front().is(line.source.file + ':' + std::to_string(line.source.line)))
      continue;
    std::string chain = std::string(nameOf(access.kind)) + " in";
    for (const SourceLine& frame : access.frames) chain += ' ' + placeText(frame);
    chain += '\n';
    if (text.find(chain) == std::string::npos) text += chain;
  }
  return text;
}

inline void writeRow(std::ostream& out, int number, const std::string& code, const LineProfile* line, double most) {
  out << "<tr" << (line == nullptr ? "" : " class=\"hot\"") << "><td class=\"number\">" << number
      << "</td><td class=\"bar\">" << (line == nullptr ? "" : barOf(costOf(*line), most)) << "</td><td class=\"code\">";
  if (line == nullptr) {
    out << escaped(code);
  } else {
    std::ostringstream counts;
    writeLine(counts, *line, 0);
    out << "<details><summary>" << escaped(code) << "</summary><pre>" << escaped(counts.str() + inliningOf(*line))
        << "</pre></details>";
  }
  out << "</td></tr>\n";
}

/// A file's lines around those that have a profile; only the latter if the file is not there.
inline void writeFile(std::ostream& out, const std::string& path, const std::map<int, const LineProfile*>& lines,
                      double most) {
  constexpr int AROUND = 3;
  out << "<p>" << escaped(path) << "</p><table>\n";
  std::ifstream file(path);
  if (!file)
    for (const auto& [number, line] : lines) writeRow(out, number, line->source.function, line, most);
  std::string code;
  for (int number = 1; std::getline(file, code); ++number) {
    const auto next = lines.lower_bound(number - AROUND);
    if (next == lines.end() || next->first > number + AROUND) continue;
    const auto found = lines.find(number);
    writeRow(out, number, code, found == lines.end() ? nullptr : found->second, most);
  }
  out << "</table>\n";
}

inline void writeKernel(std::ostream& out, const KernelProfile& kernel, const Gpu& gpu) {
  std::ostringstream totals;
  writeTotals(totals, kernel, gpu);
  const std::string text = totals.str().substr(1);  // after the empty line
  const std::size_t end = text.find('\n');
  out << "<h2>" << escaped(text.substr(0, end)) << "</h2><p class=\"totals\">" << escaped(text.substr(end)) << "</p>\n";
  std::map<std::string, std::map<int, const LineProfile*>> files;
  double most = 1;
  for (const LineProfile& line : kernel.lines) {
    const LineCost cost = costOf(line);
    most = (std::max)(most, cost.needed + cost.lost);
    files[line.source.file][line.source.line] = &line;
  }
  for (const auto& [path, lines] : files) writeFile(out, path, lines, most);
}

inline std::string htmlReport(const Profile& profile) {
  const Gpu gpu = gpuOfReports();
  std::ostringstream out;
  out << PAGE_BEGIN << "<ol>\n";
  for (const Finding& finding : worstFindings(profile, WORST))
    out << "<li><b>" << escaped(placeText(finding.source)) << "</b>, " << escaped(kernelsText(finding)) << "<br>"
        << escaped(finding.cause) << ".<br>" << escaped(finding.advice) << "</li>\n";
  out << "</ol>\n<p>Bars: <span style=\"color:#3a7d44\">what a line needs</span>, <span style=\"color:#c0392b\">what "
         "it "
         "costs beyond that</span>, in sectors, passes and executions by warps. A line opens for its counts.</p>\n";
  for (const KernelProfile& kernel : profile.kernels) writeKernel(out, kernel, gpu);
  out << "</body></html>\n";
  return out.str();
}

}  // namespace gpuopt::emulation::detail
