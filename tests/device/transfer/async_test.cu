/// \file
/// uploadAsync, downloadAsync and the blocks' calls that end in Async: at once, and in the order of their stream.
// SPDX-License-Identifier: MIT
#include "support/device_array.cuh"
#include "support/host_test.cuh"

#include <gpuopt/transfer.cuh>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace transfer_test::async {

using gpuopt::TransferHandle;
using gpuopt::test::messageOf;
using gpuopt::test::Stream;
using Bytes = std::vector<unsigned char>;
using DeviceBytes = gpuopt::test::DeviceArray<unsigned char>;

// On the emulated device, work is done when something waits for it.
class Deferred {
#ifdef GPUOPT_EMULATION
 public:
  Deferred() { gpuopt::emulation::setQueueMode(gpuopt::emulation::QueueMode::deferred); }
  ~Deferred() { gpuopt::emulation::setQueueMode(before_); }

 private:
  gpuopt::emulation::QueueMode before_ = gpuopt::emulation::queueMode();
#else
 public:
  Deferred() {}
#endif
};

// Work in a stream that waits for the host.
class Gate {
 public:
  explicit Gate(cudaStream_t stream) { gpuopt::check(cudaLaunchHostFunc(stream, wait, this), "cudaLaunchHostFunc"); }
  ~Gate() { open(); }
  void open() { isOpen_ = true; }
  bool isLate() const { return isLate_; }

 private:
  static void wait(void* gate) {
    Gate& self = *static_cast<Gate*>(gate);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (!self.isOpen_ && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    if (!self.isOpen_) self.isLate_ = true;
  }

  std::atomic<bool> isOpen_{false}, isLate_{false};
};

inline Bytes bytesOf(std::size_t n, unsigned seed) {
  Bytes bytes(n);
  unsigned state = seed * 2654435761u + 1;
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>((state = state * 1664525u + 1013904223u) >> 24);
  return bytes;
}

inline const std::vector<std::size_t>& sizes() {
  constexpr std::size_t KIB = 1024, FIRST = gpuopt::detail::firstBatchBytes;
  static const std::vector<std::size_t> all{1,         100,           64 * KIB,  64 * KIB + 1,    FIRST,
                                            FIRST + 1, 300 * KIB + 3, 5 * FIRST, 3000 * KIB + 17, 9000 * KIB,
                                            20 * FIRST};
  return all;
}

inline void copyOnDevice(unsigned char* to, const unsigned char* from, std::size_t n, cudaStream_t stream) {
  gpuopt::check(cudaMemcpyAsync(to, from, n, cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
}

inline void fill(unsigned char* device, int value, std::size_t n, cudaStream_t stream) {
  gpuopt::check(cudaMemsetAsync(device, value, n, stream), "cudaMemsetAsync");
}

}  // namespace transfer_test::async

using namespace transfer_test::async;

TEST_CASE("What is queued after uploadAsync finds the data, without a wait", "[transfer]") {
  const Deferred deferred;
  const Stream stream;
  for (const std::size_t n : sizes()) {
    CAPTURE(n);
    Bytes host = bytesOf(n, 1);
    const Bytes expected = host;
    DeviceBytes device(n), after(n);
    fill(device.data(), 0x11, n, stream);  // before
    TransferHandle handle = gpuopt::uploadAsync(host.data(), n, device.data(), stream);
    copyOnDevice(after.data(), device.data(), n, stream);
    fill(device.data(), 0x22, n, stream);
    handle.wait();
    host.assign(n, 0xDD);  // it may change again
    stream.wait();
    REQUIRE(after.toHost() == expected);
    REQUIRE(device.toHost() == Bytes(n, 0x22));
  }
}

TEST_CASE("downloadAsync is between what is queued before it and after it", "[transfer]") {
  const Deferred deferred;
  const Stream stream;
  for (const std::size_t n : sizes()) {
    CAPTURE(n);
    const Bytes values = bytesOf(n, 2);
    DeviceBytes source(values), device(n);
    Bytes host(n, 0xEE);
    copyOnDevice(device.data(), source.data(), n, stream);
    TransferHandle handle = gpuopt::downloadAsync(device.data(), n, host.data(), stream);
    fill(device.data(), 0x33, n, stream);
    if (n % 2 == 0)
      handle.wait();
    else
      stream.wait();  // also finds the data
    REQUIRE(host == values);
    stream.wait();
    REQUIRE(device.toHost() == Bytes(n, 0x33));
  }
}

TEST_CASE("A stream that is left with work is taken again when it is idle, not before", "[transfer]") {
  using gpuopt::detail::PooledStream;
  const Deferred deferred;
  { const PooledStream first, second; }  // later, cudaStreamCreate would wait for what the device does
  cudaStream_t busy = nullptr;
  std::unique_ptr<Gate> gate;
  {
    PooledStream stream;
    stream.leaveBusy();
    busy = stream;
    gate = std::make_unique<Gate>(stream);
  }
  {
    const PooledStream other;
    REQUIRE(static_cast<cudaStream_t>(other) != busy);
  }
  gate->open();
  gpuopt::check(cudaStreamSynchronize(busy), "cudaStreamSynchronize");
  const PooledStream other, again;  // what came back last is taken first
  REQUIRE(static_cast<cudaStream_t>(other) != busy);
  REQUIRE(static_cast<cudaStream_t>(again) == busy);
}

// Slots, as many as there can be, and the streams of so many transfers: later, cudaHostAlloc and cudaStreamCreate would
// wait for what the device does.
inline void allocateAhead(std::size_t transfers) {
  std::vector<std::unique_ptr<gpuopt::detail::LeasedSlots>> slots;
  for (std::size_t i = 0; i < gpuopt::detail::maxTransferSlots; ++i)
    slots.push_back(std::make_unique<gpuopt::detail::LeasedSlots>(std::size_t{1} << 20, 1, "test"));
  std::vector<std::unique_ptr<gpuopt::detail::PooledStream>> streams;
  for (std::size_t i = 0; i < transfers; ++i) streams.push_back(std::make_unique<gpuopt::detail::PooledStream>());
}

// Queues `count` uploads of n bytes, and a download behind each.
inline void queueMany(std::size_t n, std::size_t count) {
  const Stream stream;
  DeviceBytes device(n);
  Bytes back(n);
  gpuopt::uploadAsync(back.data(), n, device.data(), stream).wait();  // starts threads
  std::vector<Bytes> hosts, results(count, Bytes(n));
  for (unsigned i = 0; i < count; ++i) hosts.push_back(bytesOf(n, i));
  gpuopt::trimTransfers();
  const std::size_t before = gpuopt::pinnedBytes();
  allocateAhead(2 * count);
  std::vector<TransferHandle> handles;
  Gate gate(stream);
  for (std::size_t i = 0; i < count; ++i) {
    handles.push_back(gpuopt::uploadAsync(hosts[i].data(), n, device.data(), stream));
    handles.push_back(gpuopt::downloadAsync(device.data(), n, results[i].data(), stream));
  }
  REQUIRE(gpuopt::pinnedBytes() - before <= gpuopt::detail::maxTransferSlots << 20);
  REQUIRE_FALSE(gate.isLate());
  gate.open();
  for (TransferHandle& handle : handles) handle.wait();
  REQUIRE_FALSE(gate.isLate());
  REQUIRE(results == hosts);
}

TEST_CASE("Many transfers that are queued in a stream return at once, and share slots", "[transfer]") {
  const Deferred deferred;
  // Of 200 KiB a download has one host function that waits for the device, of 700 KiB two; CUDA takes 56.
  queueMany(200 * 1024, 40);
  queueMany(700 * 1024, 20);
}

TEST_CASE("A queued transfer of up to a GiB has few host functions, and little memory", "[transfer]") {
  using namespace gpuopt::detail;
  for (std::size_t bytes = 1; bytes <= 1024 * MIB; bytes += bytes / 7 + 1) {
    CAPTURE(bytes);
    const TransferPlan plan =
        planTransfer({bytes, gpuopt::TransferDirection::upload, HostMemory::pageable, 16, {}, true});
    const std::size_t batches = queueBatches(bytes, plan.slotBytes).size();
    REQUIRE(batches < 40);
    REQUIRE((bytes > firstBatchBytes || batches == 1));
    REQUIRE((bytes > 1 * MIB || batches <= 3));
    REQUIRE(plan.slots * plan.slotBytes <= largerOf(32 * MIB, bytes / 4));
    REQUIRE(plan.slots <= batches);
  }
}

TEST_CASE("Calls that end in Async wait for nothing in their stream", "[transfer]") {
  const Deferred deferred;
  for (const std::size_t n : sizes()) {
    const Stream stream;
    CAPTURE(n);
    Bytes up = bytesOf(n, 3), down(n);
    gpuopt::PinnedVector<unsigned char> pinned(n);
    const std::size_t offsets[] = {n / 2, 0};
    DeviceBytes device(n), blocks(n);
    std::vector<TransferHandle> handles;
    gpuopt::gatherBlocks(pinned, offsets, 2, n / 2, device.data(), stream);  // loads the kernel, which may wait
    Gate gate(stream);
    handles.push_back(gpuopt::uploadAsync(up, device.data(), stream));
    handles.push_back(gpuopt::downloadAsync(device.data(), down, stream));
    handles.push_back(gpuopt::uploadAsync(pinned, device.data(), stream));
    handles.push_back(gpuopt::gatherBlocksAsync(up, offsets, 2, n / 2, blocks.data(), stream));
    handles.push_back(gpuopt::gatherBlocksAsync(pinned, offsets, 2, n / 2, device.data(), stream));
    REQUIRE_FALSE(gate.isLate());
    gate.open();
    for (TransferHandle& handle : handles) handle.wait();
    stream.wait();
    REQUIRE(down == up);
    const Bytes gathered = blocks.toHost();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < n / 2; ++i) wrong += (gathered[i] != up[n / 2 + i]) + (gathered[n / 2 + i] != up[i]);
    REQUIRE(wrong == 0);
  }
}

TEST_CASE("Blocks of pageable memory are queued, and the lists may change again", "[transfer]") {
  const Deferred deferred;
  const Stream stream;
  constexpr std::size_t BLOCK = 700, COUNT = 20000;  // more than a group
  const Bytes host = bytesOf(BLOCK * COUNT, 4);
  std::vector<unsigned> offsets(COUNT), kept;
  for (unsigned i = 0; i < COUNT; ++i) offsets[i] = static_cast<unsigned>(i * 7919 % COUNT * BLOCK);
  kept = offsets;
  DeviceBytes device(BLOCK * COUNT), after(BLOCK * COUNT);
  TransferHandle gather = gpuopt::gatherBlocksAsync(host, offsets.data(), COUNT, BLOCK, device.data(), stream);
  copyOnDevice(after.data(), device.data(), BLOCK * COUNT, stream);
  Bytes back(BLOCK * COUNT);
  TransferHandle scatter = gpuopt::scatterBlocksAsync(device.data(), back, offsets.data(), COUNT, BLOCK, stream);
  fill(device.data(), 0x44, BLOCK * COUNT, stream);
  offsets.assign(COUNT, 0xFFFFFFFF);
  gather.wait();
  scatter.wait();
  REQUIRE(back == host);
  const Bytes gathered = after.toHost();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < COUNT; ++i)
    for (std::size_t k = 0; k < BLOCK; ++k) wrong += gathered[i * BLOCK + k] != host[kept[i] + k];
  REQUIRE(wrong == 0);
}

TEST_CASE("Transfers of several streams and threads are queued at the same time", "[transfer]") {
  const Deferred deferred;
  const int failures = gpuopt::test::failuresAmongThreads(4, [](int t) {
    const Stream streams[2];
    bool isGood = true;
    for (unsigned round = 0; round < 6; ++round) {
      const Bytes host = bytesOf(400000 + 100000 * static_cast<std::size_t>(t) + round, round);
      Bytes back(host.size());
      const cudaStream_t stream = round % 3 == 2 ? cudaStreamPerThread : streams[round % 3];
      DeviceBytes device(host.size());
      const TransferHandle up = gpuopt::uploadAsync(host, device.data(), stream);
      gpuopt::downloadAsync(device.data(), back, stream).wait();
      isGood = isGood && back == host;
    }
    return isGood;
  });
  REQUIRE(failures == 0);
}

#ifdef GPUOPT_EMULATION  // a GPU's allocations are larger than asked for
TEST_CASE("A queued copy that fails is an error, and nothing uses the arrays any more", "[transfer]") {
  const Deferred deferred;
  Bytes host(3000000);
  void* device = nullptr;
  gpuopt::check(cudaMalloc(&device, host.size() - 1), "cudaMalloc");  // the last of several copies fails
  const std::size_t pinned = gpuopt::pinnedBytes();
  for (int i = 0; i < 3; ++i) {
    REQUIRE(messageOf<gpuopt::CudaError>([&] {
              static_cast<void>(
                  gpuopt::detail::beginTransfer({host.data(), static_cast<unsigned char*>(device), host.size(),
                                                 gpuopt::TransferDirection::upload, nullptr, "test"},
                                                {gpuopt::detail::TransferAlgorithm::queue, "", 0, 1 << 20, 3}));
            }).find("cudaMemcpyAsync: cudaErrorInvalidValue") == 0);
  }
  REQUIRE(cudaPeekAtLastError() == cudaSuccess);
  REQUIRE(gpuopt::pinnedBytes() <= pinned + (std::size_t{4} << 20));  // slots came back
  static_cast<void>(cudaFree(device));
}
#else
TEST_CASE("Transfers may run while another stream is captured", "[transfer]") {
  const Stream captured, stream;
  constexpr std::size_t N = 3000000;
  const Bytes host = bytesOf(N, 5);
  gpuopt::PinnedVector<unsigned char> pinned(N);
  DeviceBytes device(N), other(N);
  const auto transfer = [&] {
    Bytes back(N);
    const std::size_t offsets[] = {0, N / 2};
    gpuopt::upload(host, device.data(), stream);
    gpuopt::download(device.data(), pinned, stream);
    gpuopt::uploadAsync(pinned, device.data(), stream).wait();
    gpuopt::uploadAsync(host, device.data(), stream).wait();
    gpuopt::gatherBlocksAsync(pinned, offsets, 2, 1000, other.data(), stream).wait();
    TransferHandle handle = gpuopt::downloadAsync(device.data(), back, stream);
    while (!handle.isDone()) std::this_thread::yield();
    return back == host;
  };
  cudaGraph_t graph = nullptr;
  gpuopt::check(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  fill(other.data(), 1, N, captured);
  bool isGood = transfer();
  std::thread thread([&] { isGood = transfer() && isGood; });
  thread.join();
  gpuopt::check(cudaStreamEndCapture(captured, &graph), "cudaStreamEndCapture");
  cudaGraphDestroy(graph);
  REQUIRE(isGood);
}
#endif
