// A policy that loads 32 bytes at a time: one instruction from sm_100 on, two of 16 bytes before.
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

#include <cuda_fp16.h>

#include <cstddef>

// CODEGEN: kernel=reduce(Tile|Loop)Kernel.*WideSource contains=ld\.global\.nc.*v8\.u32 absent=ld\.global\.nc.*v4 no-local no-spill max-registers=128 arch=100
// CODEGEN: kernel=reduce(Tile|Loop)Kernel.*WideSource contains=ld\.global\.nc.*v4\.u32 absent=v8 no-local no-spill max-registers=128 arch=90
// CODEGEN: kernel=reduceLoopKernel.*WideSource max-registers=64
struct WideLoads : gpuopt::ReducePolicy {
  static constexpr bool WIDE_LOADS = true;
};

void reduceByWideLoads(const float* floats, const double* doubles, const __half* halves, void* out,
                       cudaStream_t stream) {
  using namespace gpuopt;
  constexpr std::size_t n = 1000;
  reduceInto<DefaultAccumulator, WideLoads>(floats, n, static_cast<float*>(out), Plus{}, stream);
  reduceInto<DefaultAccumulator, WideLoads>(doubles, n, static_cast<double*>(out), Plus{}, stream);
  reduceInto<DefaultAccumulator, WideLoads>(halves, n, static_cast<float*>(out), Plus{}, stream);
  argMinInto<DefaultAccumulator, WideLoads>(floats, n, static_cast<ArgResult<float>*>(out), stream);
}
