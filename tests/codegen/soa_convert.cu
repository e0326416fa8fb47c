// Conversions between structures and columns access arrays by 16 bytes and keep structures in registers. Each
// lane accesses two elements of an aligned column, and four, by words, of a misaligned one.
// SPDX-License-Identifier: MIT
#include <gpuopt/soa_convert.cuh>

// CODEGEN: kernel=to(Soa|Aos)Kernel no-local no-spill max-registers=128
// CODEGEN: kernel=to(Soa|Aos)Kernel<.*(Eight|Particle|Mixed).*,.2u,.true> no-local no-spill max-registers=40 max-shared=4160
// CODEGEN: kernel=to(Soa|Aos)Kernel<.*(Eight|Particle|Mixed).*,.4u,.false> max-registers=64 max-shared=8704
// CODEGEN: kernel=toSoaKernel<.*Eight.*,.2u,.true> contains=cp\.async\.cg\.shared\.global contains=ld\.shared\.v4\.u32 contains=st\.global\.v2\.u32 absent=st\.shared\.u8
// CODEGEN: kernel=toAosKernel<.*Eight.*,.2u,.true> contains=ld\.global\.v2\.u32 contains=st\.shared\.v4\.u32 contains=st\.global\.v4\.u32 absent=ld\.shared\.u8
// CODEGEN: kernel=toSoaKernel<.*Particle.*,.2u,.true> contains=cp\.async\.cg\.shared\.global contains=ld\.shared\.v4\.u32 contains=st\.global\.v4\.u32
// CODEGEN: kernel=toSoaKernel<.*Mixed.*,.2u,.true> contains=cp\.async\.cg\.shared\.global contains=st\.global\.v4\.u32 contains=st\.global\.v2\.u32 contains=st\.global\.u16
// CODEGEN: kernel=toSoaKernel<.*Eight.*,.4u,.false> contains=cp\.async\.cg\.shared\.global contains=st\.global\.u32 absent=(ld|st)\.shared\.u8
struct Eight {
  float a, b, c, d, e, f, g, h;
};

struct Sixteen {
  float a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p;
};

struct Particle {
  float3 position, velocity;
  float mass;
  int id;
};

struct Mixed {
  double energy;
  float mass;
  int id;
  char kind;
};

struct Colour {
  unsigned char red, green, blue;
};

struct Tagged {
  char name[7];
  short place[3];
  bool flags[3];
  int id;
};

struct Large {
  double matrix[16];
  float4 axis;
  char name[31];
};

struct Huge {
  float values[200];
  int id;
};

template <class T>
void convertBothWays(T* aos, std::size_t n, const gpuopt::SoaView<T>& soa) {
  gpuopt::toSoa(aos, n, soa);
  gpuopt::toAos(soa, aos);
}

template void convertBothWays(Eight*, std::size_t, const gpuopt::SoaView<Eight>&);
template void convertBothWays(Sixteen*, std::size_t, const gpuopt::SoaView<Sixteen>&);
template void convertBothWays(Particle*, std::size_t, const gpuopt::SoaView<Particle>&);
template void convertBothWays(Mixed*, std::size_t, const gpuopt::SoaView<Mixed>&);
template void convertBothWays(Colour*, std::size_t, const gpuopt::SoaView<Colour>&);
template void convertBothWays(Tagged*, std::size_t, const gpuopt::SoaView<Tagged>&);
template void convertBothWays(Large*, std::size_t, const gpuopt::SoaView<Large>&);
template void convertBothWays(Huge*, std::size_t, const gpuopt::SoaView<Huge>&);
