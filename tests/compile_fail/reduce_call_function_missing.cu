// EXPECT: gpuopt::transformReduce: these arguments fit no form of it: it takes (in, n, f), (in1, in2, n, f), or containers with data() and size() without n, then op, init, stream and workspace
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce_transform.cuh>

float fail(const float* x) { return gpuopt::transformReduce(x, 1000); }
