// SPDX-License-Identifier: MIT
#include <gpuopt/core/range.cuh>

#include <array>
#include <vector>

#if CASE == 1
// EXPECT: gpuopt: the elements of a std::vector, std::array or std::string are in the host's memory
// WRITTEN: a `std::array` where a container in device memory is taken
float* fail(std::array<float, 8>& array) { return gpuopt::detail::dataOf(array); }

#elif CASE == 2
// EXPECT: gpuopt: the elements of a std::vector, std::array or std::string are in the host's memory
// WRITTEN: a `std::vector` where a container in device memory is taken
const float* fail(const std::vector<float>& vector) { return gpuopt::detail::dataOf(vector); }

#endif
