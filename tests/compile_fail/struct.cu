// SPDX-License-Identifier: MIT
#include <gpuopt/block/struct_io.cuh>
#include <gpuopt/block/struct_pipeline.cuh>
#include <gpuopt/struct_io.cuh>

#include <string>
#include <vector>

#if CASE == 1
// EXPECT: gpuopt: structures move as bytes, so their type must be trivially copyable
// WRITTEN: `forEach(data, n, f)` of structures with a `std::string`
// DO: keep what owns memory on the host: fixed arrays, indices or device pointers move
struct Named {
  std::string name;
};

struct Clear {
  __device__ void operator()(Named& named) const { named.name.clear(); }
};

void fail(Named* data) { gpuopt::forEach(data, 3, Clear{}); }

#elif CASE == 2
// EXPECT: gpuopt::gatherStructs: the structures of out are const
void fail(const float4* in, const int* indices, const float4* out) { gpuopt::gatherStructs(in, indices, 3, out); }

#elif CASE == 3
// EXPECT: gpuopt::gatherStructs: these arguments fit no form of it: it takes (in, indices, n, out), or containers without n, then a stream
void fail(const float3* in, const int* indices, float3* out) { gpuopt::gatherStructs(in, indices, out, 3); }

#elif CASE == 4
// EXPECT: gpuopt: structures move as bytes, so their type must be trivially copyable
struct Named {
  std::string name;
};

void fail(const Named* in, const int* indices, Named* out) { gpuopt::gatherStructs(in, indices, 3, out); }

#elif CASE == 5
// EXPECT: gpuopt: in and out have structures of different types
// DO: `transform` converts: gather first
void fail(const float4* in, const int* indices, double2* out) { gpuopt::gatherStructs(in, indices, 3, out); }

#elif CASE == 6
// EXPECT: gpuopt: the indices of structures must be integers
// WRITTEN: `gatherStructs(in, indices, n, out)`, where indices are `float`
// DO: make them `int`, `unsigned`, `long long`, `std::size_t`
void fail(const float4* in, const float* indices, float4* out) { gpuopt::gatherStructs(in, indices, 3, out); }

#elif CASE == 7
// EXPECT: gpuopt: the indices of structures must be integers
void fail(const float4* in, const bool* indices, float4* out) { gpuopt::scatterStructs(in, indices, 3, out); }

#elif CASE == 8
// EXPECT: gpuopt: the function must take a structure of each input, alone or with its index
// What nvcc shows of a lambda for the device alone.
struct OfOther {
  __device__ void operator()(double2&) const {}
};

__global__ void fail(float4* data) { gpuopt::detail::callForStruct(OfOther{}, 0, *data); }

#elif CASE == 9
// EXPECT: gpuopt: structures move as bytes, so their type must be trivially copyable
struct ToText {
  __device__ std::string operator()(int) const { return {}; }
};

void fail(const int* in, std::string* out) { gpuopt::transform(in, 3, out, ToText{}); }

#elif CASE == 10
// EXPECT: gpuopt::scatterStructs: the structures of out are const
void fail(const float4* in, const int* indices, const float4* out) { gpuopt::scatterStructs(in, indices, 3, out); }

#elif CASE == 11
// EXPECT: gpuopt::scatterStructs: these arguments fit no form of it: it takes (in, indices, n, out), or containers without n, then a stream
void fail(const float3* in, const int* indices, float3* out) { gpuopt::scatterStructs(in, indices, out, 3); }

#elif CASE == 12
// EXPECT: gpuopt: structures move as bytes, so their type must be trivially copyable
struct Named {
  std::string name;
};

struct Length {
  __device__ int operator()(const Named& named) const { return static_cast<int>(named.name.size()); }
};

void fail(const Named* in, int* out) { gpuopt::transform(in, 3, out, Length{}); }

#elif CASE == 13
// EXPECT: gpuopt: BLOCK, the threads of a block, must be 1 to 1024
gpuopt::StagedStructs<float3, 1025>::Storage fail;

#elif CASE == 14
// EXPECT: gpuopt::StagedStructs: StructTransfer::exchange moves words: the alignment of T must be 4 or more
struct Exchanged {
  static constexpr gpuopt::StructTransfer load = gpuopt::StructTransfer::exchange;
  static constexpr gpuopt::StructTransfer store = gpuopt::StructTransfer::direct;
};

struct Bytes12 {
  unsigned char bytes[12];
};

gpuopt::StagedStructs<Bytes12, 64, 1, Exchanged>::Storage fail;

#elif CASE == 15
// EXPECT: gpuopt: ITEMS, the structures of a thread, must be at least 1
gpuopt::StagedStructs<float3, 64, 0>::Storage fail;

#elif CASE == 16
// EXPECT: gpuopt::StagedStructs: with ITEMS > 1, load an array of them
// DO: `float3 structs[ITEMS]; tile.load(structs);`
using Staged = gpuopt::StagedStructs<float3, 64, 2>;
__device__ float3 fail(Staged::Tile tile, const float3* in) { return tile.load(in); }

#elif CASE == 17
// EXPECT: gpuopt::PipelinedStructs: with ITEMS > 1, load an array of them
using Staged = gpuopt::PipelinedStructs<float3, 64, 2>;
__device__ float3 fail(Staged::Tile tile) { return tile.load(); }

#elif CASE == 18
// EXPECT: gpuopt::PipelinedStructs: with ITEMS > 1, store an array of them
using Staged = gpuopt::PipelinedStructs<float3, 64, 2>;
__device__ void fail(Staged::Tile tile, float3* out) { tile.store(out, float3{}); }

#elif CASE == 19
// EXPECT: gpuopt::StagedStructs: with ITEMS > 1, store an array of them
using Staged = gpuopt::StagedStructs<float3, 64, 2>;
__device__ void fail(Staged::Tile tile, float3* out) { tile.store(out, float3{}); }

#elif CASE == 20
// EXPECT: gpuopt: structures move as bytes, so their type must be trivially copyable
struct Handle {
  Handle(const Handle& other) : value(other.value) {}
  int value;
};

gpuopt::StagedStructs<Handle, 64>::Storage fail;

#endif
