/// \file
/// A folder for tuning files, and what is said about them.
// SPDX-License-Identifier: MIT
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace gpuopt::test {

/// Removed with all that is in it by the process that made it: a child of fork() that exits leaves it there.
class TuningFolder {
 public:
  TuningFolder() : name_((std::filesystem::temp_directory_path() / "gpuopt_XXXXXX").string()) {
    if (::mkdtemp(name_.data()) == nullptr) throw std::runtime_error("mkdtemp " + name_);
  }
  TuningFolder(const TuningFolder&) = delete;
  TuningFolder& operator=(const TuningFolder&) = delete;
  ~TuningFolder() {
    if (::getpid() != maker_) return;
    std::error_code ignored;
    std::filesystem::remove_all(name_, ignored);
  }

  std::string file(const std::string& name = "t.json") const { return name_ + "/" + name; }

  /// A line of text without this folder and the line's end.
  std::string without(std::string text) const {
    const std::size_t at = text.find(name_ + "/");
    if (at != std::string::npos) text.erase(at, name_.size() + 1);
    return text.substr(0, text.find('\n') == text.size() - 1 ? text.size() - 1 : std::string::npos);
  }

 private:
  std::string name_;
  pid_t maker_ = ::getpid();
};

inline std::string textOf(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// What f() writes to stderr.
template <class F>
std::string reportedBy(const F& f) {
  const TuningFolder folder;
  std::fflush(stderr);
  const int before = ::dup(STDERR_FILENO);
  std::FILE* file = std::fopen(folder.file().c_str(), "w");
  ::dup2(::fileno(file), STDERR_FILENO);
  f();
  std::fflush(stderr);
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  std::fclose(file);
  return textOf(folder.file());
}

}  // namespace gpuopt::test
