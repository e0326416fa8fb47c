// The staged transposition copies 16 bytes at a time past the registers, and keeps everything else in them.
// SPDX-License-Identifier: MIT
#include <gpuopt/device/transpose/launch.cuh>

// CODEGEN: kernel=transposeStagedKernel contains=cp\.async\.cg\.shared\.global\.L2::128B.*16; no-local no-spill max-shared=0
// CODEGEN: kernel=transposeStagedKernel.*Identity arch=90 max-registers=32
// CODEGEN: kernel=transposeStagedKernel<.*uint4,.uint4 contains=st\.global\.v4
// CODEGEN: kernel=transposeStagedKernel<.*float,.double contains=st\.global\.v2\.f64
// CODEGEN: kernel=transposeStagedKernel<.*uint2,.uint2 contains=st\.global\.v2
namespace {

using namespace gpuopt::detail;

struct Scale {
  __host__ __device__ float operator()(float value) const { return 2 * value; }
};

struct Widen {
  __host__ __device__ double operator()(float value) const { return value; }
};

template <class In, class Out, class Function>
void transposeWith(const void* in, void* out, Function function) {
  const TransposeProblem<In, Out, Function> problem{
      static_cast<const In*>(in), static_cast<Out*>(out), 9, 7, 7, 9, 1, 0, 0, function};
  launchStaged<StagedTileOf<sizeof(In), sizeof(Out), false>>(problem, nullptr);
  launchStaged<StagedTileOf<sizeof(In), sizeof(Out), true>>(problem, nullptr);
}

template <std::size_t SIZE, std::size_t ALIGN>
void move(const void* in, void* out) {
  using Element = RawElement<SIZE, ALIGN>;
  transposeWith<Element, Element>(in, out, gpuopt::Identity{});
}

}  // namespace

void transposeEverything(const void* in, void* out) {
  move<1, 1>(in, out);
  move<2, 2>(in, out);
  move<3, 1>(in, out);
  move<4, 4>(in, out);
  move<6, 2>(in, out);
  move<8, 8>(in, out);
  move<12, 4>(in, out);
  move<16, 16>(in, out);
  move<24, 8>(in, out);
  move<100, 1>(in, out);
  move<100, 4>(in, out);
  move<128, 16>(in, out);
  transposeWith<float, float>(in, out, Scale{});
  transposeWith<float, double>(in, out, Widen{});
}
