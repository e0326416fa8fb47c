// EXPECT: gpuopt::transposeInPlace: the elements of data are const
// NOISY nvcc: the kernels are instantiated nevertheless
// SPDX-License-Identifier: MIT
#include <gpuopt/transpose.cuh>

void fail(const float* data) { gpuopt::transposeInPlace(data, 3, 3); }
