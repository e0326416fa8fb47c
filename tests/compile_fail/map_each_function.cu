// EXPECT: gpuopt::forEach: the function must take an element of data, alone or with its index
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

struct OfOther {
  __device__ void operator()(double2&) const {}
};

void fail(float* data) { gpuopt::forEach(data, 3, OfOther{}); }
