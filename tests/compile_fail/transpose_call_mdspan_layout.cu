// EXPECT: gpuopt: the layout of an mdspan must have strides
// SPDX-License-Identifier: MIT
#include "mdspan.hpp"

#include <gpuopt/transpose.cuh>

using Tiled = Mdspan<2, false, float&>;

void fail(Tiled in, Tiled out) { gpuopt::transpose(in, out); }
