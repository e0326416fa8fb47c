// EXPECT: gpuopt: structures move as bytes, so their type must be trivially copyable
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

#include <string>

void fail(const std::string* in, const int* indices, std::string* out) {
  gpuopt::gatherStructs(in, indices, 3, out);
}
