// transformStructs accesses memory and the warps' tiles by 16 bytes for any size, and keeps structures in
// registers. If input and output have the same size, the warps of a block do not wait for each other. Gathers
// and scatters access memory by 16 bytes.
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

#include <cstddef>

// CODEGEN: kernel=transformStructsKernel<.*Changing contains=cp\.async\.cg\.shared\.global contains=st\.global\.v4\.u32 contains=ld\.shared\.v4\.u32 absent=bar\.sync no-local no-spill
// CODEGEN: kernel=transformStructsKernel<.*Words<3 max-registers=40 max-shared=3584
// CODEGEN: kernel=transformStructsKernel<.*Words<7 max-registers=40
// CODEGEN: kernel=transformStructsKernel<.*Words<16 max-registers=40 max-shared=4352
// CODEGEN: kernel=transformStructsKernel<.*Words<25 max-registers=40 max-shared=6656
// CODEGEN: kernel=transformStructsKernel<.*Words<64 max-registers=104 max-shared=16640
// CODEGEN: kernel=transformStructsKernel<.*Bytes<3> no-local no-spill max-registers=40 max-shared=3328
// CODEGEN: kernel=transformStructsKernel<.*Bytes<255> no-local no-spill max-registers=96 max-shared=16384
// CODEGEN: kernel=transformStructsKernel<.*Indices contains=st\.global\.v4\.u32 contains=ld\.shared\.v4\.u32 absent=bar\.sync no-local no-spill max-shared=4096
// CODEGEN: kernel=transformStructsKernel<.*Narrow contains=bar\.sync no-local no-spill max-registers=40 max-shared=4352
// CODEGEN: kernel=transformStructsKernel<.*float4 contains=ld\.global\.v4 contains=st\.global\.v4 absent=(ld|st)\.shared no-local no-spill max-registers=24 max-shared=1
// CODEGEN: kernel=moveIndexedKernel<.*uint4 contains=ld\.global\.v4\.u32 contains=st\.global\.v4\.u32 absent=\.shared no-local no-spill max-registers=40
// CODEGEN: kernel=moveIndexedKernel no-local no-spill max-registers=40 max-shared=0
template <int COUNT>
struct alignas(COUNT % 4 == 0 ? 16 : 4) Words {
  unsigned word[COUNT];
};

template <int COUNT>
struct Bytes {
  unsigned char byte[COUNT];
};

struct Change {
  template <int COUNT>
  __device__ void operator()(Words<COUNT>& value) const {
    value.word[COUNT / 2] += value.word[0];
  }
  template <int COUNT>
  __device__ void operator()(Bytes<COUNT>& value) const {
    for (int i = 1; i < COUNT; ++i) value.byte[i] ^= value.byte[i - 1];
  }
};

struct Narrow {
  __device__ Words<7> operator()(const Words<16>& value) const {
    Words<7> result;
    for (int i = 0; i < 7; ++i) result.word[i] = value.word[i] ^ value.word[i + 9];
    return result;
  }
};

struct Doubled {
  __device__ float4 operator()(const float4& v) const { return {2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w}; }
};

// An iterator without memory.
struct Indices {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = unsigned;
  using difference_type = std::ptrdiff_t;
  using pointer = const unsigned*;
  using reference = unsigned;

  __device__ unsigned operator[](std::ptrdiff_t i) const { return static_cast<unsigned>(i); }
};

struct Generate {
  __device__ Words<7> operator()(unsigned i) const {
    Words<7> result;
    for (unsigned k = 0; k < 7; ++k) result.word[k] = 131 * i + k;
    return result;
  }
};

template <class T>
void change(void* data, std::size_t n) {
  gpuopt::forEachStruct(static_cast<T*>(data), n, Change{});
}

template <class T>
void moveByIndex(const void* in, const int* indices, std::size_t n, void* out) {
  gpuopt::gatherStructs(static_cast<const T*>(in), indices, n, static_cast<T*>(out));
  gpuopt::scatterStructs(static_cast<const T*>(in), indices, n, static_cast<T*>(out));
}

void useEverything(const void* in, const int* indices, std::size_t n, void* out) {
  change<Words<3>>(out, n);
  change<Words<7>>(out, n);
  change<Words<16>>(out, n);
  change<Words<25>>(out, n);
  change<Words<64>>(out, n);
  change<Bytes<3>>(out, n);
  change<Bytes<255>>(out, n);
  gpuopt::transformStructs(Indices{}, n, static_cast<Words<7>*>(out), Generate{});
  gpuopt::transformStructs(static_cast<const Words<16>*>(in), n, static_cast<Words<7>*>(out), Narrow{});
  gpuopt::transformStructs(static_cast<const float4*>(in), n, static_cast<float4*>(out), Doubled{});
  moveByIndex<Words<3>>(in, indices, n, out);
  moveByIndex<Words<12>>(in, indices, n, out);
  moveByIndex<Words<64>>(in, indices, n, out);
  moveByIndex<Bytes<3>>(in, indices, n, out);
}
