// Staged structures are read by asynchronous 16-byte copies, written by 16-byte stores and kept in registers.
// A warp's tile needs no barrier of the block.
// SPDX-License-Identifier: MIT
#include <gpuopt/block/struct_pipeline.cuh>

// CODEGEN: kernel=Kernel no-local no-spill absent=\.local absent=bar(rier)?\.sync
// CODEGEN: kernel=stagedKernel contains=cp\.async\.cg\.shared\.global contains=st\.global\.v4 contains=bar\.warp\.sync max-registers=96
// CODEGEN: kernel=stagedKernel<Pack<float,.7>.* contains=ld\.shared\.f?b?u?32 max-registers=32
// CODEGEN: kernel=stagedKernel<Pack<float,.16>.* contains=ld\.shared\.v4 contains=st\.shared\.v4 max-registers=56
// CODEGEN: kernel=stagedKernel<Pack<float,.32>.* contains=ld\.shared\.v4 contains=st\.shared\.v4 max-registers=64
// CODEGEN: kernel=stagedKernel<Pack<unsigned.char,.63>.* contains=shf\.r max-registers=80
// CODEGEN: kernel=directKernel absent=shared absent=bar\.warp max-registers=24
// CODEGEN: kernel=stagedKernel<Pack<unsigned.char,.1>.* contains=ld\.global\.v4 max-registers=32
// CODEGEN: kernel=twoStepsKernel contains=cp\.async\.cg\.shared\.global contains=st\.global\.v4
// CODEGEN: kernel=exchangedKernel contains=shfl\.sync\.idx absent=shared absent=ld\.global\.v4 max-registers=48
// CODEGEN: kernel=pipelinedKernel contains=cp\.async\.cg\.shared\.global contains=st\.global\.v4 max-registers=80
template <class Word, int COUNT>
struct Pack {
  Word words[COUNT];
};

struct Exchanged {
  static constexpr gpuopt::StructTransfer load = gpuopt::StructTransfer::exchange;
  static constexpr gpuopt::StructTransfer store = gpuopt::StructTransfer::exchange;
};

template <class Word, int COUNT>
__device__ void change(Pack<Word, COUNT>& value) {
#pragma unroll
  for (int i = 0; i < COUNT; ++i) value.words[i] = static_cast<Word>(value.words[i] * 3 + value.words[COUNT - 1 - i]);
}

// Reads, changes and writes one tile per block.
template <unsigned ITEMS, class Policy, class T>
__device__ void changeTile(const T* in, T* out, std::size_t n) {
  using Staged = gpuopt::StagedStructs<T, 64, ITEMS, Policy>;
  __shared__ typename Staged::Storage storage;
  const auto tile = Staged(storage).tile(blockIdx.x, n);
  T items[ITEMS];
  tile.load(in, items);
#pragma unroll
  for (T& item : items) change(item);
  tile.store(out, items);
}

template <class T, unsigned ITEMS>
__global__ void __launch_bounds__(64) stagedKernel(const T* in, T* out, std::size_t n) {
  changeTile<ITEMS, gpuopt::StructTransferPolicy<T, ITEMS>>(in, out, n);
}

// A structure changed in a branch is staged in that branch.
template <class T>
__global__ void __launch_bounds__(64) twoStepsKernel(const T* in, T* out, std::size_t n) {
  using Staged = gpuopt::StagedStructs<T, 64>;
  __shared__ typename Staged::Storage storage;
  const auto tile = Staged(storage).tile(blockIdx.x, n);
  T value = tile.load(in);
  if (tile.has()) {
    change(value);
    tile.beginStore(out, value);
  }
  tile.finishStore(out);
}

template <class T, unsigned ITEMS>
__global__ void __launch_bounds__(64) directKernel(const T* in, T* out, std::size_t n) {
  changeTile<ITEMS, gpuopt::StructTransferPolicy<T, ITEMS>>(in, out, n);
}

template <class T>
__global__ void __launch_bounds__(64) exchangedKernel(const T* in, T* out, std::size_t n) {
  changeTile<1, Exchanged>(in, out, n);
}

template <class T>
__global__ void __launch_bounds__(64) pipelinedKernel(const T* in, T* out, std::size_t n) {
  __shared__ typename gpuopt::PipelinedStructs<T, 64>::Storage storage;
  for (auto tile : gpuopt::PipelinedStructs<T, 64>(storage).tiles(in, n)) {
    T value = tile.load();
    change(value);
    tile.store(out, value);
  }
}

template <int COUNT>
using Bytes = Pack<unsigned char, COUNT>;
template <int COUNT>
using Floats = Pack<float, COUNT>;

template __global__ void stagedKernel<Bytes<3>, 1>(const Bytes<3>*, Bytes<3>*, std::size_t);
template __global__ void stagedKernel<Bytes<3>, 8>(const Bytes<3>*, Bytes<3>*, std::size_t);
template __global__ void stagedKernel<Bytes<4>, 1>(const Bytes<4>*, Bytes<4>*, std::size_t);
template __global__ void stagedKernel<Bytes<7>, 1>(const Bytes<7>*, Bytes<7>*, std::size_t);
template __global__ void stagedKernel<Bytes<63>, 1>(const Bytes<63>*, Bytes<63>*, std::size_t);
template __global__ void stagedKernel<Bytes<1>, 16>(const Bytes<1>*, Bytes<1>*, std::size_t);
template __global__ void stagedKernel<Floats<3>, 2>(const Floats<3>*, Floats<3>*, std::size_t);
template __global__ void stagedKernel<Floats<7>, 1>(const Floats<7>*, Floats<7>*, std::size_t);
template __global__ void stagedKernel<Floats<12>, 1>(const Floats<12>*, Floats<12>*, std::size_t);
template __global__ void stagedKernel<Floats<16>, 1>(const Floats<16>*, Floats<16>*, std::size_t);
template __global__ void stagedKernel<Floats<25>, 1>(const Floats<25>*, Floats<25>*, std::size_t);
template __global__ void stagedKernel<Floats<32>, 1>(const Floats<32>*, Floats<32>*, std::size_t);
template __global__ void stagedKernel<Floats<64>, 1>(const Floats<64>*, Floats<64>*, std::size_t);

template __global__ void twoStepsKernel(const Bytes<63>*, Bytes<63>*, std::size_t);
template __global__ void twoStepsKernel(const Bytes<255>*, Bytes<255>*, std::size_t);

template __global__ void directKernel<Floats<1>, 1>(const Floats<1>*, Floats<1>*, std::size_t);

template __global__ void exchangedKernel(const Floats<3>*, Floats<3>*, std::size_t);
template __global__ void exchangedKernel(const Floats<16>*, Floats<16>*, std::size_t);
template __global__ void exchangedKernel(const Floats<25>*, Floats<25>*, std::size_t);

template __global__ void pipelinedKernel(const Floats<7>*, Floats<7>*, std::size_t);
template __global__ void pipelinedKernel(const Floats<16>*, Floats<16>*, std::size_t);
