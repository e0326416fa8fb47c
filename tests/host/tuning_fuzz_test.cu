/// \file
/// The reader of tuning files on damaged ones: it reads or refuses, and what it reads it can write.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"

#include <gpuopt/host/tuning/save.cuh>

#include <algorithm>
#include <cstddef>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using gpuopt::detail::TuningEntry;
using gpuopt::detail::TuningReader;
using gpuopt::detail::writeTuning;

std::string sample() {
  TuningEntry entry;
  entry.key = {"blur \"tile\" \\ \x01 \xc3\xa9", "float", 20};
  entry.device = "A GPU";
  entry.capability = 90;
  entry.choice = "32 x 8";
  entry.choiceTime = 5000000000;
  entry.date = "2026-11-23";
  TuningEntry other = entry;
  other.key.logSize = -1;
  return writeTuning({entry, other});
}

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  /// The text with one to four changes.
  std::string operator()(std::string text) {
    for (std::size_t changes = 1 + below(4); changes-- > 0;) change(text);
    return text;
  }

 private:
  std::size_t below(std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_); }

  void change(std::string& text) {
    static const std::vector<std::string> tokens = {"{",
                                                    "}",
                                                    "[",
                                                    "]",
                                                    ",",
                                                    ":",
                                                    "\"",
                                                    "\\",
                                                    "\\u",
                                                    "\\ud83d\\ude00",
                                                    "\\ud83d",
                                                    "\\udc00x",
                                                    "\\u00g0",
                                                    "-",
                                                    "0",
                                                    "1e9",
                                                    "99999999999999999999",
                                                    "\"gpuopt_tuning\"",
                                                    "\"choice\"",
                                                    "null",
                                                    " ",
                                                    "\n",
                                                    std::string(1, '\0'),
                                                    "\x80",
                                                    "\xff"};
    const std::size_t at = below(text.size() + 1), length = below(12);
    switch (below(5)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, tokens[below(tokens.size())]);
        break;
      case 2:
        text.insert(at, text.substr(below(text.size() + 1), length));
        break;
      case 3:
        text = text.substr(0, at);
        break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
    }
  }

  std::mt19937 random_;
};

// As TuningReader sees them: without the number of the line.
std::string problemOf(const std::string& damaged) {
  const std::string text(damaged.data(), damaged.size());  // in a block of that size, for sanitizers
  try {
    const std::vector<TuningEntry> entries = TuningReader(text).read();
    const std::string written = writeTuning(entries);
    REQUIRE(writeTuning(TuningReader(written).read()) == written);
    return "";
  } catch (const std::runtime_error& error) {
    const std::string what = error.what();
    return what.rfind("line ", 0) == 0 ? what.substr(what.find(": ")) : what;
  }
}

}  // namespace

TEST_CASE("Tuning files with random damage are read or refused", "[sweep]") {
  Mutator mutate(2026);
  std::set<std::string> problems;
  std::size_t read = 0;
  std::string text;
  for (int i = 0; i < 30000; ++i) {
    text = mutate(i % 2 == 0 ? sample() : text);  // damage adds up
    const std::string problem = problemOf(text);
    read += problem.empty() ? 1 : 0;
    problems.insert(problem.rfind("its format is", 0) == 0 ? "its format is" : problem);
  }
  // All that can be wrong has been wrong.
  INFO(read << " read, " << problems.size() << " problems");
  REQUIRE(read > 500);
  REQUIRE(problems.size() >= 14);
}
