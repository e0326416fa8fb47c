/// Transposes in registers against serial ones.
// SPDX-License-Identifier: MIT
#include "support/reduction_data.cuh"
#include "support/transpose_launch.cuh"

#include <gpuopt/thread/transpose.cuh>

#include <cstddef>
#include <vector>

namespace transpose_test {

using namespace gpuopt::test;

// Thread t has the vectors [t * V, (t + 1) * V).
template <int SIZE>
__global__ void vectorsKernel(uint4* vectors) {
  constexpr int V = 16 / SIZE;
  uint4 mine[V];
  for (int i = 0; i < V; ++i) mine[i] = vectors[static_cast<int>(threadIdx.x) * V + i];
  gpuopt::transposeVectors<SIZE>(mine);
  for (int i = 0; i < V; ++i) vectors[static_cast<int>(threadIdx.x) * V + i] = mine[i];
}

__global__ void bytesKernel(unsigned* words) {
  unsigned mine[4];
  for (int i = 0; i < 4; ++i) mine[i] = words[4 * static_cast<int>(threadIdx.x) + i];
  gpuopt::transposeBytes(mine);
  for (int i = 0; i < 4; ++i) words[4 * static_cast<int>(threadIdx.x) + i] = mine[i];
}

__global__ void halvesKernel(unsigned* words) {
  unsigned mine[2] = {words[2 * threadIdx.x], words[2 * threadIdx.x + 1]};
  gpuopt::transposeHalves(mine);
  words[2 * threadIdx.x] = mine[0];
  words[2 * threadIdx.x + 1] = mine[1];
}

// A batch of squares of elements of SIZE bytes, handed to the kernel as words of type Word.
template <std::size_t SIZE, class Word>
void checkSquares(void (*kernel)(Word*), std::size_t side) {
  CAPTURE(SIZE, side);
  constexpr std::size_t THREADS = 64;
  using Element = gpuopt::detail::RawElement<SIZE, SIZE>;
  const auto shape = TransposeShape::dense(side, side, THREADS);
  const std::vector<Element> source = indexCoded<Element>(shape.inSize());
  DeviceArray<Element> data(source, 0);
  gpuopt::launch(kernel, blocksOf(THREADS), reinterpret_cast<Word*>(data.data()));
  CHECK(sameBytes(data.toHost(), transposeSerially(shape, source, source, gpuopt::Identity{})));
}

TEST_CASE("transposeBytes and transposeHalves transpose what lies in as many words") {
  checkSquares<1>(bytesKernel, 4);
  checkSquares<2>(halvesKernel, 2);
}

TEST_CASE("transposeVectors transposes the elements of as many vectors") {
  checkSquares<1>(vectorsKernel<1>, 16);
  checkSquares<2>(vectorsKernel<2>, 8);
  checkSquares<4>(vectorsKernel<4>, 4);
  checkSquares<8>(vectorsKernel<8>, 2);
  checkSquares<16>(vectorsKernel<16>, 1);
}

}  // namespace transpose_test
