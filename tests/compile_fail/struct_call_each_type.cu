// EXPECT: gpuopt: structures move as bytes, so their type must be trivially copyable
// WRITTEN: `forEachStruct(data, n, f)` of structures with a `std::string`
// DO: keep what owns memory on the host: fixed arrays, indices or device pointers move
// SPDX-License-Identifier: MIT
#include <gpuopt/struct_io.cuh>

#include <string>

struct Named {
  std::string name;
};

struct Clear {
  __device__ void operator()(Named& named) const { named.name.clear(); }
};

void fail(Named* data) { gpuopt::forEachStruct(data, 3, Clear{}); }
