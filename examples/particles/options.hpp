/// \file
/// The command line of particles.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

struct Options {
  std::string input;      ///< empty: the table that the project ships
  std::string output;     ///< empty: the result is not written
  std::size_t count = 0;  ///< particles to generate; 0: they are read
  int steps = 10;
};

/// Parses the command line. Prints the help and exits with status 0 where that is asked for. Throws
/// std::runtime_error with one line otherwise.
Options parseOptions(int count, char** words);
