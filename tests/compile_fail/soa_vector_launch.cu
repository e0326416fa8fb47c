// EXPECT: gpuopt::SoaView: a SoaVector is no view: write vector.view()
// DO: kernels take `SoaView<Particle>` by value: `vector.view()`
// SPDX-License-Identifier: MIT
#include <gpuopt/soa.cuh>

struct Particle {
  float mass;
  int id;
};

__global__ void kernel(gpuopt::SoaView<const Particle>) {}

void fail(gpuopt::SoaVector<Particle>& vector) { gpuopt::launch(kernel, {}, vector); }
