// EXPECT: gpuopt: structures move as bytes, so their type must be trivially copyable
// SPDX-License-Identifier: MIT
#include <gpuopt/block/struct_io.cuh>

struct Handle {
  Handle(const Handle& other) : value(other.value) {}
  int value;
};

gpuopt::StagedStructs<Handle, 64>::Storage fail;
