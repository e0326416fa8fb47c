// EXPECT: gpuopt::ReducePolicy: BLOCK must be a multiple of 32 from 160 to 1024 (up to 142 elements belong to no step)
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

struct Narrow : gpuopt::ReducePolicy {
  static constexpr int BLOCK = 128;
};

float fail(const float* in) { return gpuopt::reduce<gpuopt::DefaultAccumulator, Narrow>(in, 1000); }
