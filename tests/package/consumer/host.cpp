// Host code alone, for a C++ compiler without nvcc: it may include the headers that have no device functions.
// SPDX-License-Identifier: MIT
#include <gpuopt/launch.cuh>

bool devicePresent() {
  try {
    return gpuopt::multiprocessorCount(gpuopt::currentDevice()) > 0;
  } catch (const gpuopt::CudaError&) {
    return false;
  }
}
