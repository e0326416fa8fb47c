// EXPECT: gpuopt: the layout of an mdspan must have strides
// WRITTEN: `transpose(in, out)` of mdspans with a layout of your own
// DO: pass `MatrixView`s made of pointers and strides
// SPDX-License-Identifier: MIT
#include "mdspan.hpp"

#include <gpuopt/transpose.cuh>

using SoaTiles = Mdspan<2, false, float&>;

void fail(SoaTiles in, SoaTiles out) { gpuopt::transpose(in, out); }
