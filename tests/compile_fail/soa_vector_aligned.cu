// EXPECT: gpuopt::SoaVector: the struct is aligned to more than 256 bytes
// WRITTEN: `SoaVector<Page>`, where `struct alignas(512) Page`
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/vector.cuh>

struct alignas(512) Page {
  float values[128];
};

template class gpuopt::SoaVector<Page>;
