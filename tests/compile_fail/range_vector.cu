// EXPECT: gpuopt: the elements of a std::vector, std::array or std::string are in the host's memory
// WRITTEN: a `std::vector` where a container in device memory is taken
// SPDX-License-Identifier: MIT
#include <gpuopt/core/range.cuh>

#include <vector>

const float* fail(const std::vector<float>& vector) { return gpuopt::detail::dataOf(vector); }
