// EXPECT: gpuopt: the elements are volatile: kernels load them by vectors
// DO: pass a pointer without `volatile`, by `const_cast`
// NOISY nvcc: the kernels are instantiated nevertheless
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

float fail(const volatile float* in) { return gpuopt::reduce(in, 10); }
