// The second file of the program, to show that the headers may be used in many.
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

#include <cstddef>

int totalOf(const int* data, std::size_t n) { return gpuopt::reduce(data, n); }
