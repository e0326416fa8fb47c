// EXPECT: gpuopt::forEach: the call operator of the function must be const
// WRITTEN:   gpuopt::forEach(data, 3, [step = 1.0f](float& x) mutable { x += step++; });
// DO: compute from the index, which may be a second parameter: elements come in no order
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

void fail(float* data) {
  gpuopt::forEach(data, 3, [step = 1.0f](float& x) mutable { x += step++; });
}
