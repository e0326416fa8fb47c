// The transposition of aligned matrices moves 16 bytes at a time, in global and in shared memory, and keeps
// everything else in registers.
// SPDX-License-Identifier: MIT
#include <gpuopt/device/transpose/launch.cuh>

using namespace gpuopt;
using detail::TransposeProblem;
using gpuopt::Identity;

// CODEGEN: kernel=transposeTileKernel<.*SquareTile contains=ld\.global\.nc\.L2::128B\.v4 contains=ld\.global\.nc\.L2::256B\.v4 contains=st\.shared\.v4 contains=ld\.shared\.v4 contains=st\.global\.v4 no-local no-spill max-registers=128
// CODEGEN: kernel=transposeTileKernel<.*RectangleTile contains=ld\.global\.nc\.L2::128B\.v4 contains=ld\.global\.nc\.L2::256B\.v4 contains=st\.shared\.v4 contains=ld\.shared\.v4 contains=st\.global\.v4 no-local no-spill max-registers=85
// CODEGEN: kernel=transposeTileKernel<.*SquareTile<uint4 max-registers=32
// CODEGEN: kernel=transposeTileKernel<.*SquareTile<uint2 max-registers=40
// CODEGEN: kernel=transposeTileKernel<.*SquareTile<unsigned.int,.unsigned.int,.(.int.)?64,.(.int.)?4> max-registers=48
// CODEGEN: kernel=transposeTileKernel<.*SquareTile<unsigned.int,.unsigned.int,.(.int.)?64,.(.int.)?2> max-registers=56
// CODEGEN: kernel=transposeTileKernel<.*SectorTile contains=ld\.global\.nc\.L2::128B\.v4 contains=ld\.global\.nc\.L2::256B\.v4 contains=st\.shared\.v4 contains=ld\.shared\.v4 contains=st\.global\.v4 no-local no-spill max-registers=96
// CODEGEN: kernel=transposeTileKernel<.*SectorTile<unsigned.int, max-registers=56
// CODEGEN: kernel=transposeTileKernel<.*SectorTile<uint2, max-registers=48
// CODEGEN: kernel=transposeRegistersKernel contains=ld\.global\.nc\.L2::128B\.v4 contains=st\.global\.v4 absent=\.shared no-local no-spill max-registers=96
struct Convert {
  template <class T>
  __host__ __device__ float operator()(T x) const {
    return static_cast<float>(x) * 0.5f;
  }
};

template <class In, class Out, class Function>
void transposeTiles(const void* in, void* out, std::size_t n, cudaStream_t stream) {
  const TransposeProblem<In, Out, Function> problem{
      static_cast<const In*>(in), static_cast<Out*>(out), n, n, n, n, 1, 0, 0, {}};
  detail::launchTile<detail::RegisterTile<In, Out>>(problem, 0, stream);
  detail::launchTile<detail::VectorTileOf<In, Out>>(problem, 0, stream);
  if constexpr (detail::TransposeKernels<In, Out, Function>::sectors)
    detail::launchTile<detail::SectorTileOf<In>>(problem, 0, stream);
  if constexpr (detail::TransposeKernels<In, Out, Function>::halfBlocks)
    detail::launchTile<detail::HalfBlockTile<In>>(problem, 0, stream);
}

void transposeEverything(const void* in, void* out, std::size_t n, cudaStream_t stream) {
  transposeTiles<unsigned char, unsigned char, gpuopt::Identity>(in, out, n, stream);
  transposeTiles<unsigned short, unsigned short, gpuopt::Identity>(in, out, n, stream);
  transposeTiles<unsigned, unsigned, gpuopt::Identity>(in, out, n, stream);
  transposeTiles<uint2, uint2, gpuopt::Identity>(in, out, n, stream);
  transposeTiles<uint4, uint4, gpuopt::Identity>(in, out, n, stream);
  transposeTiles<float, float, Convert>(in, out, n, stream);
  transposeTiles<unsigned char, float, Convert>(in, out, n, stream);
  transposeTiles<double, float, Convert>(in, out, n, stream);
}
