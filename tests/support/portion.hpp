/// Which cases of a long series run.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <cstdlib>

namespace gpuopt::test {

/// A series of cases, of which one in GPUOPT_TEST_EVERY runs: each on a GPU, and one in three on the emulated device,
/// which takes a thousand times as long; sanitizers ask for fewer. The first one always runs: a series that is static
/// in a function template has one case of each type at least. A prime picks cases from every part of loops within
/// loops, others in each lane order.
class Series {
 public:
  bool runsNext() { return number_++ % every() == 0; }

 private:
#ifdef GPUOPT_EMULATION
  static constexpr int usual = 3;
#else
  static constexpr int usual = 1;
#endif

  static unsigned every() {
    static const unsigned result = [] {
      const char* text = std::getenv("GPUOPT_TEST_EVERY");
      const int number = text == nullptr ? usual : std::atoi(text);
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
