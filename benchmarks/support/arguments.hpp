/// \file
/// The options of a benchmark: `--name value` and `--name`, without a library that the GPU machine may lack.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// "a,b,c" as {"a", "b", "c"}.
inline std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream stream(list);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

template <class T>
bool contains(const std::vector<T>& values, const T& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

/// Takes options out of the command line one by one; whatever is left in the end is an error.
class Arguments {
 public:
  Arguments(int count, char** values, std::string usage)
      : command_(values[0]), usage_(std::move(usage)), words_(values + 1, values + count) {
    for (const std::string& word : words_) command_ += " " + word;
    if (flag("--help")) finish(0, "");
  }

  /// The whole command line, for reports.
  const std::string& command() const { return command_; }

  bool flag(const std::string& name) {
    const auto found = std::find(words_.begin(), words_.end(), name);
    if (found == words_.end()) return false;
    words_.erase(found);
    return true;
  }

  std::string value(const std::string& name, const std::string& otherwise) {
    const auto found = std::find(words_.begin(), words_.end(), name);
    if (found == words_.end()) return otherwise;
    if (std::next(found) == words_.end()) finish(2, name + " needs a value\n");
    const std::string result = *std::next(found);
    words_.erase(found, std::next(found, 2));
    return result;
  }

  int number(const std::string& name, int otherwise) {
    const std::string text = value(name, std::to_string(otherwise));
    char* end = nullptr;
    const long result = std::strtol(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0') finish(2, name + ": not a number: " + text + "\n");
    return static_cast<int>(result);
  }

  /// Call it after the last option was taken.
  void requireEmpty() const {
    if (!words_.empty()) finish(2, "unknown option " + words_.front() + "\n");
  }

 private:
  [[noreturn]] void finish(int status, const std::string& message) const {
    std::fprintf(status == 0 ? stdout : stderr, "%s%s", message.c_str(), usage_.c_str());
    std::exit(status);
  }

  std::string command_;
  std::string usage_;
  std::vector<std::string> words_;
};

/// Measurements under one name.
template <class Bench>
struct Group {
  const char* name;
  void (*measure)(Bench&);
};

/// Those that the option --rows names; all if it is left out.
template <class Bench, std::size_t COUNT>
std::vector<Group<Bench>> chosenGroups(const Group<Bench> (&groups)[COUNT], Arguments& arguments) {
  const auto names = split(arguments.value("--rows", ""));
  std::vector<Group<Bench>> chosen;
  for (const auto& group : groups)
    if (names.empty() || contains(names, std::string(group.name))) chosen.push_back(group);
  if (!names.empty() && chosen.size() != names.size()) throw std::invalid_argument("--rows: unknown name");
  return chosen;
}

/// A benchmark's main: run(arguments) gives the exit status, an exception one line and 2.
template <class Run>
int runBenchmark(int count, char** values, const char* program, const char* usage, Run run) {
  try {
    Arguments arguments(count, values, usage);
    return run(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return 2;
  }
}

}  // namespace bench
