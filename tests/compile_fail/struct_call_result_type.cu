// EXPECT: gpuopt: structures move as bytes, so their type must be trivially copyable
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

#include <string>

struct ToText {
  __device__ std::string operator()(int) const { return {}; }
};

void fail(const int* in, std::string* out) { gpuopt::transformStructs(in, 3, out, ToText{}); }
