// gatherBlocks and scatterBlocks access the host's memory by aligned vectors of 16 bytes, several in flight.
// SPDX-License-Identifier: MIT
#include <gpuopt/transfer_blocks.cuh>

#include <cstddef>

// CODEGEN: kernel=moveBlocksKernel<true,.16u> count=4*\bld\.(?:global\.)?v4 count=4*st\.global\.v4 no-local no-spill max-registers=64 max-shared=0
// CODEGEN: kernel=moveBlocksKernel<true,.4u> count=4*\bld\.(?:global\.)?v4 absent=st\.global\.v4 no-local no-spill max-registers=64
// CODEGEN: kernel=moveBlocksKernel<true,.1u> contains=\bld\.(?:global\.)?v4 no-local no-spill max-registers=64
// CODEGEN: kernel=moveBlocksKernel<false,.16u> count=4*ld\.global\.v4 count=4*st\.global\.v4 no-local no-spill max-registers=64
// CODEGEN: kernel=moveBlocksKernel<false,.1u> count=4*st\.global\.v4 no-local no-spill max-registers=64
void useEverything(void* host, const std::size_t* offsets, std::size_t count, void* device) {
  gpuopt::gatherBlocks(host, offsets, count, 4096, device);
  gpuopt::scatterBlocks(device, host, offsets, count, 4096);
}
