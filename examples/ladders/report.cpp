/// \file
/// The report of a ladder.
// SPDX-License-Identifier: MIT
#include "report.hpp"

#include "output_file.hpp"
#include "progress.hpp"
#include "text.hpp"

#include <cstdio>
#include <utility>

namespace ladders {
namespace {

// A speed as in a table; nothing where there is none.
std::string text(double speed) { return speed > 0 ? format("%.1f", speed) : ""; }

// Nothing in CSV, null in JSON.
std::string orElse(double value, const char* none) { return value > 0 ? format("%.6g", value) : none; }

double microseconds(const Workload& workload, double speed) {
  return speed > 0 ? static_cast<double>(workload.bytes) / speed / 1e3 : 0;
}

void printRow(const Workload& on, const Step& step, const Outcome& outcome) {
  std::printf("  %-24s", step.name.c_str());
  if (on.copySpeed > 0)
    std::printf(" %9s %8s %12s %9s %8.1f %%", text(step.then.launches).c_str(), text(step.then.inside).c_str(),
                text(outcome.now.launches).c_str(), text(outcome.now.inside).c_str(),
                100 * outcome.now.launches / on.copySpeed);
  std::printf("   %s\n", outcome.isRight ? "ok" : "WRONG");
  std::fflush(stdout);
}

std::string csvRow(const Workload& on, const Step& step, const Outcome& outcome) {
  const double share = on.copySpeed > 0 ? outcome.now.launches / on.copySpeed : 0;
  std::string row = on.name + "," + std::to_string(on.bytes) + "," + quoted(step.name);
  for (const double value : {on.copySpeed, step.then.launches, step.then.inside, microseconds(on, outcome.now.launches),
                             outcome.now.launches, outcome.now.inside, share})
    row += "," + orElse(value, "");
  return row + (outcome.isRight ? ",yes\n" : ",no\n");
}

std::string jsonRow(const Workload& workload, const Step& step, const Outcome& outcome) {
  const auto speeds = [](const Speeds& of) {
    return "{\"launches\": " + orElse(of.launches, "null") + ", \"inside\": " + orElse(of.inside, "null") + "}";
  };
  return "{\"step\": " + quoted(step.name) + ", \"changed\": " + quoted(step.changed) +
         ", \"remains\": " + quoted(step.remains) + ",\n       \"then_gbps\": " + speeds(step.then) +
         ", \"gbps\": " + speeds(outcome.now) +
         ", \"us\": " + orElse(microseconds(workload, outcome.now.launches), "null") +
         ", \"right\": " + (outcome.isRight ? "true" : "false") + "}";
}

}  // namespace

Report::Report(HeaderLines header, const std::string& csvFile, const std::string& jsonFile)
    : header_(std::move(header)), csv_(openOutputFile(csvFile)), json_(openOutputFile(jsonFile)) {
  writeCsvHeader(csv_, header_);
  csv_ << "workload,bytes,step,copy_gbps,then_launches_gbps,then_inside_gbps,us,launches_gbps,inside_gbps,"
          "copy_share,right\n";
}

void Report::explain(const std::vector<Step>& steps) {
  std::printf("\n");
  for (const Step& step : steps)
    std::printf("  %-24s %s\n  %-24s remains: %s\n", step.name.c_str(), step.changed.c_str(), "", step.remains.c_str());
}

void Report::begin(const Workload& workload, std::size_t steps) {
  tables_.push_back({workload, steps, {}});
  std::printf("\n%s, %s moved", workload.name.c_str(), readableBytes(workload.bytes).c_str());
  if (workload.copySpeed > 0)
    std::printf("; the best copy moves %.0f GB/s\n  %-24s %18s %22s\n  %-24s %9s %8s %12s %9s %10s", workload.copySpeed,
                "", "then, GB/s", "now, GB/s", "step", "launches", "inside", "launches", "inside", "of a copy");
  std::printf("\n");
}

void Report::announce(const Step& step) const {
  showProgress(tables_.back().rows.size(), tables_.back().steps, step.name);
}

void Report::add(const Step& step, const Outcome& outcome) {
  hideProgress();
  tables_.back().rows.push_back({step, outcome});
  wrong_ += !outcome.isRight;
  printRow(tables_.back().workload, step, outcome);
  csv_ << csvRow(tables_.back().workload, step, outcome);
}

int Report::finish() {
  if (json_.is_open()) writeJson();
  return wrong_;
}

void Report::writeJson() {
  writeJsonTables(json_, header_, wrong_, tables_, [&](const Table& table) {
    json_ << "{\"workload\": " << quoted(table.workload.name) << ", \"bytes\": " << table.workload.bytes
          << ", \"copy_gbps\": " << orElse(table.workload.copySpeed, "null") << ", \"steps\": [";
    writeJsonList(json_, table.rows, 6,
                  [&](const Row& row) { json_ << jsonRow(table.workload, row.step, row.outcome); });
    json_ << "]}";
  });
}

}  // namespace ladders
