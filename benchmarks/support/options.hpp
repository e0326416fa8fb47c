/// \file
/// The command line of a benchmark. Plain C++: CLI11 stays in options.cpp, away from nvcc.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace bench {

using Names = std::vector<std::string>;

inline bool contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The options that every benchmark has. Add the others, then parse().
class Options {
 public:
  Options(int count, char** words, const std::string& program, const std::string& purpose);
  ~Options();

  /// A list, separated by commas, of some of the names allowed. Without `allowed`, the default is all that
  /// there is.
  void choice(const std::string& name, Names& chosen, const std::string& help, Names allowed = {});

  /// A list of anything, separated by commas.
  void list(const std::string& name, Names& values, const std::string& help);

  void number(const std::string& name, int& value, const std::string& help);

  /// Prints the help and exits with status 0, or an error and exits with 2, where the command line asks for
  /// it. `usual` and `quick` are the repetitions where it names none, without and with --quick.
  void parse(int usual, int quick);

  std::string program;
  std::string command;  ///< the whole line, for reports
  std::string folder = ".";
  int repetitions = 0;
  bool isQuick = false;

 private:
  std::unique_ptr<CLI::App> app_;
  int count_;
  char** words_;
};

/// Measurements under one name.
template <class Bench>
struct Group {
  const char* name;
  void (*measure)(Bench&);
};

template <class Bench, std::size_t COUNT>
Names namesOf(const Group<Bench> (&groups)[COUNT]) {
  Names names;
  for (const auto& group : groups) names.push_back(group.name);
  return names;
}

template <class Bench, std::size_t COUNT>
void measureChosen(const Group<Bench> (&groups)[COUNT], const Names& chosen, Bench& bench) {
  for (const auto& group : groups)
    if (contains(chosen, group.name)) group.measure(bench);
}

/// A benchmark's main: run(options) gives the exit status; an exception prints one line and gives 2.
template <class Run>
int runBenchmark(int count, char** words, const char* program, const char* purpose, Run run) {
  try {
    Options options(count, words, program, purpose);
    return run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return 2;
  }
}

}  // namespace bench
