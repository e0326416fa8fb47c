// SPDX-License-Identifier: MIT
#include <gpuopt/block/struct_io.cuh>
#include <gpuopt/block/struct_pipeline.cuh>
#include <gpuopt/struct_io.cuh>

#include <string>
#include <vector>

#if CASE == 1
// EXPECT: gpuopt::transformStructs: the structures of out are const
struct First {
  __device__ float operator()(const float4& a) const { return a.x; }
};

void fail(const float4* in, const float* out) { gpuopt::transformStructs(in, 3, out, First{}); }

#elif CASE == 2
// EXPECT: gpuopt::forEachStruct: the function must take a structure of data, alone or with its index
struct OfOther {
  __device__ void operator()(double2&) const {}
};

void fail(float4* data) { gpuopt::forEachStruct(data, 3, OfOther{}); }

#elif CASE == 3
// EXPECT nvcc: gpuopt: kernels cannot call a lambda for the host: write [] __device__ (...) {...}
// WRITTEN: `forEachStruct(data, 3, [](float3& p) { p.x = 0; })`
void fail(float3* data) {
  gpuopt::forEachStruct(data, 3, [](float3& p) { p.x = 0; });
}

#elif CASE == 4
// EXPECT: gpuopt::forEachStruct: data must be a pointer, or Thrust's iterator of memory
struct Zero {
  __device__ void operator()(float4& p) const { p.x = 0; }
};

void fail(std::vector<float4>& data) { gpuopt::forEachStruct(data.begin(), 3, Zero{}); }

#elif CASE == 5
// EXPECT: gpuopt::forEachStruct: these arguments fit no form of it: it takes (data, n, f) or (container, f), then a stream
void fail(float3* data) { gpuopt::forEachStruct(data, 3); }

#elif CASE == 6
// EXPECT: gpuopt::forEachStruct: the call operator of the function must be const
// WRITTEN: `forEachStruct(data, n, f)`, where `f` counts its calls
// DO: the index is the second parameter; count through a pointer
struct Counting {
  int calls = 0;
  __device__ void operator()(float4& p) { p.x = static_cast<float>(++calls); }
};

void fail(float4* data) { gpuopt::forEachStruct(data, 3, Counting{}); }

#elif CASE == 7
// EXPECT: gpuopt::forEachStruct: the function takes a structure by value or as const, so it changes nothing
struct Look {
  __device__ float operator()(const float4& p) const noexcept { return p.x; }
};

void fail(float4* data) { gpuopt::forEachStruct(data, 3, Look{}); }

#elif CASE == 8
// EXPECT: gpuopt: structures move as bytes, so their type must be trivially copyable
// WRITTEN: `forEachStruct(data, n, f)` of structures with a `std::string`
// DO: keep what owns memory on the host: fixed arrays, indices or device pointers move
struct Named {
  std::string name;
};

struct Clear {
  __device__ void operator()(Named& named) const { named.name.clear(); }
};

void fail(Named* data) { gpuopt::forEachStruct(data, 3, Clear{}); }

#elif CASE == 9
// EXPECT: gpuopt::forEachStruct: the function takes a structure by value or as const, so it changes nothing: take a reference, or pass const structures to only read them
// DO: `operator()(Particle& p) const`; to only read, pass a `const Particle*`
struct Move {
  __device__ void operator()(float4 p) const { p.x += 1; }
};

void fail(float4* data) { gpuopt::forEachStruct(data, 3, Move{}); }

#elif CASE == 10
// EXPECT: gpuopt::transformStructs: the function must take a structure of in, alone or with its index, and return one of out
struct OfThree {
  __device__ float operator()(const float4& a, std::size_t i, int) const { return a.x + static_cast<float>(i); }
};

void fail(const float4* in, float* out) { gpuopt::transformStructs(in, 3, out, OfThree{}); }

#elif CASE == 11
// EXPECT: gpuopt::gatherStructs: the structures of out are const
void fail(const float4* in, const int* indices, const float4* out) { gpuopt::gatherStructs(in, indices, 3, out); }

#elif CASE == 12
// EXPECT: gpuopt::gatherStructs: these arguments fit no form of it: it takes (in, indices, n, out), or containers without n, then a stream
void fail(const float3* in, const int* indices, float3* out) { gpuopt::gatherStructs(in, indices, out, 3); }

#elif CASE == 13
// EXPECT: gpuopt: structures move as bytes, so their type must be trivially copyable
struct Named {
  std::string name;
};

void fail(const Named* in, const int* indices, Named* out) { gpuopt::gatherStructs(in, indices, 3, out); }

#elif CASE == 14
// EXPECT: gpuopt: in and out have structures of different types
// DO: `transformStructs` converts: gather first
void fail(const float4* in, const int* indices, double2* out) { gpuopt::gatherStructs(in, indices, 3, out); }

#elif CASE == 15
// EXPECT: gpuopt: the indices of structures must be integers
// WRITTEN: `gatherStructs(in, indices, n, out)`, where indices are `float`
// DO: make them `int`, `unsigned`, `long long`, `std::size_t`
void fail(const float4* in, const float* indices, float4* out) { gpuopt::gatherStructs(in, indices, 3, out); }

#elif CASE == 16
// EXPECT: gpuopt: the indices of structures must be integers
void fail(const float4* in, const bool* indices, float4* out) { gpuopt::scatterStructs(in, indices, 3, out); }

#elif CASE == 17
// EXPECT: gpuopt: the function must take a structure of each input, alone or with its index
// What nvcc shows of a lambda for the device alone.
struct OfOther {
  __device__ void operator()(double2&) const {}
};

__global__ void fail(float4* data) { gpuopt::detail::callForStruct(OfOther{}, 0, *data); }

#elif CASE == 18
// EXPECT nvcc: gpuopt: kernels cannot call a lambda for the host: write [] __device__ (...) {...}
// WRITTEN: `transformStructs(in, 3, out, [](float3 p) { return p.x; })`
void fail(const float3* in, float* out) {
  gpuopt::transformStructs(in, 3, out, [](float3 p) { return p.x; });
}

#elif CASE == 19
// EXPECT: gpuopt::transformStructs: out must be a pointer, or Thrust's iterator of memory
struct Zero {
  __device__ float operator()(const float4&) const { return 0; }
};

void fail(const float4* in, std::vector<float>& out) { gpuopt::transformStructs(in, 3, out.begin(), Zero{}); }

#elif CASE == 20
// EXPECT: gpuopt::transformStructs: the call operator of the function must be const
// WRITTEN: `transformStructs(in, n, out, f)`, where `f` counts its calls
// DO: `const` after the parameters of `operator()`, and no `mutable` lambda; count through a pointer
struct Counting {
  int calls = 0;
  __device__ float operator()(const float4& a) { return a.x + static_cast<float>(++calls); }
};

void fail(const float4* in, float* out) { gpuopt::transformStructs(in, 3, out, Counting{}); }

#elif CASE == 21
// EXPECT: gpuopt::transformStructs: the function must take a structure of in, alone or with its index, and return one of out
struct Nothing {
  __device__ void operator()(const float4&) const {}
};

void fail(const float4* in, float* out) { gpuopt::transformStructs(in, 3, out, Nothing{}); }

#elif CASE == 22
// EXPECT: gpuopt: structures move as bytes, so their type must be trivially copyable
struct ToText {
  __device__ std::string operator()(int) const { return {}; }
};

void fail(const int* in, std::string* out) { gpuopt::transformStructs(in, 3, out, ToText{}); }

#elif CASE == 23
// EXPECT: gpuopt::scatterStructs: the structures of out are const
void fail(const float4* in, const int* indices, const float4* out) { gpuopt::scatterStructs(in, indices, 3, out); }

#elif CASE == 24
// EXPECT: gpuopt::scatterStructs: these arguments fit no form of it: it takes (in, indices, n, out), or containers without n, then a stream
void fail(const float3* in, const int* indices, float3* out) { gpuopt::scatterStructs(in, indices, out, 3); }

#elif CASE == 25
// EXPECT: gpuopt::transformStructs: these arguments fit no form of it: it takes (in, n, out, f), or containers for in and out without n, then a stream
struct Twice {
  __device__ float operator()(float x) const { return 2 * x; }
};

void fail(const float* first, const float* last, float* out) { gpuopt::transformStructs(first, last, out, Twice{}); }

#elif CASE == 26
// EXPECT: gpuopt: structures move as bytes, so their type must be trivially copyable
struct Named {
  std::string name;
};

struct Length {
  __device__ int operator()(const Named& named) const { return static_cast<int>(named.name.size()); }
};

void fail(const Named* in, int* out) { gpuopt::transformStructs(in, 3, out, Length{}); }

#elif CASE == 27
// EXPECT: gpuopt: BLOCK, the threads of a block, must be 1 to 1024
gpuopt::StagedStructs<float3, 1025>::Storage fail;

#elif CASE == 28
// EXPECT: gpuopt::StagedStructs: StructTransfer::exchange moves words: the alignment of T must be 4 or more
struct Exchanged {
  static constexpr gpuopt::StructTransfer load = gpuopt::StructTransfer::exchange;
  static constexpr gpuopt::StructTransfer store = gpuopt::StructTransfer::direct;
};

struct Bytes12 {
  unsigned char bytes[12];
};

gpuopt::StagedStructs<Bytes12, 64, 1, Exchanged>::Storage fail;

#elif CASE == 29
// EXPECT: gpuopt: ITEMS, the structures of a thread, must be at least 1
gpuopt::StagedStructs<float3, 64, 0>::Storage fail;

#elif CASE == 30
// EXPECT: gpuopt::StagedStructs: with ITEMS > 1, load an array of them
// DO: `float3 structs[ITEMS]; tile.load(structs);`
using Staged = gpuopt::StagedStructs<float3, 64, 2>;
__device__ float3 fail(Staged::Tile tile, const float3* in) { return tile.load(in); }

#elif CASE == 31
// EXPECT: gpuopt::PipelinedStructs: with ITEMS > 1, load an array of them
using Staged = gpuopt::PipelinedStructs<float3, 64, 2>;
__device__ float3 fail(Staged::Tile tile) { return tile.load(); }

#elif CASE == 32
// EXPECT: gpuopt::PipelinedStructs: with ITEMS > 1, store an array of them
using Staged = gpuopt::PipelinedStructs<float3, 64, 2>;
__device__ void fail(Staged::Tile tile, float3* out) { tile.store(out, float3{}); }

#elif CASE == 33
// EXPECT: gpuopt::StagedStructs: with ITEMS > 1, store an array of them
using Staged = gpuopt::StagedStructs<float3, 64, 2>;
__device__ void fail(Staged::Tile tile, float3* out) { tile.store(out, float3{}); }

#elif CASE == 34
// EXPECT: gpuopt: structures move as bytes, so their type must be trivially copyable
struct Handle {
  Handle(const Handle& other) : value(other.value) {}
  int value;
};

gpuopt::StagedStructs<Handle, 64>::Storage fail;

#endif
