// EXPECT: gpuopt: structures move as bytes, so their type must be trivially copyable
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

#include <string>

struct Named {
  std::string name;
};

struct Length {
  __device__ int operator()(const Named& named) const { return static_cast<int>(named.name.size()); }
};

void fail(const Named* in, int* out) { gpuopt::transformStructs(in, 3, out, Length{}); }
