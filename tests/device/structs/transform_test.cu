/// transformStructs and forEachStruct: structures of every size, counts around every boundary, misaligned
/// arrays, in place, between types, from iterators, functions of every form, wrong arguments.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/host_test.cuh"
#include "support/matrix_data.cuh"
#include "support/struct_data.cuh"

#include <gpuopt/struct_io.cuh>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuopt::test::transform_test {

// A type whose policy avoids shared memory.
struct Exchanged {
  unsigned words[5];
};

}  // namespace gpuopt::test::transform_test

template <unsigned ITEMS>
struct gpuopt::StructTransferPolicy<gpuopt::test::transform_test::Exchanged, ITEMS> {
  static constexpr unsigned items = ITEMS == 0 ? 3 : ITEMS;
  static constexpr StructTransfer load = StructTransfer::exchange;
  static constexpr StructTransfer store = StructTransfer::exchange;
};

namespace gpuopt::test::transform_test {
namespace {

// Each byte of the result comes from a different byte of the structure; the first 8 also encode the index.
template <class Out>
struct Mixed {
  template <class In>
  __host__ __device__ Out operator()(const In& in, std::size_t i) const {
    const auto* from = reinterpret_cast<const unsigned char*>(&in);
    Out out{};
    auto* to = reinterpret_cast<unsigned char*>(&out);
    for (std::size_t b = 0; b < sizeof(Out); ++b) {
      const std::uint64_t index = b < 8 ? std::uint64_t{i} >> 8 * b : 0;
      to[b] = static_cast<unsigned char>(from[sizeof(In) - 1 - b % sizeof(In)] + b + index);
    }
    return out;
  }
};

template <class T>
struct MixedInPlace {
  __host__ __device__ void operator()(T& value, std::size_t i) const { value = Mixed<T>{}(value, i); }
};

template <class In, class Out>
std::vector<Out> mixed(const std::vector<In>& values) {
  std::vector<Out> results;
  results.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) results.push_back(Mixed<Out>{}(values[i], i));
  return results;
}

template <class In, class Out>
void checkTransform(std::size_t n, std::size_t inOffset = 0, std::size_t outOffset = 0) {
  INFO(sizeof(In) << " to " << sizeof(Out) << " bytes, n = " << n << ", offsets " << inOffset << " and " << outOffset);
  const std::vector<In> values = indexCoded<In>(n);
  const StructArray<In> in(values, inOffset);
  StructArray<Out> out(n, outOffset);
  transformStructs(in.data(), n, out.data(), Mixed<Out>{});
  CHECK(sameBytes(out.toHost(), mixed<In, Out>(values)));
  CHECK(sameBytes(in.toHost(), values));
}

template <class T>
void checkInPlace(std::size_t n, std::size_t offset = 0) {
  INFO(sizeof(T) << " bytes, n = " << n << ", offset " << offset);
  const std::vector<T> values = indexCoded<T>(n);
  StructArray<T> data(values, offset);
  forEachStruct(data.data(), n, MixedInPlace<T>{});
  CHECK(sameBytes(data.toHost(), mixed<T, T>(values)));
}

// Counts around one warp, one block and several blocks.
template <class In, class Out>
std::vector<std::size_t> counts() {
  using Block = detail::ArrayTransformBlock<In, Out, true>;
  constexpr std::size_t WARP = std::size_t{32} * Block::ITEMS, BLOCK = std::size_t{Block::BLOCK} * Block::ITEMS;
  return {0, 1, WARP - 1, WARP, WARP + 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + WARP + 11};
}

template <class T>
void checkSize() {
  for (const std::size_t n : counts<T, T>()) {
    checkTransform<T, T>(n);
    checkInPlace<T>(n);
  }
  for (const std::size_t offset : {alignof(T), std::size_t{4}, std::size_t{8}, std::size_t{16}, std::size_t{28}})
    if (offset % alignof(T) == 0) checkInPlace<T>(300, offset);
}

TEST_CASE("Structures of every size", "[struct][transform]") {
  checkSize<Blob<1>>();
  checkSize<Blob<3>>();
  checkSize<Blob<6, 2>>();
  checkSize<Blob<12, 4>>();
  checkSize<uint4>();
  checkSize<Blob<28, 4>>();
  checkSize<Blob<64, 16>>();
  checkSize<Blob<33>>();
  checkSize<Blob<101>>();
  checkSize<Blob<256, 4>>();
}

TEST_CASE("Arrays beyond the caches, whose tiles spread", "[struct][transform]") {
  using T = Blob<252, 4>;
  checkTransform<T, T>(detail::spreadBytes / sizeof(T) + 100);
}

TEST_CASE("A user's own policy", "[struct][transform]") {
  using Block = detail::ArrayTransformBlock<Exchanged, Exchanged, true>;
  static_assert(Block::ITEMS == 3 && !detail::usesShared<Block::Staged<Exchanged>>);
  checkSize<Exchanged>();
  checkTransform<Exchanged, Blob<28, 4>>(1000);
}

struct LastByte {
  template <class T>
  __host__ __device__ void operator()(T& value, std::size_t i) const {
    value.bytes[sizeof(T) - 1] = static_cast<unsigned char>(value.bytes[0] + i);
  }
};

template <class T>
void checkLastByte(std::size_t n) {
  std::vector<T> values = indexCoded<T>(n);
  StructArray<T> data(values);
  forEachStruct(data.data(), n, LastByte{});
  for (std::size_t i = 0; i < n; ++i) LastByte{}(values[i], i);
  CHECK(sameBytes(data.toHost(), values));
}

TEST_CASE("Structures of more than 256 bytes", "[struct][transform]") {
  checkLastByte<Blob<300, 4>>(200);
  checkLastByte<Blob<383>>(300);
  checkLastByte<Blob<384, 4>>(300);
  checkLastByte<Blob<767>>(100);
  checkLastByte<Blob<768, 16>>(100);
  checkLastByte<Blob<1001>>(100);
  checkLastByte<Blob<2000, 16>>(100);
}

template <class In, class Out>
void checkTypes() {
  for (const std::size_t n : counts<In, Out>()) checkTransform<In, Out>(n);
}

TEST_CASE("From one size to another", "[struct][transform]") {
  checkTypes<Blob<28, 4>, Blob<12, 4>>();
  checkTypes<Blob<12, 4>, Blob<28, 4>>();
  checkTypes<Blob<1>, Blob<256, 16>>();
  checkTypes<Blob<100, 4>, float>();
  checkTypes<Blob<64, 4>, Blob<64, 16>>();
}

TEST_CASE("Arrays with different misalignments", "[struct][transform]") {
  for (const std::size_t in : {0, 4, 8, 12})
    for (const std::size_t out : {0, 4, 8, 12}) {
      checkTransform<Blob<28, 4>, Blob<28, 4>>(150, in, out);
      checkTransform<Blob<12, 4>, Blob<28, 4>>(150, in, out);
    }
  for (const std::size_t in : {0, 1, 2, 3, 4, 8, 15})
    for (const std::size_t out : {0, 1, 2, 3, 4, 8, 15}) checkTransform<Blob<3>, Blob<3>>(1100, in, out);
}

TEST_CASE("In place by transformStructs", "[struct][transform]") {
  const std::vector<Blob<28, 4>> values = indexCoded<Blob<28, 4>>(777);
  StructArray<Blob<28, 4>> data(values, 4);
  transformStructs(data.data(), 777, data.data(), Mixed<Blob<28, 4>>{});
  CHECK(sameBytes(data.toHost(), mixed<Blob<28, 4>, Blob<28, 4>>(values)));
}

template <class Out>
void checkStoreOnly(std::size_t n, std::size_t offset) {
  StructArray<Out> out(n, offset);
  transformStructs(Squares{3}, n, out.data(), Mixed<Out>{});
  std::vector<std::int64_t> squares;
  for (std::size_t i = 0; i < n; ++i) squares.push_back(Squares{3}[static_cast<std::ptrdiff_t>(i)]);
  CHECK(sameBytes(out.toHost(), mixed<std::int64_t, Out>(squares)));
}

TEST_CASE("From an iterator", "[struct][transform]") {
  for (const std::size_t n : {0, 1, 31, 32, 33, 127, 128, 129, 1023, 1024, 1025, 2000}) {
    checkStoreOnly<Blob<28, 4>>(n, 4 * (n % 4));
    checkStoreOnly<Blob<3>>(n, n % 16);
  }
}

struct Body {
  float3 position;
  float3 velocity;
  float mass;
  int id;

  __host__ __device__ void step(float time) { position.x += time * velocity.x; }
};

std::vector<Body> bodies(std::size_t n) {
  std::vector<Body> all(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto x = static_cast<float>(i);
    all[i] = {{x, x + 1, x + 2}, {1, 2, 3}, 2 * x, static_cast<int>(i)};
  }
  return all;
}

struct Energy {
  __host__ __device__ double operator()(const Body& b) const { return b.mass * b.velocity.z; }
};

// Accepts both forms; the one without the index is called.
struct Both {
  __host__ __device__ int operator()(const Body& b) const { return b.id; }
  __host__ __device__ int operator()(const Body&, std::size_t) const { return -1; }
};

TEST_CASE("Functions with and without the index, their results converted", "[struct][transform]") {
  const std::size_t n = 333;
  const std::vector<Body> values = bodies(n);
  const StructArray<Body> in(values);
  StructArray<float> energies(n);
  StructArray<long> ids(n);
  transformStructs(in.data(), n, energies.data(), Energy{});
  transformStructs(in.data(), n, ids.data(), Both{}, nullptr);
  const std::vector<float> energy = energies.toHost();
  const std::vector<long> id = ids.toHost();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i)
    wrong += energy[i] != static_cast<float>(Energy{}(values[i])) || id[i] != static_cast<long>(i);
  CHECK(wrong == 0);
}

TEST_CASE("Lambdas, in a stream", "[struct][transform]") {
  const std::size_t n = 500;
  StructArray<Body> data(bodies(n));
  StructArray<int> ids(n);
  const Stream stream;
  const float time = 0.5F;
  forEachStruct(
      data.data(), n, [time] __host__ __device__(Body & b) { b.step(time); }, stream);
  forEachStruct(
      data.data(), n, [] __device__(Body & b, std::size_t i) { b.id += static_cast<int>(i); }, stream);
  transformStructs(
      data.data(), n, ids.data(), [] __device__(const Body& b) { return b.id; }, stream);
  stream.wait();
  const std::vector<Body> after = data.toHost();
  const std::vector<int> id = ids.toHost();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i)
    wrong += after[i].position.x != static_cast<float>(i) + 0.5F || id[i] != static_cast<int>(2 * i) ||
             after[i].mass != 2 * static_cast<float>(i);
  CHECK(wrong == 0);
}

TEST_CASE("The function sees every structure once", "[struct][transform]") {
  const std::size_t n = 1111;
  StructArray<Blob<28, 4>> data(indexCoded<Blob<28, 4>>(n));
  DeviceArray<int> calls(std::vector<int>(n, 0));
  int* counters = calls.data();
  forEachStruct(data.data(), n, [counters] __device__(Blob<28, 4>&, std::size_t i) { atomicAdd(counters + i, 1); });
  CHECK(calls.toHost() == std::vector<int>(n, 1));
  CHECK(sameBytes(data.toHost(), indexCoded<Blob<28, 4>>(n)));
}

// Neither default-constructible nor assignable, and yet trivially copyable.
struct Fixed {
  const int id;
  const float weights[6];

  __host__ __device__ explicit Fixed(int number) : id(number), weights{} {}
};

TEST_CASE("Structures that cannot be assigned", "[struct][transform]") {
  StructArray<Blob<28, 4>> memory(100);
  StructArray<int> ids(100);
  auto* fixed = reinterpret_cast<Fixed*>(memory.data());
  transformStructs(Squares{0}, 100, fixed,
                   [] __host__ __device__(std::int64_t square) { return Fixed(static_cast<int>(square)); });
  transformStructs(fixed, 100, ids.data(), [] __host__ __device__(const Fixed& f) { return f.id; });
  static_cast<void>(memory.toHost());
  const std::vector<int> id = ids.toHost();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < 100; ++i) wrong += id[i] != static_cast<int>(i * i);
  CHECK(wrong == 0);
}

TEST_CASE("Containers and spans of structures", "[struct][transform]") {
  const std::size_t n = 300;
  StructArray<Body> data(bodies(n));
  StructArray<int> ids(n);
  StructArray<float> few(n - 1);
  const Stream stream;
  forEachStruct(
      data, [] __host__ __device__(Body & b) { b.id *= 2; }, stream);
  transformStructs(data, ids, Both{}, stream);
  stream.wait();
  const std::vector<int> id = ids.toHost();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i) wrong += id[i] != static_cast<int>(2 * i);
  CHECK(wrong == 0);
  CHECK(messageOf<std::invalid_argument>([&] { transformStructs(data, few, Energy{}); }) ==
        "gpuopt::transform: out has 299 elements, but 300 are needed");
}

TEST_CASE("Bad arguments of a transformation", "[struct][transform]") {
  using T = Blob<8, 4>;
  DeviceArray<int> memory(100);
  const std::vector<int> before = memory.toHost();
  auto* const data = reinterpret_cast<T*>(memory.data());
  auto* const odd = reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(data) + 1);
  T* const nothing = nullptr;
  const Mixed<T> f;
  const MixedInPlace<T> g;
  const auto refused = [](const std::string& expected, auto call) {
    CHECK(messageOf<std::invalid_argument>(call) == expected);
  };
  // WRITTEN struct: transformStructs(nullptr, 5, out, f)
  refused("gpuopt::transform: in is null, but n is 5", [&] { transformStructs(nothing, 5, data, f); });
  refused("gpuopt::transform: out is null, but n is 5", [&] { transformStructs(data, 5, nothing, f); });
  refused("gpuopt::transform: out is null, but n is 5", [&] { transformStructs(Squares{}, 5, nothing, f); });
  // WRITTEN struct: `transformStructs(in, n, out, f)`, where `in` is a cast `char*`
  // DO: structures begin at multiples of their alignment; copy them there
  refused("gpuopt::transform: in is misaligned: its address modulo 4 is 1",
          [&] { transformStructs(odd, 5, data + 20, f); });
  refused("gpuopt::transform: out is misaligned: its address modulo 4 is 1",
          [&] { transformStructs(data + 20, 5, odd, f); });
  refused("gpuopt::transform: in and out overlap: out begins at byte 32 of the 40 of in",
          [&] { transformStructs(data, 5, data + 4, f); });
  refused("gpuopt::transform: out and in overlap: in begins at byte 32 of the 40 of out",
          [&] { transformStructs(data + 4, 5, data, f); });
  refused("gpuopt::transform: in and out overlap: out begins at byte 0 of the 40 of in",
          [&] { transformStructs(data, 5, memory.data(), Mixed<int>{}); });
  refused("gpuopt::transform: n (4611686018427387904) elements of 8 bytes are more than memory can hold",
          [&] { transformStructs(data, std::size_t{1} << 62, data, f); });
  refused("gpuopt::forEach: data is null, but n is 5", [&] { forEachStruct(nothing, 5, g); });
  refused("gpuopt::forEach: data is misaligned: its address modulo 4 is 1", [&] { forEachStruct(odd, 5, g); });
  refused(GPUOPT_CHECK_POINTERS ? "gpuopt::forEach: data needs 9007199254740992 bytes, but its memory has 656"
                                : "gpuopt::forEach: the input needs too many blocks",
          [&] { forEachStruct(data, std::size_t{1} << 50, g); });
  CHECK(memory.toHost() == before);
  CHECK_NOTHROW(transformStructs(nothing, 0, nothing, f));
  CHECK_NOTHROW(transformStructs(data, 0, data + 1, f));
  CHECK_NOTHROW(forEachStruct(nothing, 0, g));
}

TEST_CASE("The kernel requests its share of shared memory", "[struct][transform]") {
  using T = Blob<28, 4>;
  using Block = detail::ArrayTransformBlock<T, T, true>;
  StructArray<T> data(indexCoded<T>(10));
  transformStructs(data.data(), 10, data.data(), Mixed<T>{});
  cudaFuncAttributes attributes{};
  const auto kernel = detail::transformStructsKernel<Block, const T*, T, Mixed<T>>;
  check(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  CHECK(attributes.preferredShmemCarveout == detail::transformCarveout);
}

TEST_CASE("An error left by an earlier call is neither swallowed nor reported", "[struct][transform]") {
  StructArray<Body> data(bodies(100));
  const cudaError_t earlier = leaveEarlierError();
  CHECK_NOTHROW(forEachStruct(data.data(), 100, [] __host__ __device__(Body & b) { b.mass = 1; }));
  CHECK(cudaGetLastError() == earlier);
  CHECK(data.toHost()[99].mass == 1);
}

#ifndef GPUOPT_EMULATION

// Used only here, so that the kernel's first call is captured.
struct Captured {
  __device__ void operator()(Blob<28, 4>& value) const { ++value.bytes[0]; }
};

TEST_CASE("A transformation captured into a graph", "[struct][transform]") {
  std::vector<Blob<28, 4>> values = indexCoded<Blob<28, 4>>(1000);
  StructArray<Blob<28, 4>> data(values);
  const Stream stream;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  forEachStruct(data.data(), 1000, Captured{}, stream);
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  for (int run = 0; run < 3; ++run) check(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
  stream.wait();
  for (Blob<28, 4>& value : values) value.bytes[0] = static_cast<unsigned char>(value.bytes[0] + 3);
  CHECK(sameBytes(data.toHost(), values));
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

#endif

}  // namespace
}  // namespace gpuopt::test::transform_test
