// EXPECT-SUCCESS
// The headers that the failing sources include, used properly.
// SPDX-License-Identifier: MIT
#include <gpuopt/gpuopt.cuh>
