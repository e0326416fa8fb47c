/// \file
/// Parses the command line of an example, whose options are declared to CLI11.
// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <stdexcept>

/// Parses the command line. Prints the help and exits with status 0 where that is asked for. Throws
/// std::runtime_error with one line otherwise.
inline void parseCommandLine(CLI::App& app, int count, char** words) {
  try {
    app.parse(count, words);
  } catch (const CLI::CallForHelp& help) {
    std::exit(app.exit(help));
  } catch (const CLI::ParseError& error) {
    throw std::runtime_error(error.what());
  }
}
