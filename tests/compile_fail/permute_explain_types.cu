// EXPECT: gpuopt::permute: in and out have elements of different types: pass a function
// WRITTEN: `explainPermute(in, out, extents, axes)` of floats and doubles
// DO: the sizes of elements decide: pass pointers to elements of one type
// SPDX-License-Identifier: MIT
#include <gpuopt/permute.cuh>

#include <string>

std::string fail(const float* in, double* out) { return gpuopt::explainPermute(in, out, {3, 4, 5}, {2, 0, 1}); }
