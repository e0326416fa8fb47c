/// \file
/// The report of the experiments.
// SPDX-License-Identifier: MIT
#include "report.hpp"

#include "../../benchmarks/support/text.hpp"
#include "output_file.hpp"

#include <unistd.h>

#include <cstdio>

namespace experiments {
namespace {

using bench::detail::format;
using bench::detail::quoted;

// Four digits, and no exponents for whole thousands.
std::string text(double value) { return value == 0 ? "" : format(value < 1000 ? "%.4g" : "%.0f", value); }

std::string textOr(double value, const char* none) { return value == 0 ? none : format("%.6g", value); }

void print(const std::string& cell, int width) { std::printf("  %-*s", width, cell.c_str()); }

constexpr int rowWidth = 32, cellWidth = 24, numberWidth = 13;

}  // namespace

Report::Report(Header header, bool isMeasured, const std::string& csvFile, const std::string& jsonFile)
    : header_(std::move(header)),
      isMeasured_(isMeasured),
      csv_(openOutputFile(csvFile)),
      json_(openOutputFile(jsonFile)) {
  for (const auto& [name, value] : header_) csv_ << "# " << name << ": " << value << "\n";
  csv_ << "experiment,table,row,then,predicted,measured,value,right\n";
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
  showProgress();
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
  showProgress();
}

void Report::note(const std::string& text) {
  hideProgress();
  std::printf("  %s\n", text.c_str());
}

// One line for each thing that was measured, or one without.
void Report::writeRow(const Table& table, const Row& row) {
  const std::size_t lines = isMeasured_ && !row.now.empty() ? row.now.size() : 1;
  for (std::size_t i = 0; i < lines; ++i) {
    const bool hasValue = isMeasured_ && i < row.now.size();
    csv_ << table.experiment << "," << quoted(table.headings.title) << "," << quoted(row.name) << ","
         << quoted(row.then) << "," << quoted(row.predicted) << ","
         << quoted(hasValue ? table.headings.now.at(i) : "") << ","
         << (hasValue ? textOr(row.now[i], "") : "") << "," << (row.isRight ? "yes" : "no") << "\n";
  }
}

// On a terminal: how many experiments are done, behind the tables.
void Report::showProgress() const {
  if (!isatty(STDERR_FILENO)) return;
  const std::string done(20 * (begun_ - 1) / experiments_, '=');
  std::fprintf(stderr, "  [%-20s] %s\r", done.c_str(), experiment_.c_str());
}

void Report::hideProgress() const {
  if (isatty(STDERR_FILENO)) std::fprintf(stderr, "\r%60s\r", "");
}

int Report::finish() {
  hideProgress();
  if (json_.is_open()) writeJson();
  return wrong_;
}

void Report::writeJson() {
  json_ << "{\n";
  for (const auto& [name, value] : header_) json_ << "  " << quoted(name) << ": " << quoted(value) << ",\n";
  json_ << "  \"wrong\": " << wrong_ << ",\n  \"tables\": [";
  const char* betweenTables = "\n";
  for (const Table& table : tables_) {
    json_ << betweenTables << "    {\"experiment\": " << quoted(table.experiment)
          << ", \"title\": " << quoted(table.headings.title) << ", \"rows\": [";
    const char* betweenRows = "\n      ";
    for (const Row& row : table.rows) {
      json_ << betweenRows << "{\"row\": " << quoted(row.name) << ", \"then\": " << quoted(row.then)
            << ", \"predicted\": " << quoted(row.predicted)
            << ", \"right\": " << (row.isRight ? "true" : "false") << ", \"measured\": {";
      for (std::size_t i = 0; isMeasured_ && i < row.now.size(); ++i)
        json_ << (i > 0 ? ", " : "") << quoted(table.headings.now.at(i)) << ": "
              << textOr(row.now[i], "null");
      json_ << "}}";
      betweenRows = ",\n      ";
    }
    json_ << "]}";
    betweenTables = ",\n";
  }
  json_ << "\n  ]\n}\n";
}

}  // namespace experiments
