// EXPECT g++: accessIsNotAlignedToItsSize
// EXPECT-LATER nvcc: accessIsNotAlignedToItsSize
// DO: lane addresses that are multiples of the size of the access
// SPDX-License-Identifier: MIT
#include <gpuopt/access.cuh>

constexpr auto cost = gpuopt::globalAccess<16>([](unsigned lane) { return 16 * lane + 4; });
