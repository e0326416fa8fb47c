// EXPECT: gpuopt::forEach: these arguments fit no form of it: it takes (data, n, f), (first, last, f), or a container or MatrixView and f, then a stream
// DO: the function is the third argument
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

void fail(float* data) { gpuopt::forEach(data, 3); }
