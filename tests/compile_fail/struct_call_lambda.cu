// EXPECT: gpuopt: the function must take a structure of each input, alone or with its index
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

// What nvcc shows of a lambda for the device alone.
struct OfOther {
  __device__ void operator()(double2&) const {}
};

__global__ void fail(float4* data) { gpuopt::detail::callForStruct(OfOther{}, 0, *data); }
