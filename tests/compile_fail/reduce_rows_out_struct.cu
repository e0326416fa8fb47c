// EXPECT: gpuopt: the results are structures, so out must be a pointer to their type, such as MeanVariance<float>*, ArgResult<float>* or MinMax<float>*
// DO: `MeanVariance<float>*`; of `argMaxRows`, `ArgResult<float>*`
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce_rows.cuh>
#include <gpuopt/reduce_statistics.cuh>

void fail(const float* in, float* out) { gpuopt::meanVarianceRows(in, 3, 4, out); }
