// EXPECT: gpuopt::combine: results of argMin are combined with Minimum{}, those of argMax with Maximum{}
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

using Found = gpuopt::ArgResult<float>;

Found fail(const Found& a, const Found& b) { return gpuopt::combine(a, b, gpuopt::Plus{}); }
