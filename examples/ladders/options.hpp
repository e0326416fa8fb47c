/// \file
/// The command lines of the ladders.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ladders {

struct MatrixSize {
  unsigned rows;
  unsigned cols;
};

struct Options {
  std::string command;  ///< the whole line
  int repeats = 20;     ///< of the work in one sample of its time
  std::string csv;      ///< files to write; empty: none
  std::string json;
};

/// Parses the command line: sizes are numbers of elements. Prints the help and exits with status 0 where that
/// is asked for. Throws std::runtime_error with one line otherwise.
Options reductionOptions(int count, char** words, std::vector<std::uint64_t>& sizes);

/// The same for matrices, "2048" or "2048x1024", of fewer than 2^32 elements.
Options transposeOptions(int count, char** words, std::vector<MatrixSize>& sizes);

}  // namespace ladders
