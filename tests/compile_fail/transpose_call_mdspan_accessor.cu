// EXPECT: gpuopt: the accessor of an mdspan must give access to the elements themselves
// WRITTEN: `transpose(in, out)` of mdspans with a scaling accessor
// DO: pass the plain mdspan, and scale in a function on the way
// SPDX-License-Identifier: MIT
#include "mdspan.hpp"

#include <gpuopt/transpose.cuh>

using Scaled = Mdspan<2, true, float>;

void fail(Scaled in, Scaled out) { gpuopt::transpose(in, out); }
