/// Sources with and without GPUOPT_CHECK_POINTERS and GPUOPT_NVTX in one program: each does as it was compiled, and
/// takes the results of the other.
// SPDX-License-Identifier: MIT
#define GPUOPT_CHECK_POINTERS 1
#define GPUOPT_NVTX 1

#include "results.hpp"

#include <stdexcept>

namespace {

bool isRefused(const float* data, std::size_t n) {
  try {
    static_cast<void>(gpuopt::reduce(data, n));
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}

bool areRight(const Results& results) {
  const auto& [minMax, sumMinMax, largest, moments, run] = results;
  return minMax.maximum == 4 && sumMinMax.sum == 7 && valueOf(largest) == 4 && moments.count == 3 && run.chunks == 0;
}

}  // namespace

int main() {
  const float onHost[3] = {1, 2, 4};  // which kernels of the emulated device can read
  return isRefused(onHost, 3) && sumUnchecked(onHost, 3) == 7.0f && areRight(resultsUnchecked(onHost, 3)) ? 0 : 1;
}
