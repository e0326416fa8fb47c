// EXPECT: gpuopt::reduceInto: these arguments fit no form of it: it takes (in, n, out), (first, last, out), or a container with data() and size() and out, then op, init, stream and workspace
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

void fail(const float* x) { gpuopt::reduceInto(x, 1000); }
