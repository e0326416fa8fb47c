// EXPECT: gpuopt: structures move as bytes, so their type must be trivially copyable
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

#include <string>

struct Clear {
  __device__ void operator()(std::string& text) const { text.clear(); }
};

void fail(std::string* data) { gpuopt::forEachStruct(data, 3, Clear{}); }
