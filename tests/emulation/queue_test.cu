/// Deferred work: a wait that is missing, or for the wrong stream, shows as a value that is not there.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace queue_test {

__global__ void append(int* log, int value) {
  const int n = log[0];
  log[n + 1] = value;
  log[0] = n + 1;
}

__global__ void set(int* out, int value) { *out = value; }

__global__ void copyValue(const int* from, int* to) { *to = *from; }

__global__ void divergent() {
  if (threadIdx.x == 0) __syncthreads();
}

template <class... Parameters, class... Arguments>
void launchOn(cudaStream_t stream, void (*kernel)(Parameters...), Arguments... arguments) {
  cudaLaunchConfig_t config{};
  config.stream = stream;
  REQUIRE(cudaLaunchKernelEx(&config, kernel, arguments...) == cudaSuccess);
}

struct Stream {
  cudaStream_t handle = nullptr;
  explicit Stream(unsigned flags = cudaStreamDefault) {
    REQUIRE(cudaStreamCreateWithFlags(&handle, flags) == cudaSuccess);
  }
  ~Stream() { cudaStreamDestroy(handle); }
  operator cudaStream_t() const { return handle; }
};

TEST_CASE("the environment chooses when work is done") {
  using gpuopt::emulation::QueueMode;
  const char* variable = std::getenv("GPUOPT_EMULATION_QUEUE");
  const std::string before = variable != nullptr ? variable : "";
  const auto modeOf = [](const char* mode) {
    setenv("GPUOPT_EMULATION_QUEUE", mode, 1);
    return gpuopt::emulation::detail::environmentQueueMode();
  };
  REQUIRE(modeOf("") == QueueMode::immediate);
  REQUIRE(modeOf("immediate") == QueueMode::immediate);
  REQUIRE(modeOf("deferred") == QueueMode::deferred);
  setenv("GPUOPT_EMULATION_QUEUE", before.c_str(), 1);
}

TEST_CASE("deferred work is done when something waits for it, with the arguments of its launch") {
  const DeferredScope deferred;
  Managed<int> log(8, 0);
  const Stream stream;
  int value = 10;
  launchOn(stream, append, log.data(), value);
  value = 20;
  REQUIRE(cudaMemsetAsync(&log[2], 1, sizeof(int), stream) == cudaSuccess);
  REQUIRE(cudaLaunchHostFunc(
              stream, [](void* data) { static_cast<int*>(data)[3] = 30; }, log.data()) == cudaSuccess);
  REQUIRE(log.values() == std::vector<int>(8, 0));
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  REQUIRE(log.values() == std::vector<int>{1, 10, 0x01010101, 30, 0, 0, 0, 0});
}

TEST_CASE("waiting for one stream leaves the work of another undone") {
  const DeferredScope deferred;
  Managed<int> data(2, 0);
  const Stream producer(cudaStreamNonBlocking), consumer(cudaStreamNonBlocking);
  launchOn(producer, set, &data[0], 5);
  launchOn(consumer, copyValue, &data[0], &data[1]);
  REQUIRE(cudaStreamSynchronize(consumer) == cudaSuccess);
  REQUIRE((data[0] == 0 && data[1] == 0));
  REQUIRE(cudaStreamSynchronize(producer) == cudaSuccess);
  REQUIRE((data[0] == 5 && data[1] == 0));
}

TEST_CASE("an event orders two streams, as it was recorded when the wait was queued") {
  const DeferredScope deferred;
  Managed<int> log(8, 0);
  const Stream first(cudaStreamNonBlocking), second(cudaStreamNonBlocking);
  cudaEvent_t event = nullptr;
  REQUIRE(cudaEventCreate(&event) == cudaSuccess);
  REQUIRE(cudaEventQuery(event) == cudaSuccess);
  launchOn(first, append, log.data(), 1);
  REQUIRE(cudaEventRecord(event, first) == cudaSuccess);
  launchOn(first, append, log.data(), 2);
  REQUIRE(cudaStreamWaitEvent(second, event) == cudaSuccess);
  launchOn(second, append, log.data(), 3);
  REQUIRE(cudaStreamSynchronize(second) == cudaSuccess);
  REQUIRE(log.values() == std::vector<int>{2, 1, 3, 0, 0, 0, 0, 0});
  REQUIRE(cudaEventRecord(event, first) == cudaSuccess);
  float milliseconds = -1;
  REQUIRE(cudaEventElapsedTime(&milliseconds, event, event) == cudaErrorNotReady);
  REQUIRE(cudaEventSynchronize(event) == cudaSuccess);
  REQUIRE(cudaEventElapsedTime(&milliseconds, event, event) == cudaSuccess);
  REQUIRE(log.values() == std::vector<int>{3, 1, 3, 2, 0, 0, 0, 0});
  REQUIRE(cudaEventDestroy(event) == cudaSuccess);
  cudaGetLastError();
}

TEST_CASE("the legacy default stream waits for blocking streams, and they for it") {
  const DeferredScope deferred;
  const Stream blocking, other, nonBlocking(cudaStreamNonBlocking);
  Managed<int> log(8, 0), apart(1, 0);
  launchOn(nonBlocking, set, apart.data(), 7);
  launchOn(blocking, append, log.data(), 1);
  launchOn(nullptr, append, log.data(), 2);
  launchOn(other, append, log.data(), 3);
  REQUIRE(cudaStreamSynchronize(other) == cudaSuccess);
  REQUIRE(log.values() == std::vector<int>{3, 1, 2, 3, 0, 0, 0, 0});
  launchOn(cudaStreamPerThread, append, log.data(), 4);
  REQUIRE(cudaStreamSynchronize(cudaStreamLegacy) == cudaSuccess);
  REQUIRE(log[4] == 4);
  REQUIRE(apart[0] == 0);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(apart[0] == 7);
}

TEST_CASE("a query does one piece of work") {
  const DeferredScope deferred;
  Managed<int> log(8, 0);
  const Stream stream;
  for (int i = 1; i <= 3; ++i) launchOn(stream, append, log.data(), i);
  for (int done = 1; done <= 3; ++done) {
    REQUIRE(cudaStreamQuery(stream) == cudaErrorNotReady);
    REQUIRE(log[0] == done);
  }
  REQUIRE(cudaStreamQuery(stream) == cudaSuccess);
  cudaGetLastError();
}

TEST_CASE("copies read and write host memory when the runtime does") {
  const DeferredScope deferred;
  const Stream stream;
  int *device = nullptr, *pinned = nullptr;
  REQUIRE(cudaMalloc(&device, sizeof(int)) == cudaSuccess);
  REQUIRE(cudaMallocHost(&pinned, sizeof(int)) == cudaSuccess);

  int pageable = 1, read = 0;
  REQUIRE(cudaMemcpyAsync(device, &pageable, sizeof(int), cudaMemcpyHostToDevice, stream) == cudaSuccess);
  pageable = 2;  // has been read
  REQUIRE(cudaMemcpyAsync(&read, device, sizeof(int), cudaMemcpyDeviceToHost, stream) == cudaSuccess);
  REQUIRE(read == 1);

  *pinned = 3;
  REQUIRE(cudaMemcpyAsync(device, pinned, sizeof(int), cudaMemcpyHostToDevice, stream) == cudaSuccess);
  *pinned = 4;  // too early
  REQUIRE(cudaMemcpyAsync(pinned, device, sizeof(int), cudaMemcpyDeviceToHost, stream) == cudaSuccess);
  REQUIRE(cudaMemcpyAsync(&read, device, sizeof(int), cudaMemcpyDeviceToHost, stream) == cudaSuccess);
  REQUIRE(read == 4);
  *pinned = 5;
  REQUIRE(cudaMemcpy(device, pinned, sizeof(int), cudaMemcpyHostToDevice) == cudaSuccess);
  *pinned = 6;  // a synchronous copy has read
  REQUIRE(cudaMemcpy(&read, device, sizeof(int), cudaMemcpyDeviceToHost) == cudaSuccess);
  REQUIRE(read == 5);
  REQUIRE(cudaFree(device) == cudaSuccess);
  REQUIRE(cudaFreeHost(pinned) == cudaSuccess);
}

TEST_CASE("memory is freed after the work that uses it") {
  const DeferredScope deferred;
  Managed<int> out(2, 0);
  int *first = nullptr, *second = nullptr;
  Stream* const stream = new Stream(cudaStreamNonBlocking);
  REQUIRE(cudaMallocAsync(&first, sizeof(int), *stream) == cudaSuccess);
  REQUIRE(cudaMalloc(&second, sizeof(int)) == cudaSuccess);
  launchOn(*stream, set, first, 8);
  launchOn(*stream, copyValue, first, &out[0]);
  REQUIRE(cudaFreeAsync(first, *stream) == cudaSuccess);
  launchOn(*stream, set, second, 9);
  launchOn(*stream, copyValue, second, &out[1]);
  delete stream;  // its work remains
  REQUIRE(out[1] == 0);
  REQUIRE(cudaFree(second) == cudaSuccess);
  REQUIRE((out[0] == 8 && out[1] == 9));
}

TEST_CASE("who waits for a kernel that fails is told") {
  const DeferredScope deferred;
  const Stream stream;
  Managed<int> out(1, 0);
  cudaLaunchConfig_t config{};
  config.blockDim = 2;
  config.stream = stream;
  REQUIRE(cudaLaunchKernelEx(&config, divergent) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(stream) == cudaErrorLaunchFailure);
  REQUIRE(cudaGetLastError() == cudaErrorLaunchFailure);
  launchOn(stream, set, out.data(), 1);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  REQUIRE(out[0] == 1);
}

TEST_CASE("a query does not wait for a host function") {
  const DeferredScope deferred;
  const Stream stream;
  struct Gate {
    std::atomic<bool> isOpen{false};
    int passed = 0;
  } gate;
  const auto pass = [](void* data) {
    Gate& self = *static_cast<Gate*>(data);
    while (!self.isOpen) std::this_thread::yield();
    ++self.passed;
  };
  REQUIRE(cudaLaunchHostFunc(stream, pass, &gate) == cudaSuccess);
  REQUIRE(cudaLaunchHostFunc(stream, pass, &gate) == cudaSuccess);
  for (int i = 0; i < 100; ++i) REQUIRE(cudaStreamQuery(stream) == cudaErrorNotReady);
  gate.isOpen = true;
  while (cudaStreamQuery(stream) == cudaErrorNotReady) std::this_thread::yield();
  REQUIRE(gate.passed == 2);
  gate.isOpen = false;
  REQUIRE(cudaLaunchHostFunc(stream, pass, &gate) == cudaSuccess);
  REQUIRE(cudaStreamQuery(stream) == cudaErrorNotReady);
  std::thread opener([&] { gate.isOpen = true; });
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);  // waits for what a query has begun
  REQUIRE(gate.passed == 3);
  opener.join();
  cudaGetLastError();
}

TEST_CASE("a large copy from pageable memory waits for its stream first") {
  const DeferredScope deferred;
  const Stream stream;
  Managed<int> log(2, 0);
  std::vector<char> host((64 << 10) + 1);
  void* device = nullptr;
  REQUIRE(cudaMalloc(&device, host.size()) == cudaSuccess);
  launchOn(stream, append, log.data(), 10);
  REQUIRE(cudaMemcpyAsync(device, host.data(), 64 << 10, cudaMemcpyHostToDevice, stream) == cudaSuccess);
  REQUIRE(log[0] == 0);
  REQUIRE(cudaMemcpyAsync(device, host.data(), host.size(), cudaMemcpyHostToDevice, stream) == cudaSuccess);
  REQUIRE(log[0] == 1);
  REQUIRE(cudaFree(device) == cudaSuccess);
}

TEST_CASE("a long queue is no deep recursion") {
  const DeferredScope deferred;
  const Stream stream;
  int count = 0;
  for (int i = 0; i < 200000; ++i)
    REQUIRE(cudaLaunchHostFunc(
                stream, [](void* data) { ++*static_cast<int*>(data); }, &count) == cudaSuccess);
  REQUIRE(count == 0);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  REQUIRE(count == 200000);
}

TEST_CASE("what is queued is done when work is no longer deferred") {
  Managed<int> out(1, 0);
  {
    const DeferredScope deferred;
    launchOn(nullptr, set, out.data(), 1);
    REQUIRE(out[0] == 0);
  }
  REQUIRE(out[0] == 1);
}

}  // namespace queue_test
