// The kernels of device-wide reductions read 16 bytes at a time and keep everything in registers.
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

#include <cuda_fp16.h>

// CODEGEN: kernel=reduceTileKernel.*ArraySource<.*true> contains=ld\.global\.nc.*v4\.u32 no-local no-spill max-registers=128
// CODEGEN: kernel=reduceLoopKernel.*ArraySource<.*true> contains=ld\.global\.nc.*v4\.u32 no-local no-spill max-registers=64
// CODEGEN: kernel=reduce(Tile|Loop)Kernel.*PairSource<.*true> contains=ld\.global\.nc.*v4\.u32 no-local no-spill max-registers=128
// CODEGEN: kernel=reduce(Tile|Loop)Kernel no-local no-spill max-shared=2048
// CODEGEN: kernel=reduceTileKernel<false, contains=ld\.relaxed\.gpu absent=atom\.
// CODEGEN: kernel=reduceTileKernel<true, absent=atom\. absent=ld\.relaxed
struct AddTriples {
  __host__ __device__ float3 operator()(const float3& a, const float3& b) const {
    return float3{a.x + b.x, a.y + b.y, a.z + b.z};
  }
};

void reduceEverything(const float* floats, const double* doubles, const __half* halves, const signed char* bytes,
                      const float3* triples, void* out, cudaStream_t stream) {
  using namespace gpuopt;
  constexpr std::size_t n = 1000;
  reduceInto(floats, n, static_cast<float*>(out), Plus{}, stream);
  reduceInto(doubles, n, static_cast<double*>(out), Plus{}, stream);
  reduceInto(halves, n, static_cast<float*>(out), Plus{}, stream);
  reduceInto(bytes, n, static_cast<int*>(out), Plus{}, stream);
  reduceInto(triples, n, static_cast<float3*>(out), AddTriples{}, stream);
  dotInto(floats, floats, n, static_cast<float*>(out), stream);
  argMinInto(floats, n, static_cast<ArgResult<float>*>(out), stream);
  sumMinMaxInto(floats, n, static_cast<SumMinMax<float, float>*>(out), stream);
  meanVarianceInto(floats, n, static_cast<MeanVariance<float>*>(out), stream);
}
