/// \file
/// The report of the experiments.
// SPDX-License-Identifier: MIT
#include "report.hpp"

#include "output_file.hpp"
#include "progress.hpp"
#include "text.hpp"

#include <cstdio>
#include <utility>

namespace experiments {
namespace {

// Four digits, and no exponents for whole thousands.
std::string text(double value) { return value == 0 ? "" : format(value < 1000 ? "%.4g" : "%.0f", value); }

std::string textOr(double value, const char* none) { return value == 0 ? none : format("%.6g", value); }

void print(const std::string& cell, int width) { std::printf("  %-*s", width, cell.c_str()); }

constexpr int rowWidth = 32, cellWidth = 24, numberWidth = 13;

}  // namespace

Report::Report(HeaderLines header, bool isMeasured, const std::string& csvFile, const std::string& jsonFile)
    : header_(std::move(header)),
      isMeasured_(isMeasured),
      csv_(openOutputFile(csvFile)),
      json_(openOutputFile(jsonFile)) {
  writeCsvHeader(csv_, header_);
  csv_ << "experiment,table,row,then,predicted,measured,value,right,headings\n";
}

void Report::begin(const std::string& name, const std::string& lesson, std::size_t experiments) {
  hideProgress();
  experiment_ = name;
  experiments_ = experiments;
  ++begun_;
  std::printf("\n== %s\n\n%s\n", name.c_str(), lesson.c_str());
}

void Report::table(const Headings& headings) {
  hideProgress();
  tables_.push_back({experiment_, headings, {}});
  std::printf("\n%s\n", headings.title.c_str());
  print(headings.row, rowWidth);
  if (!headings.then.empty()) print(headings.then, cellWidth);
  if (!headings.predicted.empty()) print(headings.predicted, cellWidth);
  if (isMeasured_)
    for (const std::string& column : headings.now) std::printf("  %*s", numberWidth, column.c_str());
  std::printf("\n");
  showProgress(begun_ - 1, experiments_, experiment_);
}

void Report::add(const Row& row) {
  hideProgress();
  Table& table = tables_.back();
  wrong_ += row.isRight ? 0 : 1;
  table.rows.push_back(row);
  print(row.name, rowWidth);
  if (!table.headings.then.empty()) print(row.then, cellWidth);
  if (!table.headings.predicted.empty()) print(row.predicted, cellWidth);
  if (isMeasured_)
    for (const double value : row.now) std::printf("  %*s", numberWidth, text(value).c_str());
  std::printf("  %s\n", row.isRight ? "ok" : "WRONG");
  std::fflush(stdout);
  writeRow(table, row);
  showProgress(begun_ - 1, experiments_, experiment_);
}

void Report::note(const std::string& text) {
  hideProgress();
  std::printf("  %s\n", text.c_str());
}

// One line for each thing that was measured, or one without.
void Report::writeRow(const Table& table, const Row& row) {
  const Headings& headings = table.headings;
  const std::string names = headings.row + " | " + headings.then + " | " + headings.predicted;
  const std::size_t lines = isMeasured_ && !row.now.empty() ? row.now.size() : 1;
  for (std::size_t i = 0; i < lines; ++i) {
    const bool hasValue = isMeasured_ && i < row.now.size();
    csv_ << table.experiment << "," << quoted(headings.title) << "," << quoted(row.name) << "," << quoted(row.then)
         << "," << quoted(row.predicted) << "," << quoted(hasValue ? headings.now.at(i) : "") << ","
         << (hasValue ? textOr(row.now[i], "") : "") << "," << (row.isRight ? "yes" : "no") << "," << quoted(names)
         << "\n";
  }
}

int Report::finish() {
  hideProgress();
  if (json_.is_open()) writeJson();
  return wrong_;
}

void Report::writeJson() {
  writeJsonTables(json_, header_, wrong_, tables_, [&](const Table& table) {
    json_ << "{\"experiment\": " << quoted(table.experiment) << ", \"title\": " << quoted(table.headings.title)
          << ", \"rows\": [";
    writeJsonList(json_, table.rows, 6, [&](const Row& row) { writeJsonRow(table, row); });
    json_ << "]}";
  });
}

void Report::writeJsonRow(const Table& table, const Row& row) {
  json_ << "{\"row\": " << quoted(row.name) << ", \"then\": " << quoted(row.then)
        << ", \"predicted\": " << quoted(row.predicted) << ", \"right\": " << (row.isRight ? "true" : "false")
        << ", \"measured\": {";
  for (std::size_t i = 0; isMeasured_ && i < row.now.size(); ++i)
    json_ << (i > 0 ? ", " : "") << quoted(table.headings.now.at(i)) << ": " << textOr(row.now[i], "null");
  json_ << "}}";
}

}  // namespace experiments
