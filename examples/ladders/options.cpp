/// \file
/// The command lines of the ladders, by CLI11.
// SPDX-License-Identifier: MIT
#include "options.hpp"

#include "command_line.hpp"

#include <CLI/CLI.hpp>

#include <charconv>
#include <stdexcept>

namespace ladders {
namespace {

void parse(CLI::App& app, Options& options, int count, char** words) {
  app.add_option("--repeats", options.repeats, "repeat the work so often in each of 21 samples, by both methods")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--csv", options.csv, "write the table to this file");
  app.add_option("--json", options.json, "write it, and what each step teaches, to this file");
  parseCommandLine(app, count, words);
  for (int i = 0; i < count; ++i) options.command += (i > 0 ? " " : "") + std::string(words[i]);
}

// Reads one side and what must follow it.
unsigned sideOf(const char*& text, const char* end) {
  unsigned side = 0;
  const auto [behind, error] = std::from_chars(text, end, side);
  if (error != std::errc() || side == 0 || side > 65535) return 0;
  text = behind;
  return side;
}

MatrixSize matrixSize(const std::string& text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  MatrixSize size{};
  size.rows = size.cols = sideOf(at, end);
  if (at != end && *at == 'x') size.cols = sideOf(++at, end);
  if (at != end || size.rows == 0 || size.cols == 0)
    throw std::runtime_error("--size: '" + text + "' is no matrix like 2048 or 2048x1024, of 1 to 65535 on a side");
  return size;
}

}  // namespace

Options reductionOptions(int count, char** words, std::vector<std::uint64_t>& sizes) {
  Options options;
  CLI::App app("The reduction ladder: every classical step on the same array, checked, and timed on a GPU.");
  app.add_option("--size", sizes, "numbers of elements, like 4194304 or 4M; several are taken in turn")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 36))
      ->capture_default_str();
  parse(app, options, count, words);
  return options;
}

Options transposeOptions(int count, char** words, std::vector<MatrixSize>& sizes) {
  Options options;
  std::vector<std::string> texts;
  CLI::App app("The transpose ladder: every classical step on the same matrix, checked, and timed on a GPU.");
  app.add_option("--size", texts, "matrices, like 2048 or 2048x1024; several are taken in turn");
  parse(app, options, count, words);
  if (!texts.empty()) sizes.clear();
  for (const std::string& text : texts) sizes.push_back(matrixSize(text));
  return options;
}

}  // namespace ladders
