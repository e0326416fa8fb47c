// SPDX-License-Identifier: MIT
#include "mdspan.hpp"

#include <gpuopt/permute.cuh>

#include <string>

#if CASE == 1
// EXPECT: gpuopt::permute: the elements of out are const
// DO: the input comes first
void fail(const float* in, const float* out) { gpuopt::permute(in, out, {3, 4, 5}, {2, 0, 1}); }

#elif CASE == 2
// EXPECT: gpuopt::permute: in and out have elements of different types: pass a function
// WRITTEN: `explainPermute(in, out, extents, axes)` of floats and doubles
// DO: the sizes of elements decide: pass pointers to elements of one type
std::string fail(const float* in, double* out) { return gpuopt::explainPermute(in, out, {3, 4, 5}, {2, 0, 1}); }

#elif CASE == 3
// EXPECT: gpuopt: an mdspan must have at most 32 extents
// DO: merge axes that stay neighbours
using ManyAxes = Mdspan<33, true, float&>;

void fail(ManyAxes in, ManyAxes out) { gpuopt::permute(in, out, {0}); }

#elif CASE == 4
// EXPECT: gpuopt: elements of more than 128 bytes cannot be permuted: add an axis for their parts
// WRITTEN: `permute(in, out, extents, axes)` of structs of 132 bytes
struct Large {
  float numbers[33];
};

void fail(const Large* in, Large* out) { gpuopt::permute(in, out, {3, 4, 5}, {2, 0, 1}); }

#elif CASE == 5
// EXPECT: gpuopt: only trivially copyable elements can be permuted
// WRITTEN: `permute(in, out, extents, axes)` of `std::string`s
// DO: permute indices or pointers
void fail(const std::string* in, std::string* out) { gpuopt::permute(in, out, {3, 4, 5}, {2, 0, 1}); }

#elif CASE == 6
// EXPECT: gpuopt::permute: in and out have elements of different types: pass a function
// DO: `permute(in, out, extents, axes, [] __device__(int x) { return float(x); })`
void fail(const float* in, double* out) { gpuopt::permute(in, out, {3, 4, 5}, {2, 0, 1}); }

#elif CASE == 7
// EXPECT: gpuopt::PermutePlan: the type In is const: leave const out
// DO: `PermutePlan<float>`: `run` takes arrays of const elements
void fail(const float* in, float* out) { gpuopt::PermutePlan<const float>({3, 4, 5}, {2, 0, 1}).run(in, out); }

#endif
