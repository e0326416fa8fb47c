/// \file
/// Device vectors: what they hold, where their memory comes from, and when it is freed.
// SPDX-License-Identifier: MIT
#include "support/device_array.cuh"
#include "support/host_test.cuh"
#include "support/plain_span.hpp"

#include <gpuopt/device_vector.cuh>
#include <gpuopt/map.cuh>
#include <gpuopt/reduce.cuh>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace gpuopt::test::device_vector_test {

struct Twice {
  __device__ int operator()(int x) const { return 2 * x; }
};

struct AddOne {
  __device__ void operator()(int& x) const { ++x; }
};

// Counts what it gives and gets back, on which stream.
struct CountedMemory {
  int blocks = 0;
  cudaStream_t stream = nullptr;

  void* allocate(std::size_t bytes, cudaStream_t on) {
    void* memory = nullptr;
    check(cudaMallocAsync(&memory, bytes, on), "cudaMallocAsync");
    ++blocks;
    stream = on;
    return memory;
  }
  void deallocate(void* memory, std::size_t, cudaStream_t on) {
    check(cudaFreeAsync(memory, on), "cudaFreeAsync");
    --blocks;
    checkTrue(on == stream);
  }
};

inline std::vector<int> numbers(std::size_t n) {
  std::vector<int> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<int>(i * i % 1013);
  return values;
}

}  // namespace gpuopt::test::device_vector_test

using gpuopt::DeviceVector;
using gpuopt::test::messageOf;
using namespace gpuopt::test::device_vector_test;

static_assert(!std::is_copy_constructible_v<DeviceVector<int>> && !std::is_copy_assignable_v<DeviceVector<int>>);
static_assert(std::is_nothrow_move_constructible_v<DeviceVector<int>>);
static_assert(!std::is_convertible_v<std::size_t, DeviceVector<int>>);
static_assert(!std::is_constructible_v<DeviceVector<int>, std::vector<float>>);
static_assert(std::is_same_v<decltype(DeviceVector(std::vector<short>())), DeviceVector<short>>);
static_assert(std::is_same_v<decltype(DeviceVector{1.0, 2.0}), DeviceVector<double>>);

TEST_CASE("A device vector is made of a size, a container or elements, and comes back to the host") {
  for (const std::size_t n : {std::size_t{1}, std::size_t{1000}, std::size_t{300007}}) {
    const std::vector<int> values = numbers(n);
    const DeviceVector<int> vector(values);
    REQUIRE(vector.size() == n);
    REQUIRE(vector.end() - vector.begin() == static_cast<std::ptrdiff_t>(n));
    REQUIRE(reinterpret_cast<std::uintptr_t>(vector.data()) % 256 == 0);
    REQUIRE(vector.toHost() == values);
    REQUIRE(DeviceVector<int>::zeros(n).toHost() == std::vector<int>(n));
  }
  REQUIRE(DeviceVector<int>(7).size() == 7);
  REQUIRE(DeviceVector<int>{7}.toHost() == std::vector<int>{7});
  REQUIRE(DeviceVector{1.5f, -2.5f}.toHost() == std::vector<float>{1.5f, -2.5f});
  REQUIRE(DeviceVector(std::array<short, 2>{3, 4}).toHost() == std::vector<short>{3, 4});
  const unsigned char bytes[] = {9, 8, 7};
  REQUIRE(DeviceVector<unsigned char>(gpuopt::test::PlainSpan<const unsigned char>{bytes, 3}).toHost() ==
          std::vector<unsigned char>{9, 8, 7});
  REQUIRE(DeviceVector(gpuopt::PinnedVector<int>(3, 5)).toHost() == std::vector<int>{5, 5, 5});
}

TEST_CASE("An empty device vector has no memory") {
  const DeviceVector<int> none, zero(0), copied(std::vector<int>{}), zeros = DeviceVector<int>::zeros(0);
  for (const auto* vector : {&none, &zero, &copied, &zeros}) {
    REQUIRE((vector->empty() && vector->size() == 0 && vector->data() == nullptr));
    REQUIRE(vector->toHost().empty());
    REQUIRE(vector->clone().empty());
  }
}

TEST_CASE("Functions take device vectors as containers, const ones as inputs") {
  const std::vector<int> values = numbers(5000);
  const DeviceVector<int> in(values);
  DeviceVector<int> out(in.size());
  gpuopt::transform(in, out, Twice{});
  gpuopt::forEach(out, AddOne{});
  long long sum = 0;
  for (const int value : values) sum += 2 * value + 1;
  REQUIRE(gpuopt::reduce<long long>(out) == sum);
  gpuopt::upload(std::vector<int>(5000, 3), out);
  std::vector<int> onHost(5000);
  gpuopt::download(out, onHost);
  REQUIRE(onHost == std::vector<int>(5000, 3));
  REQUIRE(messageOf<std::invalid_argument>([&] { gpuopt::transform(in, DeviceVector<int>(4999), Twice{}); }) ==
          "gpuopt::transform: out has 4999 elements, but 5000 are needed");
}

TEST_CASE("Device vectors are moved, and cloned by name") {
  DeviceVector<int> first{1, 2, 3};
  const int* const data = first.data();
  DeviceVector<int> second = std::move(first);
  REQUIRE(first.empty());  // NOLINT(bugprone-use-after-move)
  REQUIRE((second.data() == data && second.size() == 3));
  DeviceVector<int> third = second.clone();
  gpuopt::forEach(second, AddOne{});
  REQUIRE(third.toHost() == std::vector<int>{1, 2, 3});
  third = std::move(second);
  REQUIRE((third.data() == data && third.toHost() == std::vector<int>{2, 3, 4}));
  first = DeviceVector<int>{8};
  REQUIRE(first.toHost() == std::vector<int>{8});
}

TEST_CASE("A device vector allocates, copies and frees in the order of its stream") {
  const gpuopt::test::Stream stream;
  const std::vector<int> values = numbers(200000);
  gpuopt::test::DeviceArray<int> out(std::vector<int>(200000));
  {
    DeviceVector<int> vector(values, stream);
    REQUIRE(vector.stream() == stream);
    gpuopt::forEach(vector, AddOne{}, stream);
    REQUIRE(vector.clone().stream() == stream);
    gpuopt::transform(vector.data(), vector.size(), out.data(), Twice{}, stream);
  }  // freed behind the kernel that reads it
  stream.wait();
  const std::vector<int> results = out.toHost();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) wrong += results[i] != 2 * (values[i] + 1);
  REQUIRE(wrong == 0);
}

TEST_CASE("A device vector takes its memory from where it is told, and gives it back there") {
  const gpuopt::test::Stream stream;
  CountedMemory memory;
  {
    auto vector = DeviceVector<int>::zeros(10, stream, memory);
    REQUIRE(memory.blocks == 1);
    REQUIRE(memory.stream == stream);
    const DeviceVector<int> copy = vector.clone();
    REQUIRE(memory.blocks == 2);
    vector = DeviceVector<int>({1, 2}, stream, memory);
    const DeviceVector<int> moved = std::move(vector);
    REQUIRE(memory.blocks == 2);
    REQUIRE(moved.toHost() == std::vector<int>{1, 2});
    REQUIRE(DeviceVector<int>::zeros(2, stream, memory).toHost() == std::vector<int>(2));
  }
  REQUIRE(memory.blocks == 0);
}

TEST_CASE("Errors of device vectors name the size, and lose nothing") {
  // WRITTEN transfer: DeviceVector<int>(-5)
  REQUIRE(messageOf<std::invalid_argument>([] { DeviceVector<int>(static_cast<std::size_t>(-5)); }) ==
          "gpuopt::DeviceVector: n (-5) is negative");
  REQUIRE(messageOf<std::invalid_argument>([] { DeviceVector<int>(std::size_t{1} << 62); }) ==
          "gpuopt::DeviceVector: n (4611686018427387904) elements of 4 bytes are more than memory can hold");
  const std::string text = messageOf<gpuopt::CudaError>([] { DeviceVector<double>(std::size_t{1} << 50); });
  REQUIRE(text.find("gpuopt::DeviceVector: 1125899906842624 elements of 8 bytes: cudaMallocFromPoolAsync: cudaError") ==
          0);
  REQUIRE(cudaPeekAtLastError() == cudaSuccess);
  REQUIRE(DeviceVector<int>{1}.toHost() == std::vector<int>{1});
}

#ifndef GPUOPT_EMULATION  // which has no graphs
TEST_CASE("A device vector is not made while captured into a graph") {
  const gpuopt::test::Stream stream;
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  const std::string captured = messageOf<std::invalid_argument>([&] { DeviceVector<int>(5, stream); });
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
  REQUIRE(captured == "gpuopt::DeviceVector: stream is being captured: the memory would be the graph's");
}
#endif
