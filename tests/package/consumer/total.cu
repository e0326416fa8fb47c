// The second file of the program: includes everything, to show that the headers may be used in many.
// SPDX-License-Identifier: MIT
#include <gpuopt/gpuopt.cuh>

#include <cstddef>

int totalOf(const int* data, std::size_t n) { return gpuopt::reduce(data, n); }
