// EXPECT: gpuopt: an asynchronous copy has 4, 8 or 16 bytes
// SPDX-License-Identifier: MIT
#include <gpuopt/access.cuh>

constexpr auto cost =
    gpuopt::asyncCopy<2>([](unsigned lane) { return 2 * lane; }, [](unsigned lane) { return 2 * lane; });
