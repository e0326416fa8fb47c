// EXPECT: gpuopt: only trivially copyable elements can be permuted
// WRITTEN: `permute(in, out, extents, axes)` of `std::string`s
// DO: permute indices or pointers
// SPDX-License-Identifier: MIT
#include <gpuopt/permute.cuh>

#include <string>

void fail(const std::string* in, std::string* out) { gpuopt::permute(in, out, {3, 4, 5}, {2, 0, 1}); }
