// EXPECT: gpuopt::forEach: the call operator of the function must be const
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

void fail(float* data) {
  gpuopt::forEach(data, 3, [step = 1.0f](float& x) mutable { x += step++; });
}
