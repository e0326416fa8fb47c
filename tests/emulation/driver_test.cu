/// The driver's functions that need no module, removed names of the runtime, and headers that programs include.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#include <cuda.h>
#include <cuda_fp8.h>
#include <device_launch_parameters.h>
#include <nvToolsExt.h>
#include <nvtx3/nvToolsExt.h>

#include <cstring>
#include <string>

#if !defined(__DRIVER_TYPES_H__) || !defined(__CUDA_RUNTIME_H__) || CUDA_VERSION < 12000
#error "headers of others ask for these"
#endif

namespace driver_test {

TEST_CASE("the driver's device is the runtime's", "[driver]") {
  REQUIRE(cuInit(0) == CUDA_SUCCESS);
  int count = 0, major = 0;
  CUdevice device = -1;
  REQUIRE(cuDeviceGetCount(&count) == CUDA_SUCCESS);
  CHECK(count == gpuopt::emulation::deviceCount());
  REQUIRE(cuDeviceGet(&device, 0) == CUDA_SUCCESS);
  CHECK(cuDeviceGet(&device, count) == CUDA_ERROR_INVALID_DEVICE);
  char name[64];
  REQUIRE(cuDeviceGetName(name, sizeof name, device) == CUDA_SUCCESS);
  CHECK(std::string(name) == "gpuopt emulated device");
  REQUIRE(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) == CUDA_SUCCESS);
  CHECK(major == 7);
  CUcontext context = nullptr, current = nullptr;
  REQUIRE(cuCtxCreate(&context, 0, device) == CUDA_SUCCESS);
  REQUIRE(cuCtxGetCurrent(&current) == CUDA_SUCCESS);
  CHECK(current == context);
  const char* text = nullptr;
  REQUIRE(cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &text) == CUDA_SUCCESS);
  CHECK(std::strcmp(text, "CUDA_ERROR_INVALID_VALUE") == 0);
}

TEST_CASE("the driver's memory is the runtime's", "[driver]") {
  CUdeviceptr first = 0, second = 0;
  REQUIRE(cuMemAlloc(&first, 64) == CUDA_SUCCESS);
  REQUIRE(cuMemAlloc(&second, 64) == CUDA_SUCCESS);
  const int written[16] = {1, 2, 3};
  int read[16] = {};
  REQUIRE(cuMemcpyHtoD(first, written, sizeof written) == CUDA_SUCCESS);
  REQUIRE(cuMemcpyDtoD(second, first, sizeof written) == CUDA_SUCCESS);
  REQUIRE(cuMemcpyDtoH(read, second, sizeof read) == CUDA_SUCCESS);
  CHECK(std::memcmp(written, read, sizeof read) == 0);
  REQUIRE(cuMemsetD8(second, 0, sizeof read) == CUDA_SUCCESS);
  REQUIRE(cuMemcpyDtoH(read, second, sizeof read) == CUDA_SUCCESS);
  CHECK(read[2] == 0);
  CHECK(cuMemFree(first) == CUDA_SUCCESS);
  CHECK(cuMemFree(second) == CUDA_SUCCESS);
  CHECK(cuCtxSynchronize() == CUDA_SUCCESS);
}

TEST_CASE("names that CUDA has removed still work", "[driver]") {
  CHECK(cudaThreadSynchronize() == cudaSuccess);
  CHECK(cudaThreadSetCacheConfig(cudaFuncCachePreferShared) == cudaSuccess);
  CHECK(cudaThreadExit() == cudaSuccess);
  nvtxRangePushA("nobody watches");
  nvtxRangePop();
}

TEST_CASE("eight bits round to nearest even", "[driver]") {
  CHECK(static_cast<float>(__nv_fp8_e4m3(1.0625f)) == 1.0f);
  CHECK(static_cast<float>(__nv_fp8_e4m3(1.1875f)) == 1.25f);
  CHECK(static_cast<float>(__nv_fp8_e4m3(1e9f)) == 448.0f);
  CHECK(static_cast<float>(__nv_fp8_e5m2(-1e9f)) == -57344.0f);
  CHECK(static_cast<float>(__nv_fp8_e4m3(0.001953125f)) == 0.001953125f);  // the smallest one
  CHECK(__nv_cvt_float_to_fp8(1e9f, __NV_NOSAT, __NV_E5M2) == 0x7C);
  CHECK(__nv_cvt_float_to_fp8(1e9f, __NV_NOSAT, __NV_E4M3) == 0x7F);
  for (int bits = 0; bits < 256; ++bits) {  // every number is its own nearest one
    __nv_fp8_e4m3 a;
    __nv_fp8_e5m2 b;
    a.__x = b.__x = static_cast<unsigned char>(bits);
    const float x = static_cast<float>(a), y = static_cast<float>(b);
    if (x == x) CHECK(__nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E4M3) == bits);
    if (y == y) CHECK(__nv_cvt_float_to_fp8(y, __NV_NOSAT, __NV_E5M2) == bits);
  }
}

TEST_CASE("arithmetic rounds as its name says", "[driver]") {
  CHECK(__fadd_rd(1.0f, 1e-9f) == 1.0f);
  CHECK(__fadd_ru(1.0f, 1e-9f) == 1.0f + 0x1p-23f);
  CHECK(__fadd_rz(-1.0f, -1e-9f) == -1.0f);
  CHECK(__ddiv_ru(1.0, 3.0) - __ddiv_rd(1.0, 3.0) == 0x1p-54);
  CHECK(__int2float_rd(16777217) == 16777216.0f);
  CHECK(__int2float_ru(16777217) == 16777218.0f);
  CHECK(__uint2float_rz(0xFFFFFFFFu) == 4294967040.0f);
  CHECK(__ull2float_ru(~0ull) == 18446744073709551616.0f);
  CHECK(__ull2double_rz(~0ull) == 18446744073709549568.0);
  CHECK(__double2float_rd(1.0 / 3) < __double2float_ru(1.0 / 3));
  CHECK(1.0f + 1e-9f == 1.0f);  // the mode is as it was
}

TEST_CASE("words are worked on part by part", "[driver]") {
  CHECK(__vadd4(0x01FF0203u, 0x01010101u) == 0x02000304u);
  CHECK(__vaddus4(0x01FF0203u, 0x01010101u) == 0x02FF0304u);
  CHECK(__vsubss2(0x80000005u, 0x00010007u) == 0x8000FFFEu);
  CHECK(__vmaxs4(0x80017F00u, 0) == 0x00017F00u);
  CHECK(__vminu2(0xFFFF0001u, 0x00020002u) == 0x00020001u);
  CHECK(__vcmpeq4(0x01020304u, 0x01FF03FFu) == 0xFF00FF00u);
  CHECK(__vsetgts2(0x00018000u, 0u) == 0x00010000u);
  CHECK(__vsadu4(0x01020304u, 0x04030201u) == 8);
  CHECK(__vavgu2(0x00010004u, 0x00020004u) == 0x00020004u);
}

TEST_CASE("an atomic function with an order and a scope is the one without", "[driver]") {
  int value = 5;
  CHECK(__nv_atomic_load_n(&value, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) == 5);
  __nv_atomic_store_n(&value, 6, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);
  CHECK(__nv_atomic_fetch_add(&value, 2, __NV_ATOMIC_RELAXED) == 6);
  CHECK(value == 8);
}

}  // namespace driver_test
