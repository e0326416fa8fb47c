// EXPECT: gpuopt: an access has 1, 2, 4, 8 or 16 bytes
// SPDX-License-Identifier: MIT
#include <gpuopt/access.cuh>

constexpr auto cost = gpuopt::globalAccess<12>([](unsigned lane) { return 12 * lane; });
