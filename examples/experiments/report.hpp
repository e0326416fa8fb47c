/// \file
/// What the experiments found: tables on the terminal, and CSV and JSON files. Plain C++.
// SPDX-License-Identifier: MIT
#pragma once

#include "run_header.hpp"

#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

namespace experiments {

/// The heading of a table. A column whose heading is empty is not there.
struct Headings {
  std::string title;
  std::string row;               ///< what differs from row to row
  std::string then;              ///< published figures
  std::string predicted;         ///< by <gpuopt/access.cuh>, or by a formula
  std::vector<std::string> now;  ///< what is measured, with its unit; only on a GPU
};

struct Row {
  std::string name;
  std::string then;
  std::string predicted;
  std::vector<double> now;  ///< as many as headings; 0: not measured
  bool isRight = true;      ///< whether the results were those of serial code
};

class Report {
 public:
  /// Writes to the files whose names are not empty, and makes their folders. Without `isMeasured` there are
  /// no columns of times. Throws std::runtime_error with one line if a file cannot be written.
  Report(HeaderLines header, bool isMeasured, const std::string& csvFile, const std::string& jsonFile);

  /// Begins an experiment, the next of `experiments`: its name, and what it is about, in lines of text.
  void begin(const std::string& name, const std::string& lesson, std::size_t experiments);

  void table(const Headings& headings);
  void add(const Row& row);

  /// A line below a table.
  void note(const std::string& text);

  /// Ends the files. The number of wrong results.
  int finish();

 private:
  struct Table {
    std::string experiment;
    Headings headings;
    std::vector<Row> rows;
  };

  void writeRow(const Table& table, const Row& row);
  void writeJson();
  void writeJsonRow(const Table& table, const Row& row);

  HeaderLines header_;
  bool isMeasured_;
  std::ofstream csv_;
  std::ofstream json_;
  std::string experiment_;
  std::size_t begun_ = 0, experiments_ = 1;
  std::vector<Table> tables_;
  int wrong_ = 0;
};

}  // namespace experiments
