// EXPECT: gpuopt::forEach: the function must take an element of the matrix, alone or with its row and column, by a const call operator
// WRITTEN: `forEach(MatrixView{data, 4, 4}, f)`, where f takes an element and its index
// DO: `[] __device__(float& x, std::size_t row, std::size_t col) {…}`
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

struct SetIndex {
  __device__ void operator()(float& x, std::size_t i) const { x = static_cast<float>(i); }
};

void fail(float* data) { gpuopt::forEach(gpuopt::MatrixView{data, 4, 4}, SetIndex{}); }
