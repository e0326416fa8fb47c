// Elements of three bytes with aligned rows move 16 bytes at a time, in global memory and out of shared
// memory, into which they come by whole words, and stay in registers.
// SPDX-License-Identifier: MIT
#include <gpuopt/device/transpose/launch.cuh>

using namespace gpuopt::detail;

// CODEGEN: kernel=transposeTileKernel<.*ThreeByteTile count=12*ld\.global\.nc\.L2::256B\.v4 contains=st\.shared\.u32 contains=ld\.shared\.v4 contains=st\.global\.v4 no-local no-spill max-registers=64 max-shared=0
void transposeThreeBytes(const ThreeByteElement* in, ThreeByteElement* out, std::size_t n, cudaStream_t stream) {
  launchTile<ThreeByteTile>(
      TransposeProblem<ThreeByteElement, ThreeByteElement, gpuopt::Identity>{in, out, n, n, n, n, 1, 0, 0, {}}, 0,
      stream);
}
