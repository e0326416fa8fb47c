// EXPECT g++: accessIsNotAlignedToItsSize
// EXPECT-LATER nvcc: accessIsNotAlignedToItsSize
// SPDX-License-Identifier: MIT
#include <gpuopt/access.cuh>

constexpr auto cost = gpuopt::globalAccess<16>([](unsigned lane) { return 16 * lane + 4; });
