// EXPECT: gpuopt: the elements of a std::vector, std::array or std::string are in the host's memory
// WRITTEN: a `std::array` where a container in device memory is taken
// SPDX-License-Identifier: MIT
#include <gpuopt/core/range.cuh>

#include <array>

float* fail(std::array<float, 8>& array) { return gpuopt::detail::dataOf(array); }
