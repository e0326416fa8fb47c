// EXPECT: gpuopt: the elements of a std::vector, std::array or std::string are in the host's memory
// SPDX-License-Identifier: MIT
#include <gpuopt/transpose.cuh>

#include <vector>

void fail(const std::vector<float>& in, float* out) { gpuopt::transpose(in, out, 3, 4); }
