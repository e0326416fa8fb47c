// EXPECT: gpuopt::transform: the elements of out are const
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

void fail(gpuopt::MatrixView<float> in, gpuopt::MatrixView<const float> out) { transform(in, out, gpuopt::Identity{}); }
