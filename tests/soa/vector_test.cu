/// Vectors of structs in columns and tiles: resizing, moving, and growth that fails.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/host_test.cuh"
#include "support/soa_data.cuh"

#include <gpuopt/host/launch.cuh>
#include <gpuopt/soa/vector.cuh>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace gpuopt::test::vector_test {
namespace {

static_assert(!std::is_copy_constructible_v<SoaVector<Particle>> &&
              std::is_nothrow_move_constructible_v<SoaVector<Particle>> &&
              std::is_nothrow_move_assignable_v<SoaVector<Particle>>);

LaunchConfig threadsFor(std::size_t n, cudaStream_t stream) {
  LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>((n + 63) / 64));
  config.block = dim3(64);
  config.stream = stream;
  return config;
}

template <class T, class LAYOUT>
__global__ void storeKernel(SoaView<T, LAYOUT> view) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < view.size()) view[i] = structAt<T>(i);
}

template <class T, class LAYOUT>
__global__ void loadKernel(SoaView<const T, LAYOUT> view, T* out) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < view.size()) out[i] = view[i];
}

template <class T, class LAYOUT>
void fill(SoaVector<T, LAYOUT>& vector) {
  if (!vector.empty()) launch(storeKernel<T, LAYOUT>, threadsFor(vector.size(), vector.stream()), vector.view());
}

// The vector's structs. The kernel runs in the vector's stream, before any later operation.
template <class T, class LAYOUT>
std::vector<T> toHost(const SoaVector<T, LAYOUT>& vector) {
  DeviceArray<T> values(vector.size());
  if (!vector.empty())
    launch(loadKernel<T, LAYOUT>, threadsFor(vector.size(), vector.stream()), vector.view(), values.data());
  return values.toHost();
}

// The first `kept` structs as written by fill(), then zeros.
template <class T>
std::vector<T> keptAndZero(std::size_t kept, std::size_t n) {
  std::vector<T> values = structs<T>(kept);
  values.resize(n, T{});
  return values;
}

template <class T, class LAYOUT>
void checkResize() {
  const std::size_t sizes[] = {0, 1, 7, 31, 32, 33, 100};
  for (const std::size_t from : sizes)
    for (const std::size_t to : sizes) {
      CAPTURE(from, to);
      const Stream stream;
      SoaVector<T, LAYOUT> vector(from, stream);
      CHECK(toHost(vector) == keptAndZero<T>(0, from));
      fill(vector);
      vector.resize(to);
      CHECK((vector.size() == to && vector.view().size() == to && vector.stream() == stream));
      CHECK(vector.capacity() == (to > from ? to : from));
      CHECK(toHost(vector) == keptAndZero<T>(from < to ? from : to, to));
      // Growing again: the structs cut off are zero now.
      vector.resize(from);
      CHECK(toHost(vector) == keptAndZero<T>(from < to ? from : to, from));
      stream.wait();
    }
}

TEST_CASE("resize keeps structs and zeroes new ones", "[soa]") {
  checkResize<Particle, SoaColumns>();
  checkResize<Mixed, SoaTiles<32>>();
}

TEST_CASE("Resizing step by step keeps all structs", "[soa]") {
  SoaVector<Mixed> columns;
  SoaVector<Mixed, SoaTiles<4>> tiles;
  for (const std::size_t n : {3u, 5u, 4u, 21u, 0u, 2u, 40u}) {
    const std::size_t kept = columns.size();
    columns.resize(n);
    tiles.resize(n);
    CHECK(toHost(columns) == keptAndZero<Mixed>(kept < n ? kept : n, n));
    CHECK(toHost(tiles) == keptAndZero<Mixed>(kept < n ? kept : n, n));
    fill(columns);
    fill(tiles);
  }
}

template <class LAYOUT>
void checkClone() {
  const Stream stream;
  SoaVector<Mixed, LAYOUT> vector(50, stream);
  vector.resize(41);
  fill(vector);
  const SoaVector<Mixed, LAYOUT> copy = vector.clone();
  CHECK((copy.size() == 41 && copy.capacity() == 41 && copy.stream() == stream));
  vector.resize(0);
  vector.resize(41);
  CHECK(toHost(copy) == structs<Mixed>(41));
  CHECK(toHost(vector) == keptAndZero<Mixed>(0, 41));
  vector.clear();
  CHECK((vector.clone().empty() && vector.clone().stream() == stream));
  stream.wait();
}

TEST_CASE("A clone has the same structs and memory of its own", "[soa]") {
  checkClone<SoaColumns>();
  checkClone<SoaTiles<8>>();
}

TEST_CASE("Columns are aligned to 256 bytes and do not overlap", "[soa]") {
  SoaVector<Mixed> vector(77);
  const auto view = vector.view();
  const std::uintptr_t columns[] = {
      reinterpret_cast<std::uintptr_t>(view.column<0>()), reinterpret_cast<std::uintptr_t>(view.column<1>()),
      reinterpret_cast<std::uintptr_t>(view.column<2>()), reinterpret_cast<std::uintptr_t>(view.column<3>()),
      reinterpret_cast<std::uintptr_t>(view.column<4>()), reinterpret_cast<std::uintptr_t>(view.column<5>()),
      reinterpret_cast<std::uintptr_t>(view.column<6>()), reinterpret_cast<std::uintptr_t>(view.column<7>()),
      reinterpret_cast<std::uintptr_t>(view.column<8>()), reinterpret_cast<std::uintptr_t>(view.column<9>())};
  const std::size_t sizes[] = {1, 8, 1, 2, 8, 24, 8, 32, 2, 4};
  for (std::size_t i = 0; i < 10; ++i) {
    CAPTURE(i);
    CHECK(columns[i] % 256 == 0);
    if (i > 0) CHECK(columns[i] - columns[i - 1] == (77 * sizes[i - 1] + 255) / 256 * 256);
  }
}

TEST_CASE("resizeForOverwrite and clear change only the size", "[soa]") {
  SoaVector<Particle> vector(10);
  fill(vector);
  const float* mass = vector.view().column<&Particle::mass>();
  vector.resizeForOverwrite(4);
  CHECK((vector.size() == 4 && vector.capacity() == 10 && vector.view().column<2>() == mass));
  CHECK(toHost(vector) == structs<Particle>(4));
  vector.clear();
  CHECK((vector.empty() && vector.view().empty() && vector.capacity() == 10));
  vector.resizeForOverwrite(10);
  CHECK(vector.view().column<2>() == mass);
  vector.resizeForOverwrite(1000);
  CHECK((vector.size() == 1000 && vector.capacity() == 1000));
  fill(vector);
  CHECK(toHost(vector) == structs<Particle>(1000));
}

TEST_CASE("A moved-from vector is empty and usable", "[soa]") {
  const Stream stream;
  SoaVector<Particle> vector(33, stream);
  fill(vector);
  const float* mass = vector.view().column<2>();
  SoaVector<Particle> moved(std::move(vector));
  CHECK((moved.size() == 33 && moved.view().column<2>() == mass && moved.stream() == stream));
  // NOLINTNEXTLINE(bugprone-use-after-move)
  CHECK((vector.size() == 0 && vector.capacity() == 0 && vector.view().empty() && vector.stream() == stream));
  vector.resize(5);
  CHECK(toHost(vector) == keptAndZero<Particle>(0, 5));

  SoaVector<Particle> target(7);
  target = std::move(moved);
  // NOLINTNEXTLINE(bugprone-use-after-move)
  CHECK((toHost(target) == structs<Particle>(33) && moved.empty() && moved.capacity() == 0));
  auto& same = target;
  target = std::move(same);
  CHECK(toHost(target) == structs<Particle>(33));
  swap(target, vector);
  CHECK((target.size() == 5 && toHost(vector) == structs<Particle>(33)));
  vector = SoaVector<Particle>();
  CHECK((vector.capacity() == 0 && vector.stream() == nullptr));
  stream.wait();
}

template <class LAYOUT>
void checkFailure() {
  SoaVector<Particle, LAYOUT> vector(20);
  fill(vector);
  const auto isUntouched = [&] {
    return vector.size() == 20 && vector.capacity() == 20 && toHost(vector) == structs<Particle>(20);
  };
  constexpr std::size_t PETABYTES = std::size_t{1} << 48;
  CHECK_THROWS_AS(vector.resize(PETABYTES), CudaError);
  CHECK(isUntouched());
  CHECK_THROWS_AS(vector.resizeForOverwrite(PETABYTES), CudaError);
  CHECK(isUntouched());
  for (const std::size_t n : {~std::size_t{0} / 2, ~std::size_t{0} / 32 + 2}) {
    const std::string message = messageOf<std::invalid_argument>([&] { vector.resize(n); });
    CHECK(contains(message, "gpuopt::SoaVector: n (" + std::to_string(n) + ") elements of "));
    CHECK(contains(message, " bytes are more than memory can hold"));
    CHECK(isUntouched());
  }
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK_THROWS_AS((SoaVector<Particle, LAYOUT>(PETABYTES)), CudaError);
}

TEST_CASE("A vector that cannot grow is unchanged", "[soa]") {
  checkFailure<SoaColumns>();
  checkFailure<SoaTiles<32>>();
}

#ifndef GPUOPT_EMULATION

TEST_CASE("A vector does not grow while captured into a graph", "[soa]") {
  const Stream stream;
  SoaVector<Particle> vector(20, stream);
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  fill(vector);
  vector.resize(10);
  const std::string refusal = messageOf<std::invalid_argument>([&] { vector.resize(21); });
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  cudaGraphExec_t runnable = nullptr;
  REQUIRE(cudaGraphInstantiate(&runnable, graph, 0) == cudaSuccess);
  REQUIRE(cudaGraphLaunch(runnable, stream) == cudaSuccess);
  CHECK(toHost(vector) == structs<Particle>(10));
  CHECK(contains(refusal, "gpuopt::SoaVector: stream is being captured"));
  REQUIRE(cudaGraphExecDestroy(runnable) == cudaSuccess);
  REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
}

#endif

}  // namespace
}  // namespace gpuopt::test::vector_test
