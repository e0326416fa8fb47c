// EXPECT: gpuopt: an iterator of the standard library cannot be read on the device
// DO: copy the elements to the device, and pass a device pointer
// WRITTEN: `reduce(v.begin(), v.size())` of a `std::vector`
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

#include <vector>

float fail(const std::vector<float>& v) { return gpuopt::reduce(v.begin(), v.size()); }
