/// A place in the source, as profiles and reports of races name it.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace gpuopt {

/// A place in the source and the function around it.
struct SourceLine {
  std::string function;  ///< its name, demangled
  std::string file;      ///< its path as the compiler was given it
  int line = 0;          ///< counted from 1

  /// Whether `place`, such as "kernel.cu:42", names this line: the path may begin at any folder.
  bool is(const std::string& place) const {
    const std::string own = '/' + file + ':' + std::to_string(line), wanted = '/' + place;
    return own.size() >= wanted.size() && own.compare(own.size() - wanted.size(), wanted.size(), wanted) == 0;
  }
};

}  // namespace gpuopt
