/// \file
/// The command line of picture_rotate, by CLI11.
// SPDX-License-Identifier: MIT
#include "options.hpp"

#include "command_line.hpp"

#include <CLI/CLI.hpp>

Options parseOptions(int count, char** words) {
  Options options;
  CLI::App app("Turns a picture by quarter turns, or transposes it, by gpuopt; checked on the CPU.");
  app.add_option("input", options.input, "PGM or PPM picture")->required();
  app.add_option("output", options.output, "where the result is written")->required();
  auto* turns = app.add_option("--turns", options.turns, "quarter turns, clockwise: 1, 2 or 3");
  turns->check(CLI::Range(1, 3));
  app.add_flag("--transpose", options.transpose, "exchange rows and columns, turn nothing")->excludes(turns);
  parseCommandLine(app, count, words);
  return options;
}
