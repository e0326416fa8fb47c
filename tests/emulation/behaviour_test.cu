/// What programs expect of launches: errors when they wait, assertions, clocks, launches by kernels.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#undef NDEBUG
#include <cassert>
#include <ctime>
#include <string>

namespace behaviour_test {

__global__ void stop() { __trap(); }

__global__ void assertLess(unsigned limit) { assert(threadIdx.x < limit && "as it was asked"); }

__global__ void readClocks(long long* out) {
  const clock_t begin = clock();
  const long long begin64 = clock64();
  unsigned long long timer = 0, end = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(timer));
  for (int i = 0; i < 1000; ++i) __nanosleep(100);
  out[0] = clock() - begin;
  out[1] = clock64() - begin64;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(end));
  out[2] = static_cast<long long>(end - timer);
}

__global__ void countDown(int* count, int depth) {
  atomicAdd(count, 1);
  if (threadIdx.x == 0 && depth > 0) countDown<<<2, 32>>>(count, depth - 1);
}

__global__ void launchTooMuch(int* code) {
  countDown<<<1, 2000>>>(code, 0);
  *code = cudaGetLastError() == cudaSuccess ? 1 : 2;
}

__global__ void readRegisters(unsigned* out) {
  unsigned lane = 99, below = 99;
  asm("mov.u32 %0, %laneid;" : "=r"(lane));
  asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
  out[threadIdx.x] = lane * 100 + static_cast<unsigned>(__popc(below));
}

__global__ void useAssembly(unsigned* out) {
  if (out[0] == 1)
    asm("bfe.u32 %0, %1, 4, 8;" : "=r"(out[1]) : "r"(out[0]));
  else
    out[1] = 5;
}

__global__ void askArchitecture(int* out) {
  *out = 1;
#if __CUDA_ARCH__ >= 700
  *out = 2;
#endif
#ifndef __CUDA_ARCH__
  *out = 3;
#endif
}

__global__ void changeType(float4* data) {
  float4 value = data[threadIdx.x];
  uint4 bits;
  reinterpret_cast<float*>(&bits)[0] = value.x + 1;
  reinterpret_cast<float*>(&bits)[1] = value.y + 1;
  reinterpret_cast<float*>(&bits)[2] = value.z + 1;
  reinterpret_cast<float*>(&bits)[3] = value.w + 1;
  reinterpret_cast<uint4*>(data)[threadIdx.x] = bits;
}

TEST_CASE("the call that waits gives the error of a launch, too", "[behaviour]") {
  stop<<<1, 32>>>();
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(cudaGetLastError() == cudaErrorLaunchFailure);
  stop<<<1, 32>>>();
  CHECK(cudaGetLastError() == cudaErrorLaunchFailure);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  stop<<<1, 2000>>>();  // refused: the kernel did not run
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
}

TEST_CASE("a failed assertion has its own error and message", "[behaviour]") {
  assertLess<<<2, 32>>>(32);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  assertLess<<<2, 32>>>(20);
  REQUIRE(cudaDeviceSynchronize() == cudaErrorAssert);
  const std::string text = cudaGetErrorString(cudaGetLastError());
  CAPTURE(text);
  CHECK(text.find("device-side assert triggered: kernel ") == 0);
  CHECK(text.find("assertion `threadIdx.x < limit && \"as it was asked\"' failed, thread (") != std::string::npos);
}

TEST_CASE("the clocks of kernels go on", "[behaviour]") {
  Managed<long long> out(3, 0);
  readClocks<<<1, 1>>>(out.data());
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  for (std::size_t i = 0; i < 3; ++i) CHECK((out[i] > 0 && out[i] < 10'000'000'000));
  const clock_t begin = clock();
  CHECK(clock() - begin < 10 * CLOCKS_PER_SEC);  // the C library's on the host
}

TEST_CASE("kernels that a kernel launches have ended when it has", "[behaviour]") {
  for (const bool isDeferred : {false, true}) {
    if (isDeferred) gpuopt::emulation::setQueueMode(gpuopt::emulation::QueueMode::deferred);
    Managed<int> count(1, 0);
    countDown<<<1, 32>>>(count.data(), 3);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(count[0] == 32 + 64 + 128 + 256);
    gpuopt::emulation::setQueueMode(gpuopt::emulation::QueueMode::immediate);
  }
  Managed<int> code(1, 0);
  launchTooMuch<<<1, 1>>>(code.data());
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(code[0] == 2);
}

TEST_CASE("special registers are read, and other PTX is refused where a thread reaches it", "[behaviour]") {
  Managed<unsigned> out(64, 0);
  readRegisters<<<1, 64>>>(out.data());
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  for (unsigned i = 0; i < 64; ++i) CHECK(out[i] == i % 32 * 101);
  out[0] = 0;
  useAssembly<<<1, 1>>>(out.data());
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(out[1] == 5);
  out[0] = 1;
  useAssembly<<<1, 1>>>(out.data());
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  const std::string report = gpuopt::emulation::lastReport();
  CAPTURE(report);
  // WRITTEN emulation: `asm("bfe.u32 %0, %1, 4, 8;" : "=r"(bits) : "r"(word));`
  // DO: give the code a path without PTX, under `#ifdef __CUDA_ARCH__ ... #else`
  CHECK(report.find("the emulated device does not execute inline PTX: \"bfe.u32 %0, %1, 4, 8;\"") != std::string::npos);
  static_cast<void>(cudaGetLastError());
}

TEST_CASE("code of the device alone sees the compute capability", "[behaviour]") {
  Managed<int> out(1, 0);
  askArchitecture<<<1, 1>>>(out.data());
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(out[0] == 2);
}

TEST_CASE("memory may be read as another type", "[behaviour]") {
  Managed<float4> data(32, float4{1, 2, 3, 4});
  changeType<<<1, 32>>>(data.data());
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  for (std::size_t i = 0; i < 32; ++i)
    CHECK((data[i].x == 2.0f && data[i].y == 3.0f && data[i].z == 4.0f && data[i].w == 5.0f));
}

}  // namespace behaviour_test
