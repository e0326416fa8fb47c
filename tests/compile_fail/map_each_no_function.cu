// EXPECT: gpuopt::forEach: these arguments fit no form of it: it takes (data, n, f) or (container, f), then a stream
// DO: the function is the third argument
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

void fail(float* data) { gpuopt::forEach(data, 3); }
