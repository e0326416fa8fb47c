// SPDX-License-Identifier: MIT
#include <gpuopt/access.cuh>

#if CASE == 1
// EXPECT: gpuopt: an access has 1, 2, 4, 8 or 16 bytes
constexpr auto cost = gpuopt::globalAccess<12>([](unsigned lane) { return 12 * lane; });

#elif CASE == 2
// EXPECT: gpuopt: an asynchronous copy has 4, 8 or 16 bytes
constexpr auto cost =
    gpuopt::asyncCopy<2>([](unsigned lane) { return 2 * lane; }, [](unsigned lane) { return 2 * lane; });

#elif CASE == 3
// EXPECT: gpuopt: an element consists of whole accesses
constexpr auto cost = gpuopt::sharedAccess<float3, 16>([](unsigned lane) { return lane; });

#elif CASE == 4
// EXPECT g++: accessIsNotAlignedToItsSize
// EXPECT-LATER nvcc: accessIsNotAlignedToItsSize
// DO: lane addresses that are multiples of the size of the access
constexpr auto cost = gpuopt::globalAccess<16>([](unsigned lane) { return 16 * lane + 4; });

#elif CASE == 5
// EXPECT: gpuopt: an access pattern is a function of the lane, pattern(unsigned)
constexpr auto cost = gpuopt::globalAccess<float>(2);

#elif CASE == 6
// EXPECT: gpuopt: an access pattern gives integers: indices of elements, or byte addresses
constexpr auto cost = gpuopt::sharedAccess<float>([](unsigned lane) { return 0.5 * lane; });

#endif
