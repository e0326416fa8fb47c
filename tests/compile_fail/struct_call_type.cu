// EXPECT: gpuopt: structures move as bytes, so their type must be trivially copyable
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

#include <string>

struct Length {
  __device__ int operator()(const std::string& text) const { return static_cast<int>(text.size()); }
};

void fail(const std::string* in, int* out) { gpuopt::transformStructs(in, 3, out, Length{}); }
