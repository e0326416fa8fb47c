/// \file
/// Pinned arrays, their pool and its capacity, and registered memory.
// SPDX-License-Identifier: MIT
#include "support/device_array.cuh"
#include "support/host_test.cuh"

#include <gpuopt/host/launch.cuh>
#include <gpuopt/host/pinned.cuh>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace host_test::pinned_test {

__global__ void triple(const unsigned* in, unsigned n, unsigned* out) {
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) out[i] = 3 * in[i];
}

// Launches on one block, and waits.
inline void tripleOnDevice(const unsigned* in, unsigned n, unsigned* out) {
  gpuopt::LaunchConfig config;
  config.block = dim3(64);
  gpuopt::launch(triple, config, in, n, out);
  gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

// Sets a capacity for a scope.
class Capacity {
 public:
  explicit Capacity(std::size_t bytes) { gpuopt::setPinnedCapacity(bytes); }
  ~Capacity() { gpuopt::setPinnedCapacity(before_); }

 private:
  std::size_t before_ = gpuopt::pinnedCapacity();
};

}  // namespace host_test::pinned_test

using gpuopt::PinnedVector;
using gpuopt::registerHost;
using gpuopt::test::messageOf;
using host_test::pinned_test::Capacity;
using host_test::pinned_test::tripleOnDevice;

static_assert(!std::is_copy_constructible_v<PinnedVector<int>> && !std::is_copy_assignable_v<PinnedVector<int>>);
static_assert(std::is_nothrow_move_constructible_v<PinnedVector<int>>);
static_assert(!std::is_copy_constructible_v<gpuopt::RegisteredHost<int>>);

TEST_CASE("A pinned array is read and written by the host and by kernels") {
  for (const std::size_t n : {std::size_t{1}, std::size_t{1024}, std::size_t{100003}}) {
    PinnedVector<unsigned> in(n), out(n, 7);
    REQUIRE(in.size() == n);
    REQUIRE(reinterpret_cast<std::uintptr_t>(in.data()) % PinnedVector<unsigned>::alignment == 0);
    for (std::size_t i = 0; i < n; ++i) in[i] = static_cast<unsigned>(i * 2654435761u);
    REQUIRE(out[n - 1] == 7);
    tripleOnDevice(in.devicePointer(), static_cast<unsigned>(n), out.devicePointer());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < n; ++i) wrong += out[i] != 3 * in[i];
    REQUIRE(wrong == 0);
    cudaPointerAttributes attributes{};
    REQUIRE(cudaPointerGetAttributes(&attributes, in.end() - 1) == cudaSuccess);
    REQUIRE(attributes.type == cudaMemoryTypeHost);
  }
}

TEST_CASE("A pinned array is moved, never copied, and may be empty") {
  PinnedVector<int> first(100, 5);
  int* const data = first.data();
  PinnedVector<int> second = std::move(first);
  REQUIRE((second.data() == data && second.size() == 100));
  PinnedVector<int> third;
  REQUIRE((third.empty() && third.data() == nullptr && third.begin() == third.end()));
  third = std::move(second);
  REQUIRE((third.data() == data && std::as_const(third)[99] == 5));
  int sum = 0;
  for (const int value : std::as_const(third)) sum += value;
  REQUIRE(sum == 500);
  REQUIRE(PinnedVector<int>(0).data() == nullptr);
}

TEST_CASE("A pinned array is resized, and keeps its first elements") {
  PinnedVector<unsigned> array;
  array.resize(3);
  for (unsigned i = 0; i < 3; ++i) array[i] = 10 + i;
  const unsigned* const data = array.data();
  array.resize(2);
  array.resize(4);  // there is room in the page
  REQUIRE((array.data() == data && array.size() == 4 && array[1] == 11 && array[2] == 12));
  array.resize(100000);
  REQUIRE((array.data() != data && array.size() == 100000 && array[0] == 10 && array[2] == 12));
  array[99999] = 7;
  array.resize(0);
  REQUIRE((array.empty() && array.begin() == array.end()));
  array.resize(100000);
  REQUIRE(array[99999] == 7);
  const Capacity limited(gpuopt::pinnedBytes());
  REQUIRE(messageOf<std::runtime_error>([&] { array.resize(200000); }).find("gpuopt::PinnedVector: 8") == 0);
  REQUIRE(messageOf<std::invalid_argument>([&] { array.resize(static_cast<std::size_t>(-1)); }) ==
          "gpuopt::PinnedVector::resize: n (-1) is negative");
  REQUIRE((array.size() == 100000 && array[99999] == 7));
}

TEST_CASE("The pool keeps the memory of pinned arrays until it is trimmed") {
  gpuopt::trimPinned();
  const std::size_t before = gpuopt::pinnedBytes();
  const void* address = nullptr;
  {
    const PinnedVector<char> array(100000);
    address = array.data();
    REQUIRE(gpuopt::pinnedBytes() >= before + 100000);
    REQUIRE(gpuopt::pinnedBytes() <= before + 112500);  // an eighth more at most
    gpuopt::trimPinned();
    REQUIRE(gpuopt::pinnedBytes() >= before + 100000);  // in use
  }
  const std::size_t kept = gpuopt::pinnedBytes();
  REQUIRE(kept > before);
  {
    const PinnedVector<char> again(99999);
    REQUIRE(again.data() == address);
    REQUIRE(gpuopt::pinnedBytes() == kept);
  }
  gpuopt::trimPinned();
  REQUIRE(gpuopt::pinnedBytes() == before);
}

TEST_CASE("Pinned memory beyond the capacity is an error, and nothing is lost") {
  gpuopt::trimPinned();
  REQUIRE(gpuopt::pinnedCapacity() > 0);
  REQUIRE(gpuopt::pinnedBytes() == 0);
  const Capacity limited(64 * 1024);
  REQUIRE(gpuopt::pinnedCapacity() == 64 * 1024);
  const PinnedVector<char> small(40000);  // 10 pages
  const auto large = [] { PinnedVector<char>(25000); };
  // WRITTEN transfer: PinnedVector<char>(25000), where the capacity is 64 KiB
  REQUIRE(messageOf<std::runtime_error>(large) ==
          "gpuopt::PinnedVector: 28672 bytes of pinned memory exceed the capacity: 40960 of 65536 bytes are in use; "
          "gpuopt::setPinnedCapacity sets another one");
  REQUIRE(gpuopt::pinnedBytes() == 40960);
  { const PinnedVector<char> fits(24000); }
  REQUIRE(gpuopt::pinnedBytes() == 65536);
  { const PinnedVector<char> replacesTheFreeOne(20000); }  // the block that nobody uses makes room
  REQUIRE(gpuopt::pinnedBytes() == 40960 + 20480);
  gpuopt::setPinnedCapacity(1000);
  REQUIRE(gpuopt::pinnedBytes() == 40960);  // in use
  REQUIRE(!messageOf<std::runtime_error>([] { PinnedVector<char>(1); }).empty());
}

TEST_CASE("Arrays that the system has no memory for are an error") {
  const Capacity unlimited(PTRDIFF_MAX);
  const std::size_t before = gpuopt::pinnedBytes();
  const std::string text = messageOf<gpuopt::CudaError>([] { PinnedVector<char>(std::size_t{1} << 52); });
  REQUIRE(text.find("cudaHostAlloc: cudaError") == 0);
  REQUIRE(cudaPeekAtLastError() == cudaSuccess);
  REQUIRE(gpuopt::pinnedBytes() <= before);
  const PinnedVector<char> next(5000);  // the pool still works
  REQUIRE(next.size() == 5000);
  REQUIRE(messageOf<std::invalid_argument>([] { PinnedVector<int>(static_cast<std::size_t>(-5)); }) ==
          "gpuopt::PinnedVector: n (-5) is negative");
}

TEST_CASE("Memory is registered while the object lives") {
  gpuopt::trimPinned();
  std::vector<unsigned> values(5000);
  for (unsigned i = 0; i < values.size(); ++i) values[i] = i * i;
  const std::size_t before = gpuopt::pinnedBytes();
  const auto typeOf = [&] {
    cudaPointerAttributes attributes{};
    REQUIRE(cudaPointerGetAttributes(&attributes, values.data()) == cudaSuccess);
    return attributes.type;
  };
  {
    auto registered = registerHost(values.data(), values.size());
    REQUIRE(typeOf() == cudaMemoryTypeHost);
    REQUIRE(gpuopt::pinnedBytes() == before + 20000);
    REQUIRE((registered.data() == values.data() && registered.size() == 5000));
    gpuopt::test::DeviceArray<unsigned> out(std::vector<unsigned>(5000));
    tripleOnDevice(registered.devicePointer(), 5000, out.data());
    REQUIRE(out.toHost()[4999] == 3u * 4999 * 4999);
    const auto moved = std::move(registered);
    REQUIRE(typeOf() == cudaMemoryTypeHost);
    REQUIRE(messageOf<gpuopt::CudaError>([&] {
              static_cast<void>(registerHost(values.data(), 1));
            }).find("cudaHostRegister: cudaErrorHostMemoryAlreadyRegistered") == 0);
  }
  REQUIRE(typeOf() == cudaMemoryTypeUnregistered);
  REQUIRE(gpuopt::pinnedBytes() == before);
  REQUIRE(registerHost(values.data(), 0).devicePointer() == nullptr);
  REQUIRE(messageOf<std::invalid_argument>([] { static_cast<void>(registerHost<int>(nullptr, 3)); }) ==
          "gpuopt::registerHost: data is null, but n is 3");
}

TEST_CASE("Registered memory counts towards the capacity") {
  gpuopt::trimPinned();
  REQUIRE(gpuopt::pinnedBytes() == 0);
  const Capacity limited(10000);
  std::vector<char> values(20000);
  REQUIRE(messageOf<std::runtime_error>([&] { static_cast<void>(registerHost(values.data(), values.size())); }) ==
          "gpuopt::registerHost: 20000 bytes of pinned memory exceed the capacity: 0 of 10000 bytes are in use; "
          "gpuopt::setPinnedCapacity sets another one");
  REQUIRE(registerHost(values.data(), 10000).size() == 10000);
  REQUIRE(gpuopt::pinnedBytes() == 0);
}

TEST_CASE("Threads share the pool of pinned memory") {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([t, &wrong] {
      for (unsigned round = 0; round < 50; ++round) {
        PinnedVector<unsigned> array(1000 + 4096 * (round % 3), t);
        for (const unsigned value : array) wrong[t] += value != t;
        if (round % 16 == 0) gpuopt::trimPinned();
      }
    });
  for (std::thread& thread : threads) thread.join();
  REQUIRE(wrong == std::vector<int>(4));
  gpuopt::trimPinned();
  REQUIRE(gpuopt::pinnedBytes() == 0);
}
