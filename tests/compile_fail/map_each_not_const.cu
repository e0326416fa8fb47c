// EXPECT: gpuopt::forEach: the call operator of the function must be const
// WRITTEN: `forEach(data, 3, [step = 1.0f] __device__(float& x) mutable { x += step++; })`
// DO: compute from the index, which may be a second parameter: elements come in no order
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

struct Step {
  float step;
  __device__ void operator()(float& x) { x += step++; }
};

void fail(float* data) { gpuopt::forEach(data, 3, Step{1.0f}); }
