// EXPECT: gpuopt::upload takes (host, n, device) or, if one of the arrays is a container or span, or both are a MatrixView, (host, device); then a stream
// DO: the source comes first, then the number of elements, then the target
// SPDX-License-Identifier: MIT
#include <gpuopt/transfer.cuh>

void fail(const float* host, float* device) { gpuopt::upload(host, device, 100); }
