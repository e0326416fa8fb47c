// EXPECT: gpuopt: host and device have elements of different types
// WRITTEN: upload(doubles, n, floats)
// SPDX-License-Identifier: MIT
#include <gpuopt/transfer.cuh>

void copy(const double* host, float* device) { gpuopt::upload(host, 10, device); }
