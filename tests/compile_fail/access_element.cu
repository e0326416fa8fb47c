// EXPECT: gpuopt: an element consists of whole accesses
// SPDX-License-Identifier: MIT
#include <gpuopt/access.cuh>

constexpr auto cost = gpuopt::sharedAccess<float3, 16>([](unsigned lane) { return lane; });
