/// \file
/// The command line of particles, by CLI11.
// SPDX-License-Identifier: MIT
#include "options.hpp"

#include "command_line.hpp"

#include <CLI/CLI.hpp>

Options parseOptions(int count, char** words) {
  Options options;
  CLI::App app(
      "Moves particles around four heavy bodies, with the particles as an array of structures (direct and "
      "staged) and in columns; checked on the CPU.");
  auto* input =
      app.add_option("input", options.input,
                     "table (CSV) with the columns x, y, z, vx, vy, vz, mass, id; without it, a table of ours");
  app.add_option("--count", options.count, "generate so many particles instead")
      ->excludes(input)
      ->check(CLI::Range(1, 1 << 30));
  app.add_option("--steps", options.steps, "steps of time: 0 to 100")->check(CLI::Range(0, 100));
  app.add_option("--output", options.output, "where the particles are written after the last step");
  parseCommandLine(app, count, words);
  return options;
}
