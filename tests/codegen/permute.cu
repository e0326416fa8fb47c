// Permutations copy 16 bytes at a time into shared memory without registers, store 16 bytes at a time, and keep nothing
// in local memory.
// SPDX-License-Identifier: MIT
#include <gpuopt/device/permute/launch.cuh>

using namespace gpuopt;
using detail::Word;

// The tile of bytes keeps 16 positions and 16 elements. Of the others as many blocks fit into a multiprocessor as the
// plan assumes: permuteBlocks.
// CODEGEN: kernel=permuteTileKernel contains=cp\.async\.cg\.shared no-local no-spill max-registers=80
// CODEGEN: kernel=permuteTileKernel<unsigned.short max-registers=40
// CODEGEN: kernel=permuteTileKernel<(unsigned.int|uint) max-registers=32
// CODEGEN: kernel=permuteTileKernel<(unsigned|uint2) contains=st\.global\.v4
// CODEGEN: kernel=permuteElementsKernel no-local no-spill max-registers=64
// CODEGEN: kernel=permuteMatrixTileKernel contains=ld\.global\S*\.v4 contains=st\.global\.v4 no-local no-spill max-registers=128
struct Widened {
  __host__ __device__ double operator()(unsigned char x) const { return x; }
};

template <class In, class Out, class Function>
void permute(const detail::PermuteKernelPlan& plan, cudaStream_t stream) {
  detail::launchPermuteKernel<In, Out>(plan, Function{}, stream);
}

void permuteEverything(const detail::PermuteKernelPlan& plan, cudaStream_t stream) {
  permute<Word<1>, Word<1>, Identity>(plan, stream);
  permute<Word<2>, Word<2>, Identity>(plan, stream);
  permute<Word<4>, Word<4>, Identity>(plan, stream);
  permute<Word<8>, Word<8>, Identity>(plan, stream);
  permute<Word<16>, Word<16>, Identity>(plan, stream);
  permute<unsigned char, double, Widened>(plan, stream);
}
