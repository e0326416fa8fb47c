/// Memory in rows of a pitch, and variables of the device.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#include <cstdint>
#include <vector>

namespace pitched_test {

__constant__ float factors[5];
__device__ int counters[3] = {1, 2, 3};

__global__ void scaleByFactors(float* data) { data[threadIdx.x] *= factors[threadIdx.x]; }
__global__ void addToCounters(int addend) { counters[threadIdx.x] += addend; }

TEST_CASE("rows of pitched memory are aligned, filled and copied, and the gaps between them are left alone") {
  constexpr std::size_t WIDTH = 13, HEIGHT = 5;
  unsigned char* data = nullptr;
  std::size_t pitch = 0;
  REQUIRE(cudaMallocPitch(&data, &pitch, WIDTH, HEIGHT) == cudaSuccess);
  REQUIRE(pitch == 512);
  std::vector<unsigned char> values(WIDTH * HEIGHT), copied(WIDTH * HEIGHT), all(pitch * HEIGHT);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<unsigned char>(i);
  REQUIRE(cudaMemset(data, 200, pitch * HEIGHT) == cudaSuccess);
  REQUIRE(cudaMemcpy2D(data, pitch, values.data(), WIDTH, WIDTH, HEIGHT, cudaMemcpyHostToDevice) == cudaSuccess);
  REQUIRE(cudaMemset2D(data + pitch + 2, pitch, 77, 3, 2) == cudaSuccess);
  REQUIRE(cudaMemcpy(all.data(), data, all.size(), cudaMemcpyDeviceToHost) == cudaSuccess);
  REQUIRE(cudaMemcpy2D(copied.data(), WIDTH, data, pitch, WIDTH, HEIGHT, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (std::size_t row = 0; row < HEIGHT; ++row)
    for (std::size_t i = 0; i < pitch; ++i) {
      const bool isFilled = (row == 1 || row == 2) && i >= 2 && i < 5;
      const unsigned expected = i >= WIDTH ? 200u : isFilled ? 77u : values[row * WIDTH + i];
      REQUIRE(all[row * pitch + i] == expected);
      if (i < WIDTH) REQUIRE(copied[row * WIDTH + i] == expected);
    }
  CHECK(cudaMemset2D(data, pitch, 0, pitch + 1, 2) == cudaErrorInvalidValue);
  CHECK(cudaMemset2D(data, pitch, 0, pitch, HEIGHT + 1) == cudaErrorInvalidValue);
  cudaGetLastError();
  REQUIRE(cudaFree(data) == cudaSuccess);
}

TEST_CASE("a deferred fill of rows is done when something waits for it") {
  Managed<unsigned char> data(100, static_cast<unsigned char>(1));
  const DeferredScope scope;
  REQUIRE(cudaMemset2DAsync(data.data(), 10, 5, 4, 10) == cudaSuccess);
  CHECK(data[0] == 1);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK((data[93] == 5 && data[94] == 1));
}

TEST_CASE("boxes of three dimensions") {
  cudaPitchedPtr box{};
  REQUIRE(cudaMalloc3D(&box, make_cudaExtent(20, 3, 4)) == cudaSuccess);
  CHECK((box.pitch == 512 && box.xsize == 20 && box.ysize == 3));
  REQUIRE(cudaMemset3D(box, 1, make_cudaExtent(20, 3, 4)) == cudaSuccess);
  REQUIRE(cudaMemset3D(box, 9, make_cudaExtent(7, 2, 3)) == cudaSuccess);
  std::vector<unsigned char> all(512 * 12);
  REQUIRE(cudaMemcpy(all.data(), box.ptr, all.size(), cudaMemcpyDeviceToHost) == cudaSuccess);
  for (std::size_t z = 0; z < 4; ++z)
    for (std::size_t y = 0; y < 3; ++y)
      for (std::size_t x = 0; x < 20; ++x) REQUIRE(all[(z * 3 + y) * 512 + x] == (x < 7 && y < 2 && z < 3 ? 9 : 1));
  REQUIRE(cudaFree(box.ptr) == cudaSuccess);
}

TEST_CASE("variables of the device: size, address, copies to and from them") {
  std::size_t bytes = 0;
  REQUIRE(cudaGetSymbolSize(&bytes, factors) == cudaSuccess);
  CHECK(bytes == 5 * sizeof(float));
  const float values[] = {1, 2, 3, 4, 5}, replaced[] = {10, 20};
  REQUIRE(cudaMemcpyToSymbol(factors, values, sizeof values) == cudaSuccess);
  REQUIRE(cudaMemcpyToSymbol(factors, replaced, sizeof replaced, 3 * sizeof(float)) == cudaSuccess);
  Managed<float> data(5, 2.0f);
  REQUIRE(launch(scaleByFactors, dim3(1), dim3(5), data.data()) == cudaSuccess);
  CHECK(data.values() == std::vector<float>{2, 4, 6, 20, 40});
  REQUIRE(launch(addToCounters, dim3(1), dim3(3), 10) == cudaSuccess);
  int last[2] = {};
  REQUIRE(cudaMemcpyFromSymbol(last, counters, sizeof last, sizeof(int)) == cudaSuccess);
  CHECK((last[0] == 12 && last[1] == 13));
  CHECK(cudaMemcpyToSymbol(factors, values, sizeof values, 4) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyFromSymbol(last, counters, 16) == cudaErrorInvalidValue);
  const int before[] = {1, 2, 3};
  REQUIRE(cudaMemcpyToSymbol(counters, before, sizeof before) == cudaSuccess);
  cudaGetLastError();
}

TEST_CASE("asynchronous copies to and from variables wait for their stream") {
  cudaStream_t stream = nullptr;
  int* host = nullptr;
  REQUIRE(cudaMallocHost(&host, 3 * sizeof(int)) == cudaSuccess);
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  const DeferredScope scope;
  for (int i = 0; i < 3; ++i) host[i] = 100 + i;
  REQUIRE(cudaMemcpyToSymbolAsync(counters, host, 12, 0, cudaMemcpyHostToDevice, stream) == cudaSuccess);
  CHECK(counters[0] == 1);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(counters[2] == 102);
  counters[0] = 1, counters[1] = 2, counters[2] = 3;
  REQUIRE(cudaMemcpyFromSymbolAsync(host, counters, 8, 4, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
  CHECK(host[0] == 100);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK((host[0] == 2 && host[1] == 3 && host[2] == 102));
  REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
  REQUIRE(cudaFreeHost(host) == cudaSuccess);
}

TEST_CASE("limits, flags and caches are remembered, advice is checked") {
  std::size_t limit = 0;
  REQUIRE(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 12345) == cudaSuccess);
  REQUIRE(cudaDeviceGetLimit(&limit, cudaLimitPrintfFifoSize) == cudaSuccess);
  CHECK(limit == 12345);
  unsigned flags = 0;
  REQUIRE(cudaSetDeviceFlags(cudaDeviceMapHost) == cudaSuccess);
  REQUIRE(cudaGetDeviceFlags(&flags) == cudaSuccess);
  CHECK(flags == cudaDeviceMapHost);
  REQUIRE(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1) == cudaSuccess);
  cudaFuncCache cache = cudaFuncCachePreferNone;
  REQUIRE(cudaDeviceGetCacheConfig(&cache) == cudaSuccess);
  CHECK(cache == cudaFuncCachePreferL1);
  REQUIRE(cudaFuncSetCacheConfig(addToCounters, cudaFuncCachePreferShared) == cudaSuccess);
  cudaStreamAttrValue window{};
  window.accessPolicyWindow = {nullptr, 64, 0.5F, cudaAccessPropertyPersisting, cudaAccessPropertyStreaming};
  CHECK(cudaStreamSetAttribute(nullptr, cudaStreamAttributeAccessPolicyWindow, &window) == cudaSuccess);
  window.accessPolicyWindow.hitRatio = 1.5F;
  CHECK(cudaStreamSetAttribute(nullptr, cudaStreamAttributeAccessPolicyWindow, &window) == cudaErrorInvalidValue);
  window.accessPolicyWindow.hitRatio = 1;
  window.accessPolicyWindow.missProp = cudaAccessPropertyPersisting;
  CHECK(cudaStreamSetAttribute(nullptr, cudaStreamAttributeAccessPolicyWindow, &window) == cudaErrorInvalidValue);
  CHECK(cudaStreamSetAttribute(nullptr, cudaLaunchAttributePriority, &window) == cudaErrorInvalidValue);
  CHECK(cudaCtxResetPersistingL2Cache() == cudaSuccess);
  Managed<int> data(10);
  CHECK(cudaMemPrefetchAsync(data.data(), 40, 0, nullptr) == cudaSuccess);
  CHECK(cudaMemAdvise(data.data(), 40, cudaMemAdviseSetReadMostly, cudaCpuDeviceId) == cudaSuccess);
  CHECK(cudaMemPrefetchAsync(data.data(), 44, 0, nullptr) == cudaErrorInvalidValue);
  CHECK(cudaMemPrefetchAsync(&limit, 8, 0, nullptr) == cudaErrorInvalidValue);
  CHECK(cudaMemPrefetchAsync(data.data(), 40, 1, nullptr) == cudaErrorInvalidDevice);
  cudaGetLastError();
}

void storeStatus(cudaStream_t, cudaError_t status, void* out) { *static_cast<int*>(out) = 5 + status; }

TEST_CASE("a callback is called in the order of its stream") {
  int called = 0;
  const DeferredScope scope;
  REQUIRE(cudaStreamAddCallback(nullptr, storeStatus, &called, 0) == cudaSuccess);
  CHECK(called == 0);
  REQUIRE(cudaStreamSynchronize(nullptr) == cudaSuccess);
  CHECK(called == 5);
}

}  // namespace pitched_test
