// Batches of small matrices come by copies of 16 bytes past the registers. Elements of four bytes and more
// are stored as they are, smaller ones in 16-byte vectors. Squares of bytes and of halves are made by eight
// byte permutations.
// SPDX-License-Identifier: MIT
#include <gpuopt/device/transpose/launch.cuh>

using namespace gpuopt::detail;

// CODEGEN: kernel=transpose(RunKernel<.*(Element|Subword)Maker|ColumnPanelsKernel) contains=cp\.async\.cg\.shared\.global.*,.16; no-local no-spill max-registers=32 max-shared=0
// CODEGEN: kernel=transposeRunKernel<.*SubwordMaker contains=st\.global\.v4 contains=st\.shared\.u32
// CODEGEN: kernel=transposeColumnPanelsKernel contains=st\.global\.v4
// CODEGEN: kernel=transposeRunKernel<.*BytePermutationMaker contains=cp\.async\.cg\.shared\.global.*,.16; contains=st\.global\.v4 contains=prmt no-local no-spill max-registers=32 max-shared=0
// CODEGEN: kernel=transposeRunKernel<.*ElementMaker.*uint4 contains=st\.global\.v4 contains=ld\.shared\.v4
// CODEGEN: kernel=transposeRunKernel<.*ElementMaker.*uint2 contains=st\.global\.v2 contains=ld\.shared\.v2
template <class In, class Out = In, class Function = gpuopt::Identity>
void launchBatch(const void* in, void* out) {
  using Kernels = TransposeKernels<In, Out, Function>;
  const TransposeProblem<In, Out, Function> problem{
      static_cast<const In*>(in), static_cast<Out*>(out), 5, 7, 7, 5, 1000, 35, 35, {}};
  const RunSizes sizes{10, 128, 4096, 0, 4};
  launchRun<typename Kernels::RunMaker>(problem, sizes, nullptr);
  if constexpr (Kernels::permutes) launchRun<BytePermutationMaker<In>>(problem, sizes, nullptr);
  if constexpr (Kernels::panels) launchPanels(problem, PanelSizes{1, 4, 2, 112}, nullptr);
}

struct ToHalf {
  __device__ unsigned short operator()(float x) const { return static_cast<unsigned short>(x); }
};

void launchAll(const void* in, void* out) {
  launchBatch<unsigned char>(in, out);
  launchBatch<unsigned short>(in, out);
  launchBatch<unsigned>(in, out);
  launchBatch<uint2>(in, out);
  launchBatch<uint4>(in, out);
  launchBatch<RawElement<3, 1>>(in, out);
  launchBatch<RawElement<12, 4>>(in, out);
  launchBatch<RawElement<100, 4>>(in, out);
  launchBatch<float, unsigned short, ToHalf>(in, out);
}
