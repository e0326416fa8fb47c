/// \file
/// The command line of the demo, by CLI11.
// SPDX-License-Identifier: MIT
#include "options.hpp"

#include "command_line.hpp"

#include <CLI/CLI.hpp>

#include <cstddef>
#include <stdexcept>

namespace {

struct Options {
  std::string file;
  std::string column;
  std::string delimiter;
  std::string type;
  std::size_t skip = 0;
};

bool endsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

Options parse(int count, char** words) {
  Options options;
  CLI::App app(
      "Count, sum, mean, variance, minimum and maximum of the numbers in a file, computed by gpuopt and "
      "checked on the CPU.");
  app.add_option("file", options.file,
                 "PGM or PPM picture, table (--column) or raw binary (--type); without it, a picture of ours");
  auto* column =
      app.add_option("--column", options.column, "a table's column: a name of its header, or a number from 1");
  auto* delimiter = app.add_option("--delimiter", options.delimiter, "between the columns: one character, or 'tab'");
  auto* type = app.add_option("--type", options.type, "raw binary of this type")->check(CLI::IsMember(rawTypes()));
  auto* skip = app.add_option("--skip", options.skip, "bytes before the raw binary");
  skip->needs(type);
  type->excludes(column)->excludes(delimiter);
  parseCommandLine(app, count, words);
  return options;
}

bool isTable(const Options& options) {
  return !options.column.empty() || !options.delimiter.empty() || endsWith(options.file, ".csv") ||
         endsWith(options.file, ".tsv");
}

char delimiterOf(const Options& options) {
  if (options.delimiter == "tab" || (options.delimiter.empty() && endsWith(options.file, ".tsv"))) return '\t';
  if (options.delimiter.empty()) return ',';
  if (options.delimiter.size() > 1)
    throw std::runtime_error("--delimiter: one character, not '" + options.delimiter + "'");
  return options.delimiter[0];
}

}  // namespace

Input readInput(int count, char** words, std::string& name) {
  const Options options = parse(count, words);
  name = options.file.empty() ? shippedFile("lake.pgm") : options.file;
  if (!options.type.empty()) return readRaw(name, options.type, options.skip);
  if (isTable(options)) return readColumn(name, options.column.empty() ? "1" : options.column, delimiterOf(options));
  return readPicture(name);
}
