/// \file
/// The command line of the experiments, by CLI11.
// SPDX-License-Identifier: MIT
#include "options.hpp"

#include "command_line.hpp"

#include <CLI/CLI.hpp>

namespace experiments {

Options parseOptions(int count, char** words, const std::vector<std::string>& names) {
  Options options;
  CLI::App app(
      "The classical experiments of GPU optimisation: each is explained, predicted, checked, and timed on a "
      "GPU.");
  app.add_option("experiments", options.names, "which of them; without names, all")->check(CLI::IsMember(names));
  app.add_flag("--list", options.list, "say which there are, and what they are about");
  app.add_option("--csv", options.csv, "write the tables to this file");
  app.add_option("--json", options.json, "write them to this file");
  parseCommandLine(app, count, words);
  for (int i = 0; i < count; ++i) options.command += (i > 0 ? " " : "") + std::string(words[i]);
  return options;
}

}  // namespace experiments
