// EXPECT: gpuopt: an access pattern is a function of the lane, pattern(unsigned)
// SPDX-License-Identifier: MIT
#include <gpuopt/access.cuh>

constexpr auto cost = gpuopt::globalAccess<float>(2);
