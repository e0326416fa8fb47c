/// \file
/// The command line of picture_rotate.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

struct Options {
  std::string input;
  std::string output;
  int turns = 1;           ///< quarter turns, clockwise
  bool transpose = false;  ///< instead of turning
};

/// Parses the command line. Prints the help and exits with status 0 where that is asked for. Throws
/// std::runtime_error with one line otherwise.
Options parseOptions(int count, char** words);
