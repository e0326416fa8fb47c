// EXPECT: gpuopt::forEach: the function takes an element by value or as const, so it changes nothing: take a reference, or pass const elements to only read them
// WRITTEN:   gpuopt::forEach(data, 3, [](float x) { x += 1; });
// DO: `[] __device__(float& x) { x += 1; }`; to only read, pass a `const float*`
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

void fail(float* data) {
  gpuopt::forEach(data, 3, [](float x) { x += 1; });
}
