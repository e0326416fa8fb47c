// A view passed by value costs the same as separate pointers: the same loads and stores, no local memory. Each
// kernel with views follows one with pointers, for comparison.
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/view.cuh>

using namespace gpuopt;

struct Particle {
  float3 position, velocity;
  float mass;
  int id;
};

__device__ unsigned threadNumber() { return blockIdx.x * blockDim.x + threadIdx.x; }

// CODEGEN: kernel=massPointers count=1*ld\.global count=1*st\.global no-local no-spill max-registers=16
__global__ void massPointers(float3*, float3*, float* mass, int*) { mass[threadNumber()] *= 2; }

// Members written back unchanged are neither read nor written, except for the id, which might alias the mass.
// CODEGEN: kernel=massView count=2*ld\.global count=2*st\.global absent=\.local no-local no-spill max-registers=16
__global__ void massView(SoaView<Particle> view) {
  const unsigned i = threadNumber();
  Particle p = view[i];
  p.mass *= 2;
  view[i] = p;
}

// CODEGEN: kernel=massReference count=1*ld\.global count=1*st\.global absent=\.local no-local no-spill max-registers=16
__global__ void massReference(SoaView<Particle> view) {
  auto [position, velocity, mass, id] = view[threadNumber()];
  mass *= 2;
}

__device__ Particle moved(Particle p) {
  p.position.x += p.velocity.x;
  p.position.y += p.velocity.y;
  p.position.z += p.velocity.z;
  p.velocity.x *= p.mass;
  p.velocity.y *= p.mass;
  p.velocity.z *= p.mass;
  p.mass *= 2;
  p.id += 1;
  return p;
}

// CODEGEN: kernel=movePointers count=8*ld\.global count=8*st\.global no-local no-spill max-registers=32
__global__ void movePointers(float3* position, float3* velocity, float* mass, int* id) {
  const unsigned i = threadNumber();
  const Particle p = moved({position[i], velocity[i], mass[i], id[i]});
  position[i] = p.position;
  velocity[i] = p.velocity;
  mass[i] = p.mass;
  id[i] = p.id;
}

// CODEGEN: kernel=moveView count=8*ld\.global count=8*st\.global absent=\.local no-local no-spill max-registers=32
__global__ void moveView(SoaView<Particle> view) {
  const unsigned i = threadNumber();
  view[i] = moved(view[i]);
}

// CODEGEN: kernel=moveIterator count=8*ld\.global count=8*st\.global absent=\.local no-local no-spill max-registers=32
__global__ void moveIterator(SoaIterator<Particle> in, SoaIterator<Particle> out) {
  const unsigned i = threadNumber();
  out[i] = moved(in[i]);
}

// CODEGEN: kernel=moveTiles count=8*ld\.global count=8*st\.global absent=\.local absent=(div|rem)\. no-local no-spill max-registers=32
__global__ void moveTiles(SoaView<Particle, SoaTiles<32>> view) {
  const unsigned i = threadNumber();
  view[i] = moved(view[i]);
}

struct Wide {
  float4 a;
  float matrix[3][3];
  double d;
};

// Members are loaded and stored in full, arrays element by element.
// CODEGEN: kernel=wideView count=11*ld\.global contains=ld\.global\.v4 contains=st\.global\.v4 count=11*st\.global absent=\.local no-local no-spill max-registers=48
__global__ void wideView(SoaView<const Wide> in, SoaView<Wide> out) {
  const unsigned i = threadNumber();
  Wide wide = in[i];
  wide.a.x *= 2;
  wide.matrix[1][1] += 1;
  out[i] = wide;
}

// CODEGEN: kernel=selectView count=1*ld\.global count=1*st\.global absent=\.local no-local no-spill max-registers=16
__global__ void selectView(SoaView<Particle> view) {
  auto [id, mass] = view.select<&Particle::id, &Particle::mass>()[threadNumber()];
  id = static_cast<int>(mass);
}

struct Many {
  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb, cc, dd, ee, ff;
};

// CODEGEN: kernel=manyView count=32*ld\.global count=32*st\.global absent=\.local no-local no-spill max-registers=96
__global__ void manyView(SoaView<const Many> in, SoaView<Many> out) {
  const unsigned i = threadNumber();
  out[i] = in[i];
}
