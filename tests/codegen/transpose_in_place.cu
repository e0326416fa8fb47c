// Pairs of aligned tiles move as vectors. No load goes through the read-only cache, because the kernels write
// the matrix that they read; nothing is in local memory.
// SPDX-License-Identifier: MIT
#include <gpuopt/device/transpose/in_place_rectangle.cuh>
#include <gpuopt/device/transpose/in_place_square.cuh>

// CODEGEN: kernel=pairKernel<.*VectorPairTile contains=ld\.global\.v4 contains=st\.global\.v4 absent=ld\.global\.nc no-local no-spill max-shared=0
// CODEGEN: kernel=pairKernel<.*WordPairTile absent=ld\.global\.nc no-local no-spill max-registers=64 max-shared=0
// CODEGEN: kernel=transposePanelKernel absent=ld\.global\.nc no-local no-spill max-registers=40 max-shared=0
// CODEGEN: kernel=shuffleColumnsKernel absent=ld\.global\.nc no-local no-spill max-registers=40 max-shared=0
namespace {

using namespace gpuopt::detail;

template <std::size_t SIZE, std::size_t ALIGN>
void transposeAll(void* data) {
  auto* const elements = static_cast<RawElement<SIZE, ALIGN>*>(data);
  launchTransposeSquareInPlace(elements, 100, 128, 1, 0, nullptr);
  launchTransposeRectangleInPlace(elements, 100, 128, nullptr);
}

}  // namespace

void transposeEverything(void* data) {
  transposeAll<1, 1>(data);
  transposeAll<2, 2>(data);
  transposeAll<3, 1>(data);
  transposeAll<4, 4>(data);
  transposeAll<6, 2>(data);
  transposeAll<8, 8>(data);
  transposeAll<12, 4>(data);
  transposeAll<16, 16>(data);
  transposeAll<24, 8>(data);
  transposeAll<100, 4>(data);
  transposeAll<128, 16>(data);
}
