/// \file
/// What a file of results says about the run that wrote it. Plain C++.
// SPDX-License-Identifier: MIT
#pragma once

#include <ostream>
#include <string>
#include <utility>
#include <vector>

/// Names and values: program, GPU, driver, CUDA version, date and command.
using HeaderLines = std::vector<std::pair<std::string, std::string>>;

/// Writes the header as the comments that a CSV file begins with.
inline void writeCsvHeader(std::ostream& file, const HeaderLines& header) {
  for (const auto& [name, value] : header) file << "# " << name << ": " << value << "\n";
}
