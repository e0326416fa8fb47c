/// Which cases of a long series run.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>

namespace gpuopt::test {

/// A series of cases, of which each runs, but only one in GPUOPT_TEST_EVERY if the environment says so, for sanitizers
/// make launches many times slower. The first one always runs: a series that is static in a function template has one
/// case of each type at least. A prime picks cases from every part of loops within loops.
class Series {
 public:
  bool runsNext() { return number_++ % every() == 0; }

 private:
  static unsigned every() {
    static const unsigned result = [] {
      const char* text = std::getenv("GPUOPT_TEST_EVERY");
      const int number = text == nullptr ? 1 : std::atoi(text);
      return number < 1 ? 1U : static_cast<unsigned>(number);
    }();
    return result;
  }

  unsigned number_ = 0;
};

/// Whether the next case runs of a series that goes through a whole program.
inline bool runsNextCase() {
  static Series series;
  return series.runsNext();
}

}  // namespace gpuopt::test
