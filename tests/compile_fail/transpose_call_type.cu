// EXPECT: gpuopt: only trivially copyable elements can be transposed
// WRITTEN: `transpose(in, out, rows, cols)` of `std::string`s
// DO: transpose indices or pointers
// SPDX-License-Identifier: MIT
#include <gpuopt/transpose.cuh>

#include <string>

void fail(const std::string* in, std::string* out) { gpuopt::transpose(in, out, 3, 4); }
