/// \file
/// What the steps of a ladder reached: a table on the terminal, and CSV and JSON files. Plain C++.
// SPDX-License-Identifier: MIT
#pragma once

#include "run_header.hpp"
#include "step.hpp"

#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

namespace ladders {

/// The array or matrix that the steps work on.
struct Workload {
  std::string name;
  std::size_t bytes;     ///< read and written by one run of a step
  double copySpeed = 0;  ///< of the best copy on as many bytes, in GB/s; 0 where no times are taken
};

/// What came out of a step.
struct Outcome {
  bool isRight = false;
  Speeds now;  ///< in GB/s; 0: not measured
};

class Report {
 public:
  /// Writes to the files whose names are not empty, and makes their folders. Throws std::runtime_error with
  /// one line where that fails.
  Report(HeaderLines header, const std::string& csvFile, const std::string& jsonFile);

  /// Prints what each step changes and what problem it leaves.
  static void explain(const std::vector<Step>& steps);

  /// Begins the table of a workload, whose steps follow.
  void begin(const Workload& workload, std::size_t steps);

  /// Shows on a terminal which step is at work.
  void announce(const Step& step) const;

  void add(const Step& step, const Outcome& outcome);

  /// Ends the files. The number of wrong results.
  int finish();

 private:
  struct Row {
    Step step;
    Outcome outcome;
  };
  struct Table {
    Workload workload;
    std::size_t steps;
    std::vector<Row> rows;
  };

  void writeJson();

  HeaderLines header_;
  std::vector<Table> tables_;
  std::ofstream csv_;
  std::ofstream json_;
  int wrong_ = 0;
};

}  // namespace ladders
