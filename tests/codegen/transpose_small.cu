// The transposition of small matrices moves each element at once, in few registers and as little code as can
// be, and keeps nothing in local memory.
// SPDX-License-Identifier: MIT
#include <gpuopt/device/transpose/launch.cuh>

#include <cstddef>

using namespace gpuopt;
using detail::RawElement;
using detail::TransposeProblem;

// CODEGEN: kernel=transposeSmallKernel contains=ld\.global contains=st\.shared contains=ld\.shared contains=st\.global no-local no-spill max-registers=64 max-shared=12672
// CODEGEN: kernel=transposeSmallKernel<32,.32,.256,.unsigned.int,.unsigned.int max-registers=32 count=4*ld\.global count=4*st\.shared count=4*ld\.shared count=4*st\.global
// CODEGEN: kernel=transposeSmallKernel<32,.32,.256,.uint2,.uint2 max-registers=32 contains=ld\.global\S*\.v2 contains=st\.global\.v2
// CODEGEN: kernel=transposeSmallKernel<(16|32),.16,.128,.uint4,.uint4 max-registers=32 contains=ld\.global\S*\.v4 contains=st\.shared\.v4 contains=ld\.shared\.v4 contains=st\.global\.v4
struct Widen {
  __host__ __device__ double operator()(unsigned char value) const { return value; }
};

template <class In, class Out, class Function>
void transposeSmall(const void* in, void* out, std::size_t n, cudaStream_t stream) {
  const TransposeProblem<In, Out, Function> problem{
      static_cast<const In*>(in), static_cast<Out*>(out), n, n, n, n, 1, 0, 0, {}};
  detail::launchSmall(problem, detail::planOf(problem), stream);
}

template <std::size_t SIZE, std::size_t ALIGN>
void move(const void* in, void* out, std::size_t n, cudaStream_t stream) {
  transposeSmall<RawElement<SIZE, ALIGN>, RawElement<SIZE, ALIGN>, Identity>(in, out, n, stream);
}

void transposeEverything(const void* in, void* out, std::size_t n, cudaStream_t stream) {
  move<1, 1>(in, out, n, stream);
  move<2, 2>(in, out, n, stream);
  move<3, 1>(in, out, n, stream);
  move<4, 4>(in, out, n, stream);
  move<6, 2>(in, out, n, stream);
  move<8, 1>(in, out, n, stream);
  move<8, 8>(in, out, n, stream);
  move<12, 4>(in, out, n, stream);
  move<16, 2>(in, out, n, stream);
  move<16, 16>(in, out, n, stream);
  transposeSmall<unsigned char, double, Widen>(in, out, n, stream);
}
