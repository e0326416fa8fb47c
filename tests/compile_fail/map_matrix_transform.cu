// EXPECT: gpuopt::transform: the function must take an element of the matrix, alone or with its row and column, and return one of out, by a const call operator
// WRITTEN: `transform(MatrixView{in, 4, 4}, MatrixView{out, 4, 4}, f)`, where f takes an element and its index
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

struct AddIndex {
  __device__ float operator()(float x, std::size_t i) const { return x + static_cast<float>(i); }
};

void fail(float* data) {
  gpuopt::transform(gpuopt::MatrixView{data, 4, 4}, gpuopt::MatrixView{data, 4, 4}, AddIndex{});
}
