// EXPECT: gpuopt::forEachStruct: the function takes a structure by value or as const, so it changes nothing: take a reference, or pass const structures to only read them
// DO: `operator()(Particle& p) const`; to only read, pass a `const Particle*`
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

struct Move {
  __device__ void operator()(float4 p) const { p.x += 1; }
};

void fail(float4* data) { gpuopt::forEachStruct(data, 3, Move{}); }
