/// Which cases of a long series run.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>

namespace gpuopt::test {

/// Whether the next case of a series runs: each does, but only one in GPUOPT_TEST_EVERY if the environment
/// says so, for compute-sanitizer makes launches a hundred times slower. A prime picks cases from every part
/// of loops within loops. The series goes through a whole program.
inline bool runsNextCase() {
  static const unsigned every = [] {
    const char* text = std::getenv("GPUOPT_TEST_EVERY");
    const int number = text == nullptr ? 1 : std::atoi(text);
    return number < 1 ? 1U : static_cast<unsigned>(number);
  }();
  static unsigned number = 0;
  return number++ % every == 0;
}

}  // namespace gpuopt::test
