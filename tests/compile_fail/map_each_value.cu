// EXPECT: gpuopt::forEach: the function takes an element by value or as const, so it changes nothing: take a reference, or pass const elements to only read them
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

void fail(float* data) {
  gpuopt::forEach(data, 3, [](float x) { x += 1; });
}
