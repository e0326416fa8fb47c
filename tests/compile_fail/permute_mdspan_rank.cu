// EXPECT: gpuopt: an mdspan must have at most 32 extents
// DO: merge axes that stay neighbours
// SPDX-License-Identifier: MIT
#include "mdspan.hpp"

#include <gpuopt/permute.cuh>

using ManyAxes = Mdspan<33, true, float&>;

void fail(ManyAxes in, ManyAxes out) { gpuopt::permute(in, out, {0}); }
