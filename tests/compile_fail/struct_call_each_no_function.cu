// EXPECT: gpuopt::forEachStruct: these arguments fit no form of it: it takes (data, n, f) or (container, f), then a stream
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

void fail(float3* data) { gpuopt::forEachStruct(data, 3); }
