// forEach and transform access aligned arrays of plain elements by words, without shared memory, and keep elements in
// registers: 16 bytes of the widest type. Where they write more than they read, they fetch inputs to L2 early. Of other
// arrays, two inputs do not make the warps of a block wait for each other.
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>

#include <cstddef>

// CODEGEN: kernel=transformStructsKernel<.*float.const contains=ld\.global\.v4\.u32 contains=st\.global\.v4\.u32 absent=bar\.sync no-local no-spill max-registers=40
// CODEGEN: kernel=transformStructsKernel<.*char.const contains=st\.global\.v4\.u32 no-local no-spill max-registers=40
// CODEGEN: kernel=transformPairKernel contains=st\.global\.v4\.u32 absent=bar\.sync no-local no-spill max-registers=40
// CODEGEN: kernel=transformPairKernel<.*Block<float contains=ld\.global\.v4\.u32
// CODEGEN: kernel=transformPairKernel<.*Third contains=cp\.async\.cg\.shared\.global
// CODEGEN: kernel=transformWordsKernel<.*Scale,.float> contains=ld\.global\.v4 contains=st\.global\.v4\.u32 absent=shared absent=prefetch no-local no-spill max-registers=32
// CODEGEN: kernel=transformWordsKernel<.*char contains=ld\.global\.u32 contains=st\.global\.v4\.u32 absent=shared no-local no-spill max-registers=32
// CODEGEN: kernel=transformWordsKernel<.*char arch=90 contains=cp\.async\.bulk\.prefetch\.L2
// CODEGEN: kernel=transformWordsKernel<.*Multiply contains=ld\.global\.v4 contains=st\.global\.v4\.u32 absent=shared absent=prefetch no-local no-spill max-registers=40
// CODEGEN: kernel=visitWordsKernel contains=ld\.global\.v4 absent=shared absent=st\.global no-local no-spill max-registers=40
// CODEGEN: kernel=visitStructsKernel contains=ld\.global\.v4\.u32 absent=st\.global no-local no-spill max-registers=40
struct Third {
  float x, y, z;
};

struct Scale {
  __device__ float operator()(float x) const { return 2 * x; }
};

struct Multiply {
  __device__ float operator()(float x, float y) const { return x * y; }
  __device__ Third operator()(const Third& a, const Third& b) const { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
};

struct Count {
  int* bins;
  __device__ void operator()(float x) const { atomicAdd(bins + static_cast<int>(x), 1); }
};

void useEverything(const float* in, const unsigned char* bytes, const Third* thirds, std::size_t n, float* out,
                   Third* outThirds, int* bins) {
  gpuopt::transform(in, n, out, Scale{});
  gpuopt::transform(bytes, n, out, Scale{});
  gpuopt::transform(in, in, n, out, Multiply{});
  gpuopt::transform(thirds, thirds, n, outThirds, Multiply{});
  gpuopt::forEach(in, n, Count{bins});
}
