// EXPECT: gpuopt::combine: results of argMin are combined with Minimum{}, those of argMax with Maximum{}, as a third
// WRITTEN: `combine(best, argMin(chunk, n).shifted(first))`
// DO: `combine(best, argMin(chunk, n).shifted(first), Minimum{})`
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

gpuopt::ArgResult<float> fail(const gpuopt::ArgResult<float>& best, const float* chunk) {
  return gpuopt::combine(best, gpuopt::argMin(chunk, 1000).shifted(1000));
}
