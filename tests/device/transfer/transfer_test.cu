/// \file
/// upload and download: every byte, at every boundary, by several threads and streams.
// SPDX-License-Identifier: MIT
#include "support/device_array.cuh"
#include "support/host_test.cuh"

#include <gpuopt/reduce.cuh>
#include <gpuopt/transfer.cuh>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace transfer_test::transfer {

using gpuopt::TransferDirection;
using gpuopt::test::messageOf;
using gpuopt::test::Stream;

// Bytes that depend on their index and a seed.
inline unsigned char byteAt(std::size_t i, unsigned seed) {
  const auto x = static_cast<std::uint32_t>(i * 2654435761u + seed * 40503u);
  return static_cast<unsigned char>(x >> 13 ^ x >> 24);
}

inline void fill(unsigned char* data, std::size_t n, unsigned seed) {
  for (std::size_t i = 0; i < n; ++i) data[i] = byteAt(i, seed);
}

// How many of n bytes are wrong, or of the guard bytes around them.
constexpr std::size_t GUARD = 64;
inline std::size_t wrongBytes(const unsigned char* data, std::size_t n, unsigned seed) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i) wrong += data[i] != byteAt(i, seed);
  for (std::size_t i = 0; i < GUARD; ++i) wrong += (data[n + i] != 0xA5) + (*(data - 1 - i) != 0xA5);
  return wrong;
}

// Host and device memory of n bytes between guard bytes, at an offset from alignment.
struct Arrays {
  Arrays(std::size_t bytes, std::size_t misalignment)
      : n(bytes), offset(GUARD + misalignment), size(n + offset + GUARD), host(size, 0xA5) {
    gpuopt::check(cudaMalloc(&memory, size), "cudaMalloc");
    poisonDevice();
  }
  ~Arrays() { static_cast<void>(cudaFree(memory)); }
  Arrays(const Arrays&) = delete;
  Arrays& operator=(const Arrays&) = delete;

  unsigned char* onHost() { return host.data() + offset; }
  unsigned char* onDevice() const { return memory + offset; }
  void poisonHost() { host.assign(size, 0xA5); }
  void poisonDevice() const {
    gpuopt::check(cudaMemset(memory, 0xA5, size), "cudaMemset");
    gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  std::size_t wrongOnDevice(unsigned seed) const {
    std::vector<unsigned char> copy(size);
    gpuopt::check(cudaMemcpy(copy.data(), memory, size, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return wrongBytes(copy.data() + offset, n, seed);
  }
  std::size_t wrongOnHost(unsigned seed) { return wrongBytes(onHost(), n, seed); }

  std::size_t n, offset, size;
  std::vector<unsigned char> host;
  unsigned char* memory = nullptr;
};

inline gpuopt::detail::TransferPlan ringPlan(unsigned threads, std::size_t slotBytes) {
  return {gpuopt::detail::TransferAlgorithm::ring, "", threads, slotBytes, std::size_t{2} * threads};
}

inline gpuopt::detail::Transfer transferOf(Arrays& arrays, TransferDirection direction, cudaStream_t stream) {
  return {arrays.onHost(), arrays.onDevice(), arrays.n, direction, stream, "test"};
}

inline void runPlan(Arrays& arrays, TransferDirection direction, const gpuopt::detail::TransferPlan& plan,
                    cudaStream_t stream = nullptr) {
  gpuopt::detail::runTransfer(transferOf(arrays, direction, stream), plan);
}

// The host's side of a ring, which fails when it comes to a byte.
class FailingHost final : public gpuopt::detail::HostSide {
 public:
  FailingHost(unsigned char* data, std::size_t failure) : bytes_({data}, false), failure_(failure) {}

  void copy(unsigned char* slot, std::size_t at, std::size_t n, TransferDirection direction) const override {
    if (at <= failure_ && failure_ < at + n) throw std::runtime_error("the host failed");
    bytes_.copy(slot, at, n, direction);
  }

 private:
  gpuopt::detail::HostBytes bytes_;
  std::size_t failure_;
};

// Sets the capacity of pinned memory for a scope in which transfers keep no slots.
class NoSlots {
 public:
  explicit NoSlots(std::size_t capacity) {
    gpuopt::trimTransfers();
    gpuopt::setPinnedCapacity(capacity);
  }
  ~NoSlots() { gpuopt::setPinnedCapacity(before_); }

 private:
  std::size_t before_ = gpuopt::pinnedCapacity();
};

}  // namespace transfer_test::transfer

using namespace transfer_test::transfer;

TEST_CASE("The ring copies every byte, at every size and alignment", "[transfer]") {
  const std::size_t slot = 4096;
  const auto threads = GENERATE(1u, 2u, 5u);
  const auto slots = GENERATE(std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{40});
  const std::size_t misalignment = slots % 2 * 3;
  gpuopt::detail::TransferPlan plan = ringPlan(threads, slot);
  plan.slots = slots;
  for (const std::size_t n :
       {std::size_t{1}, slot - 1, slot, slot + 1, 2 * slot, 2 * slot + 1, 3 * slot - 1, 17 * slot + 5}) {
    CAPTURE(threads, slots, n);
    Arrays arrays(n, misalignment);
    for (const bool isStreaming : {false, true}) {
      plan.isStreaming = isStreaming;
      fill(arrays.onHost(), n, threads);
      arrays.poisonDevice();
      runPlan(arrays, TransferDirection::upload, plan);
      arrays.poisonHost();
      REQUIRE(arrays.wrongOnDevice(threads) == 0);
      runPlan(arrays, TransferDirection::download, plan);
      REQUIRE(arrays.wrongOnHost(threads) == 0);
    }
  }
}

TEST_CASE("upload and download take any memory of the host's", "[transfer]") {
  const Stream stream;
  for (const std::size_t n : {std::size_t{1}, std::size_t{5000}, std::size_t{300 * 1024 + 7}, std::size_t{3 << 20}}) {
    CAPTURE(n);
    Arrays arrays(n, 0);
    gpuopt::PinnedVector<unsigned char> pinned(n);
    fill(arrays.onHost(), n, 1);
    fill(pinned.data(), n, 2);
    gpuopt::upload(arrays.onHost(), n, arrays.onDevice(), stream);
    arrays.poisonHost();  // it may change again
    stream.wait();
    REQUIRE(arrays.wrongOnDevice(1) == 0);
    gpuopt::download(arrays.onDevice(), n, arrays.onHost(), stream);
    REQUIRE(arrays.wrongOnHost(1) == 0);

    gpuopt::upload(pinned.data(), n, arrays.onDevice(), stream);
    fill(pinned.data(), n, 3);
    stream.wait();
    REQUIRE(arrays.wrongOnDevice(2) == 0);
    const auto registered = gpuopt::registerHost(arrays.host.data(), arrays.size);
    arrays.poisonHost();
    gpuopt::download(arrays.onDevice(), n, arrays.onHost(), stream);
    REQUIRE(arrays.wrongOnHost(2) == 0);
  }
}

TEST_CASE("Containers and spans are transferred", "[transfer]") {
  gpuopt::test::DeviceArray<int> device(std::vector<int>(1000, -1));
  struct Span {
    int* first;
    std::size_t count;
    int* data() const { return first; }
    std::size_t size() const { return count; }
  };
  const Span span{device.data(), 1000};
  std::vector<int> values(999);
  for (int i = 0; i < 999; ++i) values[static_cast<std::size_t>(i)] = i * i;
  gpuopt::upload(std::as_const(values), span);
  std::vector<int> back(1001, -2);
  gpuopt::download(span, back);
  values.push_back(-1);  // what was not uploaded
  values.push_back(-2);  // what was not downloaded
  REQUIRE(back == values);
  std::array<int, 3> few{};
  gpuopt::download(Span{device.data() + 2, 3}, few);
  REQUIRE(few == std::array<int, 3>{4, 9, 16});
  few = {};
  gpuopt::download(device.data() + 2, few);  // a pointer and a container
  REQUIRE(few == std::array<int, 3>{4, 9, 16});
  gpuopt::download(Span{device.data(), 3}, back.data());
  REQUIRE((back[2] == 4 && back[3] == 9));
  gpuopt::upload(std::array<int, 2>{-5, -6}, device.data());
  gpuopt::uploadAsync(few.data(), Span{device.data() + 2, 2}, nullptr).wait();
  gpuopt::downloadAsync(device.data(), few).wait();
  REQUIRE(few == std::array<int, 3>{-5, -6, 4});
  REQUIRE(messageOf<std::invalid_argument>([&] { gpuopt::download(span, few); }) ==
          "gpuopt::download: host has 3 elements, but 1000 are needed");
  REQUIRE(messageOf<std::invalid_argument>([&] { gpuopt::upload(back, span); }) ==
          "gpuopt::upload: device has 1000 elements, but 1001 are needed");
}

TEST_CASE("Transfers are in the order of their stream", "[transfer]") {
  const Stream stream;
  const auto threads = GENERATE(1u, 3u);
  Arrays arrays(50000, 0);
  for (unsigned round = 0; round < 3; ++round) {
    fill(arrays.onHost(), arrays.n, round);
    gpuopt::check(cudaMemsetAsync(arrays.onDevice(), 0, arrays.n, stream), "cudaMemsetAsync");  // before
    runPlan(arrays, TransferDirection::upload, ringPlan(threads, 4096), stream);
    arrays.poisonHost();
    gpuopt::PinnedVector<unsigned char> seen(arrays.n);
    gpuopt::check(cudaMemcpyAsync(seen.data(), arrays.onDevice(), arrays.n, cudaMemcpyDeviceToHost, stream),
                  "cudaMemcpyAsync");
    gpuopt::check(cudaMemsetAsync(arrays.onDevice(), 0x77, arrays.n, stream), "cudaMemsetAsync");  // afterwards
    runPlan(arrays, TransferDirection::download, ringPlan(threads, 4096), stream);
    stream.wait();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < arrays.n; ++i) wrong += (seen[i] != byteAt(i, round)) + (arrays.onHost()[i] != 0x77);
    REQUIRE(wrong == 0);
  }
}

TEST_CASE("A handle ends its transfer", "[transfer]") {
  const Stream stream;
  for (const std::size_t n : {std::size_t{0}, std::size_t{100}, std::size_t{3 << 19}}) {
    Arrays arrays(n, 0);
    gpuopt::PinnedVector<unsigned char> pinned(n);
    fill(arrays.onHost(), n, 9);
    gpuopt::TransferHandle handle = gpuopt::uploadAsync(arrays.onHost(), n, arrays.onDevice(), stream);
    gpuopt::TransferHandle moved = std::move(handle);
    REQUIRE(handle.isDone());
    handle.wait();
    moved.wait();
    REQUIRE(moved.isDone());
    moved.wait();
    arrays.poisonHost();
    stream.wait();
    REQUIRE(arrays.wrongOnDevice(9) == 0);
    { const auto download = gpuopt::downloadAsync(arrays.onDevice(), n, arrays.onHost(), stream); }
    REQUIRE(arrays.wrongOnHost(9) == 0);
    moved = gpuopt::downloadAsync(arrays.onDevice(), n, pinned.data(), stream);
    moved.wait();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < n; ++i) wrong += pinned[i] != byteAt(i, 9);
    REQUIRE(wrong == 0);
  }
}

TEST_CASE("A handle becomes done without being waited for", "[transfer]") {
  Arrays arrays(1200000, 0);
  fill(arrays.onHost(), arrays.n, 5);
  gpuopt::TransferHandle handle = gpuopt::uploadAsync(arrays.onHost(), arrays.n, arrays.onDevice());
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!handle.isDone() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  REQUIRE(handle.isDone());
  handle.wait();
  gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  REQUIRE(arrays.wrongOnDevice(5) == 0);
}

TEST_CASE("Threads transfer at the same time", "[transfer]") {
  const int failures = gpuopt::test::failuresAmongThreads(4, [](int t) {
    const Stream stream;
    const auto seed = static_cast<unsigned>(t);
    std::size_t wrong = 0;
    for (unsigned round = 0; round < 4; ++round) {
      Arrays arrays(20000 + 7777 * static_cast<std::size_t>(t) + round, round);
      fill(arrays.onHost(), arrays.n, seed + round);
      runPlan(arrays, TransferDirection::upload, ringPlan(1 + round, 4096), stream);
      arrays.poisonHost();
      gpuopt::detail::beginTransfer(transferOf(arrays, TransferDirection::download, stream), ringPlan(2, 4096))->wait();
      wrong += arrays.wrongOnHost(seed + round);
    }
    return wrong == 0;
  });
  REQUIRE(failures == 0);
}

TEST_CASE("A failure ends a transfer with its error, and loses nothing", "[transfer]") {
  using gpuopt::detail::RingTransfer;
  const Stream stream;
  Arrays first(50000, 0);
  fill(first.onHost(), first.n, 3);
  runPlan(first, TransferDirection::upload, ringPlan(4, 4096), stream);  // the pool has its first block from here on
  for (const unsigned helpers : {0u, 3u})
    for (const std::size_t failure : {std::size_t{0}, std::size_t{4096 * 3}, std::size_t{49999}})
      for (const auto direction : {TransferDirection::upload, TransferDirection::download}) {
        CAPTURE(helpers, failure);
        Arrays arrays(50000, 0);
        const std::size_t before = gpuopt::pinnedBytes();
        const FailingHost host(arrays.onHost(), failure);
        gpuopt::detail::TransferPlan plan = ringPlan(1 + helpers, 4096);
        plan.slots = 2 + helpers;
        RingTransfer transfer(host, transferOf(arrays, direction, stream), plan, helpers == 0);
        transfer.begin(helpers);
        REQUIRE(messageOf<std::runtime_error>([&] { transfer.wait(); }) == "the host failed");
        fill(arrays.onHost(), arrays.n, 3);
        runPlan(arrays, TransferDirection::upload, ringPlan(1 + helpers, 4096), stream);  // the next one works
        stream.wait();
        REQUIRE(arrays.wrongOnDevice(3) == 0);
        REQUIRE(gpuopt::pinnedBytes() <= before + 10 * 8192);  // lanes that came back
      }
}

TEST_CASE("Pinned memory for slots that cannot be had is an error", "[transfer]") {
  Arrays arrays(50000, 0);
  {
    const NoSlots limited(10000);
    // WRITTEN transfer: upload(host, n, device), where the capacity of pinned memory is 10000 bytes
    REQUIRE(messageOf<std::runtime_error>([&] { gpuopt::upload(arrays.onHost(), arrays.n, arrays.onDevice()); })
                .find("gpuopt::upload: 65536 bytes of pinned memory exceed the capacity: 0 of 10000 bytes are in use; "
                      "gpuopt::setPinnedCapacity sets another one") == 0);
    REQUIRE(gpuopt::pinnedBytes() == 0);
    REQUIRE(messageOf<std::runtime_error>([&] {
              static_cast<void>(gpuopt::uploadAsync(arrays.onHost(), arrays.n, arrays.onDevice()));
            }).find("gpuopt::uploadAsync: ") == 0);
    REQUIRE(gpuopt::pinnedBytes() == 0);
  }
  fill(arrays.onHost(), arrays.n, 6);
  gpuopt::upload(arrays.onHost(), arrays.n, arrays.onDevice());
  gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  REQUIRE(arrays.wrongOnDevice(6) == 0);
}

#ifdef GPUOPT_EMULATION  // a GPU's allocations are larger than asked for
TEST_CASE("A copy that fails is an error", "[transfer]") {
  const unsigned threads = GENERATE(1u, 4u);
  const std::size_t slot = GENERATE(std::size_t{4096}, std::size_t{65536});  // the last of many copies, and the first
  Arrays arrays(50000, 0);
  const std::size_t tooMany = arrays.size - arrays.offset + 1;
  std::vector<unsigned char> host(tooMany);
  for (const auto direction : {TransferDirection::upload, TransferDirection::download})
    REQUIRE(messageOf<gpuopt::CudaError>([&] {
              gpuopt::detail::runTransfer({host.data(), arrays.onDevice(), tooMany, direction, nullptr, "test"},
                                          ringPlan(threads, slot));
            }).find("cudaMemcpyAsync: cudaErrorInvalidValue") == 0);
  REQUIRE(cudaPeekAtLastError() == cudaSuccess);
}
#else
TEST_CASE("Pinned memory can be captured, pageable memory cannot", "[transfer]") {
  const Stream stream;
  gpuopt::PinnedVector<int> pinned(1000, 1);
  std::vector<int> pageable(1000);
  gpuopt::test::DeviceArray<int> device(pageable);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  gpuopt::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  gpuopt::upload(pinned.data(), 1000, device.data(), stream);
  gpuopt::uploadAsync(pinned.data(), 1000, device.data(), stream).wait();
  const auto text =
      messageOf<std::invalid_argument>([&] { gpuopt::upload(pageable.data(), 1000, device.data(), stream); });
  gpuopt::check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  REQUIRE(
      text ==
      "gpuopt::upload: stream is being captured, and host is pageable memory: use pinned or registered memory, such "
      "as gpuopt::PinnedVector");
  gpuopt::check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  for (int& value : pinned) value = 7;
  gpuopt::check(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
  gpuopt::download(device.data(), 1000, pageable.data(), stream);
  REQUIRE(pageable == std::vector<int>(1000, 7));
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}
#endif

TEST_CASE("Transfers with bad arguments", "[transfer]") {
  gpuopt::test::DeviceArray<int> device(std::vector<int>(100));
  int host[100] = {};
  const int* null = nullptr;
  const auto messageFor = [](const auto& call) { return messageOf<std::invalid_argument>(call); };
  // WRITTEN transfer: upload(host, n, device), where host is null
  REQUIRE(messageFor([&] { gpuopt::upload(null, 100, device.data()); }) ==
          "gpuopt::upload: host is null, but n is 100");
  REQUIRE(messageFor([&] { gpuopt::download(null, 100, host); }) == "gpuopt::download: device is null, but n is 100");
  REQUIRE(messageFor([&] { gpuopt::upload(host, static_cast<std::size_t>(-1), device.data()); }) ==
          "gpuopt::upload: n (-1) is negative");
  const auto* misaligned = reinterpret_cast<const int*>(reinterpret_cast<const char*>(device.data()) + 2);
  REQUIRE(messageFor([&] { static_cast<void>(gpuopt::downloadAsync(misaligned, 9, host)); }) ==
          "gpuopt::downloadAsync: device is misaligned: its address modulo 4 is 2");
  // WRITTEN transfer: upload(device, n, host), with the arrays exchanged
  REQUIRE(messageFor([&] { gpuopt::upload(device.data(), 9, host); }) ==
          "gpuopt::upload: host is in the memory of a device: the arguments are (host, n, device)");
  REQUIRE(messageFor([&] { static_cast<void>(gpuopt::downloadAsync(host, 9, device.data())); }) ==
          "gpuopt::downloadAsync: host is in the memory of a device: the arguments are (device, n, host)");
  REQUIRE(messageFor([&] {
            static_cast<void>(gpuopt::explainTransfer(device.data(), 9, TransferDirection::upload));
          }) == "gpuopt::explainTransfer: host is in the memory of a device");
  gpuopt::upload(null, 0, device.data());
  gpuopt::download(device.data(), 0, static_cast<int*>(nullptr));
}

TEST_CASE("The plan of a transfer", "[transfer]") {
  using namespace gpuopt::detail;
  constexpr auto UP = TransferDirection::upload, DOWN = TransferDirection::download;
  constexpr auto PAGEABLE = HostMemory::pageable, PINNED = HostMemory::pinned;
  REQUIRE(planInWords(planTransfer({0, UP, PAGEABLE, 16})) == "nothing: there is nothing to copy");
  REQUIRE(planInWords(planTransfer({100, UP, PINNED, 16})) == "the copy engine: the host's memory is pinned");
  for (const auto direction : {UP, DOWN})
    for (std::size_t bytes = 1; bytes < std::size_t{1} << 40; bytes = bytes * 2 + 1)
      for (const unsigned cores : {1u, 2u, 3u, 16u, 192u}) {
        CAPTURE(bytes, cores);
        const TransferPlan plan = planTransfer({bytes, direction, PAGEABLE, cores});
        const bool isSmall =
            direction == DOWN ? bytes <= 32 * KIB : bytes <= 32 * KIB || (bytes > 64 * KIB && bytes <= 256 * KIB);
        REQUIRE(plan.algorithm == (isSmall ? TransferAlgorithm::runtime : TransferAlgorithm::ring));
        if (isSmall) continue;
        REQUIRE(plan.threads >= 1);
        REQUIRE((cores > 2 || plan.threads == 1));
        REQUIRE(plan.threads <= (cores * 3 + 3) / 4);
        REQUIRE((plan.threads - 1) * plan.slotBytes < bytes);
        REQUIRE((plan.slots - 1) * plan.slotBytes < bytes);
        REQUIRE((plan.slots >= 2 * plan.threads || plan.slots * plan.slotBytes >= bytes));
        REQUIRE(plan.isStreaming == (direction == DOWN || (bytes > 256 * KIB && bytes <= 128 * MIB)));
      }
  for (std::size_t bytes = 1; bytes <= std::size_t{1} << 40; bytes *= 2)
    for (const auto direction : {UP, DOWN})
      REQUIRE(isForRuntime(bytes, direction) ==
              (planTransfer({bytes, direction, PAGEABLE, 16}).algorithm == TransferAlgorithm::runtime));
  const auto inPart = planTransfer({100, UP, HostMemory::partlyPinned, 16});
  REQUIRE(
      planInWords(inPart) ==
      "ring of 1 pinned slot of 65536 bytes, 1 thread: the host's memory is registered in part, or in several parts");
  std::vector<char> few(10);
  REQUIRE(gpuopt::explainTransfer(few.data(), few.size(), UP) ==
          "the CUDA runtime: the host's memory is pageable, and the array is small; reads 10 bytes, writes 10");
  REQUIRE(planInWords({TransferAlgorithm::ring, "why", 12, 4096, 24, true}) ==
          "ring of 24 pinned slots of 4096 bytes, 12 threads, written past the caches: why");
  const gpuopt::PinnedVector<char> pinned(10);
  REQUIRE(gpuopt::explainTransfer(pinned.data(), 10, DOWN) ==
          "the copy engine: the host's memory is pinned; reads 10 bytes, writes 10");
}

TEST_CASE("Threads that wait for transfers cost nothing", "[transfer]") {
  Arrays arrays(1200000, 0);
  gpuopt::uploadAsync(arrays.onHost(), arrays.n, arrays.onDevice()).wait();  // starts a thread
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  REQUIRE(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC < 0.02);
}

TEST_CASE("Kernels reduce pinned memory where it is", "[transfer]") {
  gpuopt::PinnedVector<int> pinned(3001);
  int sum = 0;
  for (int i = 0; i < 3001; ++i) sum += pinned[static_cast<std::size_t>(i)] = 7 * i % 1000;
  REQUIRE(gpuopt::reduce(pinned) == sum);
  REQUIRE(gpuopt::reduce(pinned.devicePointer() + 1, 3000) == sum);
}
