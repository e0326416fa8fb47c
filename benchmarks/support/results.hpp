/// \file
/// The files of one program's results. Plain C++.
// SPDX-License-Identifier: MIT
#pragma once

#include "../../examples/support/run_header.hpp"
#include "options.hpp"

#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// Lines of a summary: what it is, and the figure.
using ReportLines = std::vector<std::pair<std::string, double>>;

/// <folder>/<program>.csv and .json. Both say which run wrote them.
class ResultFiles {
 public:
  ResultFiles(const Options& options, HeaderLines header);

  std::ofstream& csv() { return csv_; }

  /// Writes and prints the summary. Returns the exit status.
  int finish(const ReportLines& summary, int wrong);

 private:
  HeaderLines header_;
  std::ofstream csv_;
  std::ofstream json_;
};

}  // namespace bench
