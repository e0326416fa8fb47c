// EXPECT: gpuopt: an access pattern gives integers: indices of elements, or byte addresses
// SPDX-License-Identifier: MIT
#include <gpuopt/access.cuh>

constexpr auto cost = gpuopt::sharedAccess<float>([](unsigned lane) { return 0.5 * lane; });
