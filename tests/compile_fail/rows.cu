// SPDX-License-Identifier: MIT
#include <gpuopt/rows_add.cuh>
#include <gpuopt/rows_combine.cuh>
#include <gpuopt/rows_gather.cuh>

#if CASE == 1
// EXPECT: gpuopt: rows are added to rows of float, double, __half or __nv_bfloat16
// WRITTEN: `addRows(in, indices, n, out)`, where `out` has integers
// DO: rows of float or double, which hold integers up to 2^24 or 2^53 exactly
void fail(gpuopt::MatrixView<const int> in, const int* indices, gpuopt::MatrixView<int> out) {
  gpuopt::addRows(in, indices, 4, out);
}

#elif CASE == 2
// EXPECT: gpuopt: the elements of out are const
// WRITTEN: `addRows(in, indices, n, out)`, where `out` is a `MatrixView<const float>`
void fail(gpuopt::MatrixView<const float> in, const int* indices) { gpuopt::addRows(in, indices, 4, in); }

#elif CASE == 3
// EXPECT: gpuopt: the indices of rows must be integers
// WRITTEN: `gatherRows(in, indices, n, out)`, where the indices are floats
void fail(gpuopt::MatrixView<const float> in, const float* indices, gpuopt::MatrixView<float> out) {
  gpuopt::gatherRows(in, indices, 4, out);
}

#elif CASE == 4
// EXPECT: gpuopt: in and out have elements of different types: pass a function such as gpuopt::Cast
// WRITTEN: `gatherRows(in, indices, n, out)` from floats to doubles
// DO: `gatherRows(in, indices, n, out, Cast<double>{})`
void fail(gpuopt::MatrixView<const float> in, const int* indices, gpuopt::MatrixView<double> out) {
  gpuopt::gatherRows(in, indices, 4, out);
}

#elif CASE == 5
// EXPECT: gpuopt: rows are combined in float, or in double: their elements and weights must convert to it, and it to the elements of out
// WRITTEN: `combineRows(in, indices, k, out)` of rows of structures
struct Point {
  float x, y;
};

void fail(gpuopt::MatrixView<const Point> in, const int* indices, gpuopt::MatrixView<Point> out) {
  gpuopt::combineRows(in, indices, 8, out);
}

#endif
