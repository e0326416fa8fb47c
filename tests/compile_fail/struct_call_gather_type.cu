// EXPECT: gpuopt: structures move as bytes, so their type must be trivially copyable
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

#include <string>

struct Named {
  std::string name;
};

void fail(const Named* in, const int* indices, Named* out) { gpuopt::gatherStructs(in, indices, 3, out); }
