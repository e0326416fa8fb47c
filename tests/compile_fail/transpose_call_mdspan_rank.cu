// EXPECT: gpuopt: an mdspan must have two extents, or three for a batch
// WRITTEN: `transpose(in, out)` of mdspans with one extent
// SPDX-License-Identifier: MIT
#include "mdspan.hpp"

#include <gpuopt/transpose.cuh>

using Vector = Mdspan<1, true, float&>;

void fail(Vector in, Vector out) { gpuopt::transpose(in, out); }
