/// \file
/// The command line of a benchmark, by CLI11.
// SPDX-License-Identifier: MIT
#include "options.hpp"

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <utility>

namespace bench {
namespace {

CLI::Option* addList(CLI::App& app, const std::string& name, Names& values, const std::string& help) {
  return app.add_option(name, values, help)->delimiter(',')->allow_extra_args(false);
}

}  // namespace

Options::Options(int count, char** words, const std::string& name, const std::string& purpose)
    : program(name), app_(std::make_unique<CLI::App>(purpose, name)), count_(count), words_(words) {
  for (int i = 0; i < count; ++i) command += (i > 0 ? " " : "") + std::string(words[i]);
  app_->add_option("--out", folder, "write " + name + ".csv and .json to this folder")->capture_default_str();
  app_->add_option("--repetitions", repetitions, "samples of each measurement")->check(CLI::PositiveNumber);
  app_->add_flag("--quick", isQuick, "fewer cases and samples");
}

Options::~Options() = default;

void Options::choice(const std::string& name, Names& chosen, const std::string& help, Names allowed) {
  if (allowed.empty()) allowed = chosen;
  addList(*app_, name, chosen, help)->check(CLI::IsMember(std::move(allowed)));
}

void Options::list(const std::string& name, Names& values, const std::string& help) {
  CLI::Option* const option = addList(*app_, name, values, help);
  if (!values.empty()) option->capture_default_str();
}

void Options::number(const std::string& name, int& value, const std::string& help) {
  app_->add_option(name, value, help)->capture_default_str();
}

void Options::parse(int usual, int quick) {
  try {
    app_->parse(count_, words_);
  } catch (const CLI::ParseError& error) {
    std::exit(app_->exit(error) == 0 ? 0 : 2);
  }
  if (repetitions == 0) repetitions = isQuick ? quick : usual;
}

}  // namespace bench
