/// \file
/// The command line of the experiments.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace experiments {

struct Options {
  std::string command;             ///< the whole line
  std::vector<std::string> names;  ///< of the experiments to run; empty: all
  bool list = false;               ///< only say which there are
  std::string csv;                 ///< files to write; empty: none
  std::string json;
};

/// Parses the command line. Prints the help and exits with status 0 where that is asked for. Throws
/// std::runtime_error with one line otherwise.
Options parseOptions(int count, char** words, const std::vector<std::string>& names);

}  // namespace experiments
