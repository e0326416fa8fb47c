// EXPECT: gpuopt: the elements of a std::vector, std::array or std::string are in the host's memory
// DO: copy them to the device first
// WRITTEN: `reduce(v)` of a `std::vector`
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

#include <vector>

float fail(const std::vector<float>& v) { return gpuopt::reduce(v); }
