/// Several devices in one process: streams, memory and kernels belong to one, and kernels of two run at the same time.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace devices_test {

__global__ void set(int* out, int value) { *out = value; }

// Tells the next device, and waits for the one before, `rounds` times.
__global__ void passOn(int* own, int* next, int rounds) {
  for (int round = 1; round <= rounds; ++round) {
    atomicExch_system(next, round);
    while (atomicAdd_system(own, 0) < round) __nanosleep(100);
  }
}

bool passesOn(const std::vector<int*>& flags, int device, int rounds) {
  const std::size_t next = (static_cast<std::size_t>(device) + 1) % flags.size();
  cudaStream_t stream = nullptr;
  const bool isMade = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess;
  cudaLaunchConfig_t config{};
  config.stream = stream;
  const cudaError_t launched =
      cudaLaunchKernelEx(&config, passOn, flags[static_cast<std::size_t>(device)], flags[next], rounds);
  const cudaError_t ended = cudaStreamSynchronize(stream);
  return isMade && launched == cudaSuccess && ended == cudaSuccess && cudaStreamDestroy(stream) == cudaSuccess;
}

void requirePassing(int devices, int rounds) {
  const DeviceCountScope scope(devices);
  Managed<int> flags(static_cast<std::size_t>(devices), 0);
  std::vector<int*> addresses;
  for (int i = 0; i < devices; ++i) addresses.push_back(flags.data() + i);
  REQUIRE(onDevices(devices, [&](int device) { return passesOn(addresses, device, rounds); }) == devices);
  for (int i = 0; i < devices; ++i) REQUIRE(flags[static_cast<std::size_t>(i)] == rounds);
}

TEST_CASE("the environment chooses the number of devices") {
  const char* variable = std::getenv("GPUOPT_EMULATION_DEVICES");
  const std::string before = variable != nullptr ? variable : "";
  const auto countOf = [](const char* text) {
    setenv("GPUOPT_EMULATION_DEVICES", text, 1);
    return gpuopt::emulation::detail::environmentDeviceCount();
  };
  REQUIRE(countOf("") == 1);
  REQUIRE(countOf("8") == 8);
  REQUIRE(countOf("64") == 64);
  setenv("GPUOPT_EMULATION_DEVICES", before.c_str(), 1);
  REQUIRE_THROWS_AS(gpuopt::emulation::setDeviceCount(0), std::invalid_argument);
  REQUIRE_THROWS_AS(gpuopt::emulation::setDeviceCount(65), std::invalid_argument);
}

TEST_CASE("each host thread has its current device, which is one that exists") {
  const DeviceCountScope scope(3);
  int count = 0, device = -1, attribute = 0;
  cudaDeviceProp properties{};
  REQUIRE((cudaGetDeviceCount(&count) == cudaSuccess && count == 3));
  REQUIRE(cudaSetDevice(2) == cudaSuccess);
  int others = -1;
  std::thread([&] { cudaGetDevice(&others); }).join();
  REQUIRE((cudaGetDevice(&device) == cudaSuccess && device == 2 && others == 0));
  for (const int bad : {-1, 3}) {
    REQUIRE(cudaSetDevice(bad) == cudaErrorInvalidDevice);
    REQUIRE(cudaDeviceGetAttribute(&attribute, cudaDevAttrWarpSize, bad) == cudaErrorInvalidDevice);
    REQUIRE(cudaGetDeviceProperties(&properties, bad) == cudaErrorInvalidDevice);
  }
  REQUIRE(cudaDeviceGetAttribute(&attribute, cudaDevAttrWarpSize, 2) == cudaSuccess);
  REQUIRE(cudaGetDeviceProperties(&properties, 2) == cudaSuccess);
  REQUIRE((cudaGetDevice(&device) == cudaSuccess && device == 2));
  cudaGetLastError();
}

TEST_CASE("memory, pools and streams belong to the device that was current") {
  const DeviceCountScope scope(2);
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  std::size_t before = 0, after = 0, total = 0;
  int* data = nullptr;
  cudaStream_t stream = nullptr;
  cudaMemPool_t pool = nullptr;
  REQUIRE(cudaMemGetInfo(&before, &total) == cudaSuccess);
  REQUIRE(cudaMalloc(&data, 4096) == cudaSuccess);
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  REQUIRE(cudaDeviceGetDefaultMemPool(&pool, 1) == cudaSuccess);
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  cudaPointerAttributes attributes{};
  REQUIRE((cudaPointerGetAttributes(&attributes, data + 100) == cudaSuccess && attributes.device == 1));
  int* inOrder = nullptr;
  REQUIRE(cudaMallocAsync(&inOrder, 64, stream) == cudaSuccess);
  REQUIRE((cudaPointerGetAttributes(&attributes, inOrder) == cudaSuccess && attributes.device == 1));
  int* pooled = nullptr;
  REQUIRE(cudaMallocFromPoolAsync(&pooled, 64, pool, nullptr) == cudaSuccess);
  REQUIRE((cudaPointerGetAttributes(&attributes, pooled) == cudaSuccess && attributes.device == 1));
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  REQUIRE((cudaMemGetInfo(&after, &total) == cudaSuccess && before - after == 4096 + 64 + 64));
  for (int* const memory : {data, inOrder, pooled}) REQUIRE(cudaFree(memory) == cudaSuccess);
  REQUIRE((cudaMemGetInfo(&after, &total) == cudaSuccess && before == after));
  int device = -1;
  REQUIRE((cudaStreamGetDevice(stream, &device) == cudaSuccess && device == 1));
  REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("launches and events of another device's stream are refused") {
  const DeviceCountScope scope(2);
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  Managed<int> out(1, 0);
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  REQUIRE(cudaEventCreate(&event) == cudaSuccess);
  cudaLaunchConfig_t config{};
  config.stream = stream;
  REQUIRE(cudaLaunchKernelEx(&config, set, out.data(), 1) == cudaErrorInvalidResourceHandle);
  REQUIRE(gpuopt::emulation::lastReport().find("the stream is of device 0, the current device is 1") !=
          std::string::npos);
  REQUIRE(cudaEventRecord(event, stream) == cudaErrorInvalidResourceHandle);
  REQUIRE(out[0] == 0);
  REQUIRE(cudaEventRecord(event) == cudaSuccess);
  REQUIRE(cudaStreamWaitEvent(stream, event, 0) == cudaSuccess);
  REQUIRE((cudaEventDestroy(event) == cudaSuccess && cudaStreamDestroy(stream) == cudaSuccess));
  cudaGetLastError();
}

TEST_CASE("kernels of several devices wait for each other") {
  for (const int devices : {2, 8}) requirePassing(devices, 20);
  const DeferredScope deferred;
  for (const int devices : {2, 5}) requirePassing(devices, 20);
}

TEST_CASE("deferred work of one device is not done by waits for another") {
  const DeviceCountScope scope(2);
  const DeferredScope deferred;
  Managed<int> out(2, 0);
  cudaEvent_t event = nullptr;
  REQUIRE(launch(set, 1, 1, out.data(), 10) == cudaSuccess);
  REQUIRE(cudaEventCreate(&event) == cudaSuccess);
  REQUIRE(cudaEventRecord(event) == cudaSuccess);
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  REQUIRE(launch(set, 1, 1, out.data() + 1, 20) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE((out[0] == 0 && out[1] == 20));
  REQUIRE(cudaStreamWaitEvent(nullptr, event, 0) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(out[0] == 10);
  REQUIRE(cudaEventDestroy(event) == cudaSuccess);
}

TEST_CASE("peer access is enabled once, in one direction, and can be switched off") {
  const DeviceCountScope scope(2);
  int canAccess = -1;
  REQUIRE((cudaDeviceCanAccessPeer(&canAccess, 0, 1) == cudaSuccess && canAccess == 1));
  REQUIRE((cudaDeviceCanAccessPeer(&canAccess, 1, 1) == cudaSuccess && canAccess == 0));
  REQUIRE(cudaDeviceCanAccessPeer(&canAccess, 0, 2) == cudaErrorInvalidDevice);
  REQUIRE(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorInvalidDevice);
  REQUIRE(cudaDeviceEnablePeerAccess(1, 1) == cudaErrorInvalidValue);
  REQUIRE(cudaDeviceEnablePeerAccess(1, 0) == cudaSuccess);
  REQUIRE(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessAlreadyEnabled);
  REQUIRE(cudaDeviceDisablePeerAccess(1) == cudaSuccess);
  REQUIRE(cudaDeviceDisablePeerAccess(1) == cudaErrorPeerAccessNotEnabled);
  gpuopt::emulation::setPeerAccess(false);
  REQUIRE((cudaDeviceCanAccessPeer(&canAccess, 0, 1) == cudaSuccess && canAccess == 0));
  REQUIRE(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessUnsupported);
  gpuopt::emulation::setPeerAccess(true);
  cudaGetLastError();
}

TEST_CASE("devices of a node reach each other, and no others") {
  const DeviceCountScope scope(5);
  const auto canAccess = [](int device, int peer) {
    int can = -1;
    return cudaDeviceCanAccessPeer(&can, device, peer) == cudaSuccess && can == 1;
  };
  REQUIRE(canAccess(1, 2));
  gpuopt::emulation::setNodeDevices(2);
  REQUIRE((canAccess(0, 1) && canAccess(3, 2)));
  REQUIRE_FALSE((canAccess(1, 2) || canAccess(4, 3)));
  gpuopt::emulation::setNodeDevices(gpuopt::emulation::MAX_DEVICES);
  REQUIRE(canAccess(4, 0));
  REQUIRE_THROWS_AS(gpuopt::emulation::setNodeDevices(0), std::invalid_argument);
  REQUIRE_THROWS_AS(gpuopt::emulation::setNodeDevices(65), std::invalid_argument);
  setenv("GPUOPT_EMULATION_NODE_DEVICES", "3", 1);
  REQUIRE(gpuopt::emulation::detail::environmentNodeDevices() == 3);
  unsetenv("GPUOPT_EMULATION_NODE_DEVICES");
  REQUIRE(gpuopt::emulation::detail::environmentNodeDevices() == gpuopt::emulation::MAX_DEVICES);
}

TEST_CASE("copies between devices need no peer access") {
  const DeviceCountScope scope(2);
  std::vector<int> values{3, 1, 4, 1, 5}, copied(5);
  int *first = nullptr, *second = nullptr;
  REQUIRE(cudaMalloc(&first, 20) == cudaSuccess);
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  REQUIRE(cudaMalloc(&second, 20) == cudaSuccess);
  REQUIRE(cudaMemcpy(first, values.data(), 20, cudaMemcpyHostToDevice) == cudaSuccess);
  REQUIRE(cudaMemcpyPeerAsync(second, 1, first, 0, 20) == cudaSuccess);
  REQUIRE(cudaMemcpy(copied.data(), second, 20, cudaMemcpyDeviceToHost) == cudaSuccess);
  REQUIRE(copied == values);
  REQUIRE(cudaMemcpyPeer(second, 2, first, 0, 20) == cudaErrorInvalidDevice);
  REQUIRE(cudaMemcpyPeer(second, 1, first, 0, 24) == cudaErrorInvalidValue);
  REQUIRE((cudaFree(first) == cudaSuccess && cudaFree(second) == cudaSuccess));
  cudaGetLastError();
}

TEST_CASE("memory of other processes is refused") {
  int* data = nullptr;
  cudaMemPool_t pool = nullptr;
  cudaIpcMemHandle_t handle{};
  cudaMemPoolPtrExportData exported{};
  int file = 0;
  REQUIRE(cudaDeviceGetDefaultMemPool(&pool, 0) == cudaSuccess);
  REQUIRE(cudaMallocAsync(&data, 4, pool, nullptr) == cudaSuccess);
  REQUIRE(cudaIpcGetMemHandle(&handle, data) == cudaErrorNotSupported);
  REQUIRE(cudaMemPoolExportToShareableHandle(&file, pool, cudaMemHandleTypePosixFileDescriptor, 0) ==
          cudaErrorNotSupported);
  REQUIRE(cudaMemPoolImportFromShareableHandle(&pool, &file, cudaMemHandleTypePosixFileDescriptor, 0) ==
          cudaErrorNotSupported);
  REQUIRE(cudaMemPoolExportPointer(&exported, data) == cudaErrorNotSupported);
  void* imported = nullptr;
  REQUIRE(cudaMemPoolImportPointer(&imported, pool, &exported) == cudaErrorNotSupported);
  REQUIRE(cudaGetLastError() == cudaErrorNotSupported);
  REQUIRE(cudaFree(data) == cudaSuccess);
}

}  // namespace devices_test
