/// \file
/// Results that a kernel returns to the waiting host.
// SPDX-License-Identifier: MIT
#include "support/host_test.cuh"

#include <gpuopt/host/launch.cuh>
#include <gpuopt/host/result.cuh>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <set>

namespace host_test::result_test {

using gpuopt::detail::Destination;

// A T as a kernel argument of any alignment.
template <class T>
struct Bytes {
  explicit Bytes(const T& value) { std::memcpy(bytes, &value, sizeof(T)); }
  unsigned char bytes[sizeof(T)];
};

// One thread. The delay in nanoseconds catches a host that does not wait.
template <class T>
__global__ void store(Destination<T> destination, Bytes<T> value, [[maybe_unused]] unsigned delay) {
#ifdef __CUDA_ARCH__
  for (unsigned passed = 0; passed < delay; passed += 1000) __nanosleep(1000);
#endif
  memcpy(destination.value, value.bytes, sizeof(T));
  __threadfence_system();
  *static_cast<volatile unsigned*>(destination.flag) = destination.signal;
}

__global__ void storeNothing() {}

struct Small {
  float x, y, z;
};

struct Large {
  unsigned words[1008];  // 4032 bytes
};

struct alignas(64) Aligned {
  double value;
};

struct alignas(256) FarAligned {
  unsigned words[960];  // 3840 bytes: the largest that fits into a slot at this alignment
};

bool operator==(const Small& a, const Small& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
bool operator==(const Large& a, const Large& b) { return std::memcmp(&a, &b, sizeof a) == 0; }
bool operator==(const Aligned& a, const Aligned& b) { return a.value == b.value; }
bool operator==(const FarAligned& a, const FarAligned& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

}  // namespace host_test::result_test

using namespace gpuopt::test;
using gpuopt::HostResult;
using gpuopt::launch;
using gpuopt::LaunchConfig;

namespace {

template <class T>
T roundTrip(const T& value, cudaStream_t stream, unsigned delay = 0) {
  HostResult<T> result;
  REQUIRE(reinterpret_cast<std::uintptr_t>(result.destination().value) % alignof(T) == 0);
  LaunchConfig config;
  config.stream = stream;
  launch(host_test::result_test::store<T>, config, result.destination(), host_test::result_test::Bytes<T>(value),
         delay);
  return result.wait(stream);
}

template <class T>
T counted() {
  T value;
  for (unsigned i = 0; i < std::size(value.words); ++i) value.words[i] = i * 2654435761u;
  return value;
}

}  // namespace

TEST_CASE("values of every size and alignment arrive") {
  REQUIRE(roundTrip<unsigned char>(200, nullptr) == 200);
  REQUIRE(roundTrip(-7, nullptr) == -7);
  REQUIRE(roundTrip(0.1, nullptr) == 0.1);
  REQUIRE(roundTrip(host_test::result_test::Small{1, 2, 3}, nullptr) == host_test::result_test::Small{1, 2, 3});
  REQUIRE(roundTrip(host_test::result_test::Aligned{0.1}, nullptr) == host_test::result_test::Aligned{0.1});
  REQUIRE(roundTrip(counted<host_test::result_test::Large>(), nullptr) == counted<host_test::result_test::Large>());
  REQUIRE(roundTrip(counted<host_test::result_test::FarAligned>(), nullptr) ==
          counted<host_test::result_test::FarAligned>());
}

TEST_CASE("no result is an earlier one, whatever its type was") {
  Stream stream;
  for (unsigned i = 0; i < 300; ++i) {
    REQUIRE(roundTrip(i, stream, 20000) == i);
    REQUIRE(roundTrip<std::uint64_t>(~std::uint64_t{i}, stream) == ~std::uint64_t{i});
  }
}

TEST_CASE("a long wait gives the value as well") {
  Stream stream;
  REQUIRE(roundTrip(1, stream, 5000000) == 1);
  REQUIRE(roundTrip(2, stream) == 2);
}

TEST_CASE("repeated results use the same memory, results held together do not") {
  std::set<int*> seen;
  for (int i = 0; i < 100; ++i) seen.insert(HostResult<int>().destination().value);
  REQUIRE(seen.size() == 1);

  HostResult<host_test::result_test::Large> results[40];
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < i; ++j) {
      const auto* a = reinterpret_cast<const char*>(results[i].destination().value);
      const auto* b = reinterpret_cast<const char*>(results[j].destination().value);
      REQUIRE((a + 4032 <= b || b + 4032 <= a));
    }
  }
}

TEST_CASE("a kernel that stores nothing is an error, and the next result is sound") {
  const auto wait = [] {
    HostResult<int> result;
    launch(host_test::result_test::storeNothing, LaunchConfig{});
    static_cast<void>(result.wait(nullptr));
  };
  REQUIRE(contains(messageOf<std::logic_error>(wait), "without storing its result"));
  REQUIRE(roundTrip(3, nullptr) == 3);
}

TEST_CASE("a failed launch leaves the next result sound") {
  const auto fail = [] {
    HostResult<int> result;
    launch(host_test::result_test::store<int>, LaunchConfig{dim3(0)}, result.destination(),
           host_test::result_test::Bytes<int>(1), 0);
  };
  REQUIRE_THROWS_AS(fail(), std::invalid_argument);
  REQUIRE(roundTrip(4, nullptr, 20000) == 4);
}

TEST_CASE("an earlier error is neither swallowed nor reported by waiting") {
  Stream stream;
  const cudaError_t earlier = leaveEarlierError();
  REQUIRE(roundTrip(5, stream) == 5);
  REQUIRE(roundTrip(6, stream, 5000000) == 6);
  REQUIRE(cudaGetLastError() == earlier);
}

TEST_CASE("threads wait for their own results") {
  const int failures = failuresAmongThreads(6, [](int thread) {
    Stream stream;
    for (int i = 0; i < 50; ++i) {
      const int value = thread * 1000 + i;
      HostResult<int> result;
      LaunchConfig config;
      config.stream = stream;
      launch(host_test::result_test::store<int>, config, result.destination(),
             host_test::result_test::Bytes<int>(value), 5000);
      if (result.wait(stream) != value) return false;
    }
    return true;
  });
  REQUIRE(failures == 0);
}

TEST_CASE("a captured stream has no result, and says what to use") {
  Stream stream;
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  const std::string asked =
      messageOf<std::invalid_argument>([&] { gpuopt::detail::requireNotCapturing(stream, "gpuopt::dot"); });
  const std::string waited =
      messageOf<std::invalid_argument>([&] { static_cast<void>(HostResult<int>().wait(stream)); });
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);  // the capture is still valid
  REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
  REQUIRE(asked == "gpuopt::dot: stream is being captured; use gpuopt::dotInto");
  REQUIRE(waited == "gpuopt::HostResult: stream is being captured: the kernel has not run, so there is no result");
  REQUIRE(roundTrip(7, stream) == 7);
}

TEST_CASE("a result can be waited for beside another stream's capture") {
  Stream captured;
  Stream stream;
  REQUIRE(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal) == cudaSuccess);
  const int quick = roundTrip(8, stream);
  const int slow = roundTrip(9, stream, 5000000);
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(captured, &graph) == cudaSuccess);
  REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
  REQUIRE(quick == 8);
  REQUIRE(slow == 9);
}
