// EXPECT: gpuopt::binsNeeded: the elements must be integers
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram_automatic.cuh>

std::size_t fail(const float* samples) { return gpuopt::binsNeeded(samples, 3); }
