// EXPECT: gpuopt: init is an integer, but the accumulator is not: write it in the accumulator's type
// DO: `nullptr` is the default stream
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

bool fail(const bool* x) { return gpuopt::reduce(x, 1000, gpuopt::LogicalAnd{}, NULL); }
