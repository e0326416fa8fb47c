// EXPECT: gpuopt::reduceBy: what does a bin without values get? Specialise gpuopt::NeutralElement for op and the type of out
// WRITTEN: `reduceBy(values, n, keys, bins, out, op)` with an operation of your own
// DO: `template <> struct gpuopt::NeutralElement<Op, T> { static constexpr bool exists = true; static T value(); };`
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>

struct Hypotenuse {
  __device__ float operator()(float a, float b) const { return sqrtf(a * a + b * b); }
};

void fail(const float* x, const int* keys, float* out) { gpuopt::reduceBy(x, 3, keys, 10, out, Hypotenuse{}); }
