// EXPECT: gpuopt: the elements of a transfer's target are const
// WRITTEN: upload(host, n, device), where device is a const float*
// SPDX-License-Identifier: MIT
#include <gpuopt/transfer.cuh>

void copy(const float* host, const float* device) { gpuopt::upload(host, 10, device); }
