// EXPECT: gpuopt: the elements of a std::vector, std::array or std::string are in the host's memory
// WRITTEN: `transpose(v, out, rows, cols)` of a `std::vector`
// DO: copy them to the device first
// SPDX-License-Identifier: MIT
#include <gpuopt/transpose.cuh>

#include <vector>

void fail(const std::vector<float>& in, float* out) { gpuopt::transpose(in, out, 3, 4); }
