// EXPECT: gpuopt::transposeInPlace: the elements of data are const
// SPDX-License-Identifier: MIT
#include <gpuopt/transpose.cuh>

void fail(const float* data) { gpuopt::transposeInPlace(data, 3, 3); }
