// EXPECT: gpuopt: the accessor of an mdspan must give access to the elements themselves
// SPDX-License-Identifier: MIT
#include "mdspan.hpp"

#include <gpuopt/transpose.cuh>

using Scaled = Mdspan<2, true, float>;

void fail(Scaled in, Scaled out) { gpuopt::transpose(in, out); }
