// Histograms read 16 bytes at a time and keep elements in registers.
// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>
#include <gpuopt/histogram_2d.cuh>
#include <gpuopt/histogram_weighted.cuh>

#include <cstddef>

// CODEGEN: kernel=histogramKernel<.*(ByteCounters|SharedCounters<.*(ArraySource<float|ArraySource<int).*true>) contains=ld\.global\.nc.*v4\.u32 no-local no-spill max-registers=64
// CODEGEN: kernel=histogramKernel<.*PackedCounters.*ArraySource<float.*true> contains=ld\.global\.nc.*v4\.u32 contains=atom\.shared\.add no-local no-spill max-registers=64 arch=90
// CODEGEN: kernel=(countChunks|orderChunks)Kernel no-local no-spill max-registers=64
// CODEGEN: kernel=partitionKernel<.*ArraySource<(float|int),.*true> no-local no-spill max-registers=64 arch=90
// CODEGEN: kernel=countChunksKernel contains=ld\.global\.nc.*v4\.u32
// CODEGEN: kernel=rowHistogramKernel<.*SharedCounters.*ArrayView<float contains=ld\.global\.nc.*v4\.u32 no-local no-spill max-registers=64
// CODEGEN: kernel=sharedReduceByKernel<.*PairSource<(float|int).*true> contains=ld\.global\.nc.*v4\.u32 no-local no-spill max-registers=64
// CODEGEN: kernel=sharedReduceByKernel<.*(FixedPointSum<float>|DirectSum<int>) contains=atom\.shared\.add\.u32 no-local no-spill max-registers=64
// CODEGEN: kernel=(shared|global)ReduceByKernel<.*PairSource<unsigned.char,.int.*false> no-local no-spill max-registers=64
// CODEGEN: kernel=sharedReduceByKernel<.*HotWords<.*DirectSum<float> contains=atom\.shared\.and no-local no-spill max-registers=64
// CODEGEN: kernel=sharedReduceByKernel<.*CopiedWords<.*DirectSum<float> no-local no-spill max-registers=64
// CODEGEN: kernel=scaledSumsKernel<.*PairSource<float.*true> contains=ld\.global\.nc.*v4\.u32 contains=atom\.shared\.add\.u32 contains=atom\.global\.add\.f32
// CODEGEN: kernel=scaledSumsKernel no-local no-spill max-registers=64
// CODEGEN: kernel=globalReduceByKernel<.*PairSource<(float|int).*true> contains=ld\.global\.nc.*v4\.u32 contains=atom\.shared\.exch
// CODEGEN: kernel=clusterSumsKernel<.*PairSource<float.*true> contains=ld\.global\.nc.*v4\.u32
// CODEGEN: kernel=clusterSumsKernel no-local no-spill max-registers=64
// CODEGEN: kernel=clusterSumsKernel contains=st\.async contains=barrier\.cluster\.arrive\.relaxed absent=barrier\.cluster\.arrive\.release arch=90
// CODEGEN: kernel=runsHistogramKernel<.*ArraySource no-local no-spill max-registers=64
// CODEGEN: kernel=runsHistogramKernel<.*ArraySource<float.*true> contains=ld\.global\.nc.*v4\.u32
// CODEGEN: kernel=(globalReduceBy|sampleMagnitudes|eachCell)Kernel no-local no-spill max-registers=64
// CODEGEN: kernel=histogramKernel<.*SharedCounters.*StagedSource contains=cp\.async\.cg no-local no-spill max-registers=64
// CODEGEN: kernel=sharedReduceByKernel<.*StagedSource contains=cp\.async\.cg no-local no-spill max-registers=64
// CODEGEN: kernel=sharedReduceByKernel<.*WeightedSample<float no-local no-spill max-registers=64
// CODEGEN: kernel=sharedReduceByKernel<.*WeightedSample<float.*void>.>,.true> contains=ld\.global\.nc.*v4\.u32
// CODEGEN: kernel=histogramKernel<.*(Shared|Packed|Global)Counters.*PairBins no-local no-spill max-registers=64
// CODEGEN: kernel=histogramKernel<.*SharedCounters.*PairBins.*void>.>,.true> contains=ld\.global\.nc.*v4\.u32
// CODEGEN: kernel=histogramKernel<.*ByteCounters.*OwnChannelBins contains=ld\.global\.nc.*v4\.u32 no-spill max-registers=64
struct Particle {
  int cell;
  float members[15];
  __device__ explicit operator int() const { return cell; }
};
struct Letters {
  unsigned char codes[5];
};
struct SumOfMembers {
  __device__ int operator()(const Particle& particle) const {
    float sum = 0;
    for (const float member : particle.members) sum += member;
    return static_cast<int>(sum);
  }
  __device__ int operator()(const Letters& letters) const {
    int sum = 0;
    for (const int code : letters.codes) sum += code;
    return sum;
  }
};

void countEverything(const float* floats, const unsigned char* bytes, const int* integers, const Particle* particles,
                     const Letters* letters, unsigned* counts) {
  constexpr std::size_t n = 1000;
  gpuopt::histogram(floats, n, counts, 256, 0, 1);
  gpuopt::histogram(bytes, n, counts, 256, 0, 256);
  gpuopt::bincount(integers, n, counts, 256);
  float* const sums = nullptr;
  gpuopt::reduceBy(floats, n, integers, 256, sums);
  gpuopt::reduceBy<gpuopt::FastSums>(floats, n, integers, 256, sums);
  gpuopt::reduceBy(floats, n, integers, 256, sums, gpuopt::Maximum{});
  gpuopt::reduceBy(integers, n, integers, 256, reinterpret_cast<int*>(counts));
  gpuopt::histogramBy(particles, n, counts, 256, SumOfMembers{});
  gpuopt::histogramBy(letters, n, counts, 256, SumOfMembers{});
  gpuopt::reduceBy(particles, n, SumOfMembers{}, 256, reinterpret_cast<int*>(counts));
  gpuopt::reduceBy(bytes, n, integers, 256, static_cast<long long*>(nullptr));
  gpuopt::histogramWeighted(floats, n, floats, sums, 256, 0, 1);
  gpuopt::histogram2d(floats, floats, n, counts, {16, 0, 1}, {16, 0, 1});
  gpuopt::histogramChannels<3>(bytes, n, counts, {{256, 0, 256}, {10, 0, 200}, {64, 0, 256}});
  gpuopt::histogramRows(floats, n, n, n, counts, 256, 0, 1);
}
