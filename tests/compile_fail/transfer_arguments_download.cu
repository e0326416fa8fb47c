// EXPECT: gpuopt::downloadAsync takes (device, n, host) or, if one of the arrays is a container or span, or both are a MatrixView, (device, host); then a stream
// WRITTEN: downloadAsync(device, n, vector)
// SPDX-License-Identifier: MIT
#include <gpuopt/transfer.cuh>

#include <vector>

void fail(const float* device, std::vector<float>& host) { (void)gpuopt::downloadAsync(device, 100, host); }
