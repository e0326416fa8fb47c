/// Sources with and without GPUOPT_CHECK_POINTERS in one program: each does as it was compiled.
// SPDX-License-Identifier: MIT
#define GPUOPT_CHECK_POINTERS 1

#include <gpuopt/reduce.cuh>

#include <stdexcept>

float sumUnchecked(const float* data, std::size_t n);

namespace {

bool isRefused(const float* data, std::size_t n) {
  try {
    static_cast<void>(gpuopt::reduce(data, n));
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}

}  // namespace

int main() {
  const float onHost[3] = {1, 2, 4};  // which kernels of the emulated device can read
  return isRefused(onHost, 3) && sumUnchecked(onHost, 3) == 7.0f ? 0 : 1;
}
