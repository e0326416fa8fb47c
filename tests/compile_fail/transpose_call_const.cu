// EXPECT: gpuopt::transpose: the elements of out are const: in comes before out
// DO: the input comes first
// SPDX-License-Identifier: MIT
#include <gpuopt/transpose.cuh>

void fail(const float* in, gpuopt::MatrixView<const float> out) {
  gpuopt::transpose(gpuopt::MatrixView{in, 3, 4}, out);
}
