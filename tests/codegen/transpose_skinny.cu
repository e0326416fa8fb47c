// Skinny transpositions read and write 16 bytes at a time on both sides and keep everything in registers.
// SPDX-License-Identifier: MIT
#include <gpuopt/device/transpose/launch.cuh>

// CODEGEN: kernel=transposeSkinnyKernel<.*(uint4|uint2|unsigned.char|unsigned.int).*Identity>, contains=ld\.global\.nc.*v4\.u32 contains=st\.(global\.)?v4\.u32 no-local no-spill max-registers=40
// CODEGEN: kernel=transposeSkinnyKernel no-local no-spill max-registers=40 max-shared=0
// CODEGEN: kernel=copyVectorKernel contains=ld\.global\.nc.*v4\.u32 contains=st\.(global\.)?v4\.u32 no-local no-spill max-registers=32
using namespace gpuopt::detail;

template <class In, class Out, class Function>
void transposeSkinny(const void* in, void* out, std::size_t rows, std::size_t cols) {
  const TransposeProblem<In, Out, Function> problem{
      static_cast<const In*>(in), static_cast<Out*>(out), rows, cols, cols, rows, 1, 0, 0, {}};
  const TransposePlan plan = planOf(problem);
  launchSkinny<true>(problem, plan.skinny, nullptr);
  launchSkinny<false>(problem, plan.skinny, nullptr);
  if constexpr (TransposeKernels<In, Out, Function>::onlyMoves) launchCopy(problem, nullptr);
}

template <std::size_t SIZE, std::size_t ALIGN>
void transposeRaw(const void* in, void* out, std::size_t rows, std::size_t cols) {
  transposeSkinny<RawElement<SIZE, ALIGN>, RawElement<SIZE, ALIGN>, gpuopt::Identity>(in, out, rows, cols);
}

struct ToFloat {
  __device__ float operator()(short x) const { return x; }
};

void transposeEverything(const void* in, void* out, std::size_t rows, std::size_t cols) {
  transposeRaw<1, 1>(in, out, rows, cols);
  transposeRaw<2, 2>(in, out, rows, cols);
  transposeRaw<4, 4>(in, out, rows, cols);
  transposeRaw<8, 8>(in, out, rows, cols);
  transposeRaw<16, 16>(in, out, rows, cols);
  transposeRaw<12, 4>(in, out, rows, cols);
  transposeSkinny<short, float, ToFloat>(in, out, rows, cols);
}
