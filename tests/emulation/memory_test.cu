/// Device memory: alignment, poison, guard bytes, copies and what is known of a pointer.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

namespace memory_test {

__device__ int deviceVariable[4] = {1, 2, 3, 4};
__constant__ float factors[3];
__managed__ int managedVariable[2] = {5, 6};

__global__ void scaleVariable(float* out) {
  out[threadIdx.x] = static_cast<float>(deviceVariable[threadIdx.x]) * factors[threadIdx.x];
}

// Writes one byte outside an allocation; hidden from AddressSanitizer, which would end the program.
__attribute__((no_sanitize("address"))) void writeByte(unsigned char* address) {
  *static_cast<volatile unsigned char*>(address) = 1;
}

TEST_CASE("allocations are aligned to 256 bytes and filled with poison") {
  std::vector<void*> pointers;
  for (const std::size_t bytes : {1, 255, 256, 257, 100000}) {
    unsigned char* pointer = nullptr;
    REQUIRE(cudaMalloc(&pointer, bytes) == cudaSuccess);
    REQUIRE(reinterpret_cast<std::uintptr_t>(pointer) % 256 == 0);
    REQUIRE(pointer[0] >= 0x7F);
    REQUIRE(std::vector<unsigned char>(pointer, pointer + bytes) == std::vector<unsigned char>(bytes, pointer[0]));
    pointers.push_back(pointer);
  }
  for (void* pointer : pointers) REQUIRE(cudaFree(pointer) == cudaSuccess);
}

TEST_CASE("a write outside an allocation is reported when it is freed") {
  unsigned char* pointer = nullptr;
  REQUIRE(cudaMalloc(&pointer, 1000) == cudaSuccess);
  writeByte(pointer + 1001);
  REQUIRE(cudaFree(pointer) == cudaErrorIllegalAddress);
  REQUIRE(gpuopt::emulation::lastReport() == "memory was written 1 byte behind the end of an allocation of 1000 bytes");
  REQUIRE(cudaMalloc(&pointer, 64) == cudaSuccess);
  writeByte(pointer - 256);
  REQUIRE(cudaFree(pointer) == cudaErrorIllegalAddress);
  REQUIRE(gpuopt::emulation::lastReport() == "memory was written 256 bytes before an allocation of 64 bytes");
  cudaGetLastError();
}

#if !GPUOPT_EMULATION_ASAN
__global__ void writeAllAndOneMore(int* out, int n) {
  for (int i = 0; i <= n; ++i) out[i] = i;
}
__global__ void leaveAlone(int*) {}

TEST_CASE("the kernel that wrote outside an allocation is named") {
  int *first = nullptr, *second = nullptr;
  REQUIRE(cudaMalloc(&first, 40) == cudaSuccess);
  REQUIRE(cudaMalloc(&second, 80) == cudaSuccess);
  REQUIRE(launch(writeAllAndOneMore, dim3(1), dim3(1), first, 10) == cudaSuccess);
  writeByte(reinterpret_cast<unsigned char*>(second) + 80);
  REQUIRE(launch(leaveAlone, dim3(1), dim3(1), second) == cudaSuccess);
  REQUIRE(cudaFree(first) == cudaErrorIllegalAddress);
  const std::string kernel = gpuopt::emulation::detail::kernelName(reinterpret_cast<const void*>(writeAllAndOneMore));
  const std::string report = gpuopt::emulation::lastReport();
  CHECK(report ==
        "memory was written directly behind the end of an allocation of 40 bytes while kernel " + kernel + " ran");
  CHECK(cudaGetErrorString(cudaErrorIllegalAddress) == "an illegal memory access was encountered: " + report);
  REQUIRE(cudaFree(second) == cudaErrorIllegalAddress);
  CHECK(gpuopt::emulation::lastReport() == "memory was written directly behind the end of an allocation of 80 bytes");
  cudaGetLastError();
}
#endif

TEST_CASE("an error's text has the report, until the same error comes without one") {
  int local = 0;
  REQUIRE(cudaFree(&local) == cudaErrorInvalidValue);
  const std::string text = "invalid argument: a pointer is freed that is no live allocation of its kind";
  CHECK(std::string(cudaGetErrorString(cudaErrorInvalidValue)).substr(0, text.size()) == text);
  REQUIRE(cudaMalloc(nullptr, 100) == cudaErrorInvalidValue);
  CHECK(std::string(cudaGetErrorString(cudaErrorInvalidValue)) == "invalid argument");
  cudaGetLastError();
}

#ifdef GPUOPT_EMULATION_BACKTRACE
TEST_CASE("the line that frees memory twice is named, or copies too much") {
  namespace emulation = gpuopt::emulation;
  const auto siteOf = [](int line) { return "memory_test.cu:" + std::to_string(line); };
  const auto endsWith = [](const std::string& text, const std::string& end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
  };
  int *first = nullptr, *second = nullptr;
  REQUIRE(cudaMalloc(&first, 16) == cudaSuccess);
  REQUIRE(cudaFree(first) == cudaSuccess);
  cudaError_t code = cudaFree(first);
  CHECK(endsWith(emulation::lastReport(), siteOf(__LINE__ - 1)));
  CHECK(code == cudaErrorInvalidValue);
  CHECK(endsWith(cudaGetErrorString(code), siteOf(__LINE__ - 3)));
  code = cudaFreeAsync(first, nullptr);
  CHECK(endsWith(emulation::lastReport(), siteOf(__LINE__ - 1)));
  REQUIRE(cudaMalloc(&second, 16) == cudaSuccess);
  code = cudaMemset(second, 0, 17);
  CHECK(endsWith(emulation::lastReport(), siteOf(__LINE__ - 1)));
  REQUIRE(cudaFree(second) == cudaSuccess);

  emulation::setQueueMode(emulation::QueueMode::deferred);
  REQUIRE(cudaMallocAsync(&second, 16, nullptr) == cudaSuccess);
  REQUIRE(cudaFreeAsync(second, nullptr) == cudaSuccess);
  REQUIRE(cudaFreeAsync(second, nullptr) == cudaSuccess);
  const int line = __LINE__ - 1;
  REQUIRE(cudaDeviceSynchronize() == cudaErrorInvalidValue);
  CHECK(endsWith(emulation::lastReport(), siteOf(line)));
  emulation::setQueueMode(emulation::QueueMode::immediate);
  cudaGetLastError();
}
#endif

TEST_CASE("sizes of zero, of too much, and pointers of others") {
  void* pointer = &pointer;
  REQUIRE(cudaMalloc(&pointer, 0) == cudaSuccess);
  REQUIRE(pointer == nullptr);
  REQUIRE(cudaFree(nullptr) == cudaSuccess);
  REQUIRE(cudaMalloc(&pointer, std::size_t{1} << 60) == cudaErrorMemoryAllocation);
  REQUIRE(cudaGetLastError() == cudaErrorMemoryAllocation);
  int local = 0;
  REQUIRE(cudaFree(&local) == cudaErrorInvalidValue);
  REQUIRE(cudaMallocHost(&pointer, 16) == cudaSuccess);
  REQUIRE(cudaFree(pointer) == cudaErrorInvalidValue);
  REQUIRE(cudaFreeHost(pointer) == cudaSuccess);
  REQUIRE(cudaFreeHost(pointer) == cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("copies and fills stay within an allocation") {
  std::vector<int> in(100), out(100, -1);
  std::iota(in.begin(), in.end(), 5);
  int* pointer = nullptr;
  REQUIRE(cudaMalloc(&pointer, 400) == cudaSuccess);
  REQUIRE(cudaMemcpy(pointer, in.data(), 400, cudaMemcpyHostToDevice) == cudaSuccess);
  REQUIRE(cudaMemcpyAsync(out.data(), pointer, 400, cudaMemcpyDeviceToHost, nullptr) == cudaSuccess);
  REQUIRE(out == in);
  REQUIRE(cudaMemset(pointer + 10, 0xAB, 40) == cudaSuccess);
  REQUIRE(cudaMemcpy(out.data(), pointer, 400, cudaMemcpyDefault) == cudaSuccess);
  REQUIRE((out[9] == 14 && out[10] == static_cast<int>(0xABABABAB) && out[19] == out[10] && out[20] == 25));

  REQUIRE(cudaMemcpy(pointer, in.data(), 401, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  REQUIRE(cudaMemcpy(out.data(), pointer + 1, 400, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  REQUIRE(cudaMemset(pointer + 99, 0, 5) == cudaErrorInvalidValue);
  REQUIRE(cudaMemcpy(nullptr, pointer, 4, cudaMemcpyDefault) == cudaErrorInvalidValue);
  REQUIRE(cudaMemcpy(out.data(), pointer, 4, static_cast<cudaMemcpyKind>(5)) == cudaErrorInvalidMemcpyDirection);
  REQUIRE(cudaFree(pointer) == cudaSuccess);
  cudaGetLastError();
}

TEST_CASE("copies of a matrix keep to their rows") {
  std::vector<int> in(4 * 6), out(4 * 5, -1);
  std::iota(in.begin(), in.end(), 0);
  REQUIRE(cudaMemcpy2D(out.data(), 5 * 4, in.data(), 6 * 4, 3 * 4, 4, cudaMemcpyDefault) == cudaSuccess);
  for (std::size_t row = 0; row < 4; ++row)
    for (std::size_t column = 0; column < 5; ++column)
      REQUIRE(out[row * 5 + column] == (column < 3 ? static_cast<int>(row * 6 + column) : -1));
  REQUIRE(cudaMemcpy2D(out.data(), 8, in.data(), 24, 12, 4, cudaMemcpyDefault) == cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("a pointer's kind is known inside its allocation only") {
  char *device = nullptr, *host = nullptr, *managed = nullptr, *mapped = nullptr;
  REQUIRE(cudaMallocAsync(&device, 100, nullptr) == cudaSuccess);
  REQUIRE(cudaHostAlloc(&host, 100, cudaHostAllocMapped) == cudaSuccess);
  REQUIRE(cudaMallocManaged(&managed, 100) == cudaSuccess);
  const auto typeOf = [](const void* pointer) {
    cudaPointerAttributes attributes{};
    REQUIRE(cudaPointerGetAttributes(&attributes, pointer) == cudaSuccess);
    return attributes.type;
  };
  REQUIRE(typeOf(device + 99) == cudaMemoryTypeDevice);
  REQUIRE(typeOf(device + 100) == cudaMemoryTypeUnregistered);
  REQUIRE(typeOf(host) == cudaMemoryTypeHost);
  REQUIRE(typeOf(managed + 50) == cudaMemoryTypeManaged);
  REQUIRE(typeOf(&device) == cudaMemoryTypeUnregistered);
  REQUIRE(cudaHostGetDevicePointer(&mapped, host, 0) == cudaSuccess);
  REQUIRE(mapped == host);
  REQUIRE(cudaFreeAsync(device, nullptr) == cudaSuccess);
  REQUIRE(cudaFreeHost(host) == cudaSuccess);
  REQUIRE(cudaFree(managed) == cudaSuccess);
  REQUIRE(typeOf(device) == cudaMemoryTypeUnregistered);
}

TEST_CASE("variables and registered host memory are known, too") {
  const auto typeOf = [](const void* pointer) {
    cudaPointerAttributes attributes{};
    REQUIRE(cudaPointerGetAttributes(&attributes, pointer) == cudaSuccess);
    return attributes.type;
  };
  REQUIRE(typeOf(&managedVariable[1]) == cudaMemoryTypeManaged);
  void* symbol = nullptr;
  REQUIRE(cudaGetSymbolAddress(&symbol, deviceVariable) == cudaSuccess);
  REQUIRE(typeOf(&deviceVariable[3]) == cudaMemoryTypeDevice);
  REQUIRE(cudaFree(symbol) == cudaErrorInvalidValue);

  std::vector<int> host(100);
  REQUIRE(cudaHostRegister(host.data() + 10, 40, cudaHostRegisterDefault) == cudaSuccess);
  REQUIRE(cudaHostRegister(host.data() + 10, 40, cudaHostRegisterDefault) == cudaErrorHostMemoryAlreadyRegistered);
  REQUIRE(typeOf(&host[19]) == cudaMemoryTypeHost);
  REQUIRE(typeOf(&host[20]) == cudaMemoryTypeUnregistered);
  REQUIRE(cudaFreeHost(host.data() + 10) == cudaErrorInvalidValue);
  REQUIRE(cudaHostUnregister(host.data() + 10) == cudaSuccess);
  REQUIRE(cudaHostUnregister(host.data() + 10) == cudaErrorHostMemoryNotRegistered);
  REQUIRE(typeOf(&host[19]) == cudaMemoryTypeUnregistered);
  cudaGetLastError();
}

TEST_CASE("the driver tells where an allocation or registration begins and ends") {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status{};
  REQUIRE(cudaGetDriverEntryPointByVersion("cuNothing", &found, 12000, cudaEnableDefault, &status) == cudaSuccess);
  REQUIRE((found == nullptr && status == cudaDriverEntryPointSymbolNotFound));
  REQUIRE(cudaGetDriverEntryPointByVersion("cuPointerGetAttributes", &found, 12000, cudaEnableDefault, &status) ==
          cudaSuccess);
  REQUIRE((found == reinterpret_cast<void*>(cuPointerGetAttributes) && status == cudaDriverEntryPointSuccess));
  const auto rangeOf = [](const void* pointer) {
    std::pair<const void*, std::size_t> range{&pointer, 1};
    CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_RANGE_SIZE, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR};
    void* data[] = {&range.second, &range.first};
    REQUIRE(cuPointerGetAttributes(2, attributes, data, reinterpret_cast<CUdeviceptr>(pointer)) == CUDA_SUCCESS);
    return range;
  };
  char *device = nullptr, *host = nullptr;
  REQUIRE(cudaMalloc(&device, 100) == cudaSuccess);
  REQUIRE(cudaMallocHost(&host, 50) == cudaSuccess);
  std::vector<char> registered(300);
  REQUIRE(cudaHostRegister(registered.data() + 100, 20, cudaHostRegisterDefault) == cudaSuccess);
  REQUIRE(rangeOf(device + 99) == std::pair<const void*, std::size_t>(device, 100));
  REQUIRE(rangeOf(host + 1) == std::pair<const void*, std::size_t>(host, 50));
  REQUIRE(rangeOf(&registered[119]) == std::pair<const void*, std::size_t>(&registered[100], 20));
  REQUIRE(rangeOf(&registered[120]) == std::pair<const void*, std::size_t>(nullptr, 0));
  REQUIRE(cudaHostUnregister(registered.data() + 100) == cudaSuccess);
  REQUIRE(cudaFreeHost(host) == cudaSuccess);
  REQUIRE(cudaFree(device) == cudaSuccess);
}

TEST_CASE("copies fail of memory that is registered in part, or twice") {
  char* device = nullptr;
  REQUIRE(cudaMalloc(&device, 300) == cudaSuccess);
  std::vector<char> host(300, 5);
  const auto copies = [&](std::size_t from, std::size_t to) {
    const bool isUploaded =
        cudaMemcpyAsync(device, host.data() + from, to - from, cudaMemcpyHostToDevice, nullptr) == cudaSuccess;
    const bool isDownloaded = cudaMemcpy(host.data() + from, device, to - from, cudaMemcpyDeviceToHost) == cudaSuccess;
    REQUIRE(isUploaded == isDownloaded);
    cudaGetLastError();
    return isUploaded;
  };
  REQUIRE(cudaHostRegister(host.data() + 100, 50, cudaHostRegisterDefault) == cudaSuccess);
  REQUIRE(cudaHostRegister(host.data() + 150, 50, cudaHostRegisterDefault) == cudaSuccess);
  REQUIRE((copies(0, 100) && copies(100, 150) && copies(150, 200) && copies(200, 300)));
  REQUIRE_FALSE(copies(0, 101));
  REQUIRE_FALSE(copies(0, 300));
  REQUIRE_FALSE(copies(199, 201));
  REQUIRE_FALSE(copies(149, 151));
  REQUIRE(cudaHostUnregister(host.data() + 150) == cudaSuccess);
  REQUIRE(cudaHostUnregister(host.data() + 100) == cudaSuccess);
  REQUIRE(copies(0, 300));
  REQUIRE(cudaFree(device) == cudaSuccess);
}

TEST_CASE("free memory shrinks and grows with the allocations") {
  std::size_t before = 0, during = 0, after = 0, total = 0;
  REQUIRE(cudaMemGetInfo(&before, &total) == cudaSuccess);
  void* pointer = nullptr;
  REQUIRE(cudaMalloc(&pointer, 4096) == cudaSuccess);
  REQUIRE(cudaMemGetInfo(&during, &total) == cudaSuccess);
  REQUIRE(cudaFree(pointer) == cudaSuccess);
  REQUIRE(cudaMemGetInfo(&after, &total) == cudaSuccess);
  REQUIRE(before - during == 4096);
  REQUIRE(after == before);
}

TEST_CASE("memory pools remember their attributes") {
  cudaMemPool_t pool = nullptr, standard = nullptr;
  const cudaMemPoolProps properties{};
  REQUIRE(cudaMemPoolCreate(&pool, &properties) == cudaSuccess);
  REQUIRE(cudaDeviceGetDefaultMemPool(&standard, 0) == cudaSuccess);
  std::uint64_t threshold = 123456789012345, read = 0, other = 1;
  REQUIRE(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold) == cudaSuccess);
  REQUIRE(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &read) == cudaSuccess);
  REQUIRE(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &other) == cudaSuccess);
  REQUIRE((read == threshold && other == 0));
  int* pointer = nullptr;
  REQUIRE(cudaMallocFromPoolAsync(&pointer, 40, pool, nullptr) == cudaSuccess);
  REQUIRE(cudaFreeAsync(pointer, nullptr) == cudaSuccess);
  REQUIRE(cudaMemPoolDestroy(pool) == cudaSuccess);
  REQUIRE(cudaMemPoolDestroy(standard) == cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("device and constant variables are reached by their names") {
  const float values[] = {0.5f, 2.0f, 4.0f};
  const int seven = 7;
  REQUIRE(cudaMemcpyToSymbol(factors, values, sizeof values) == cudaSuccess);
  REQUIRE(cudaMemcpyToSymbol(deviceVariable, &seven, sizeof seven, 4) == cudaSuccess);
  REQUIRE(cudaMemcpyToSymbol(deviceVariable, values, sizeof values, 8) == cudaErrorInvalidValue);
  Managed<float> out(3);
  REQUIRE(launch(scaleVariable, 1, 3, out.data()) == cudaSuccess);
  REQUIRE(out.values() == std::vector<float>{0.5f, 14.0f, 12.0f});
  int read = 0;
  REQUIRE(cudaMemcpyFromSymbol(&read, deviceVariable, sizeof read, 12) == cudaSuccess);
  REQUIRE(read == 4);
  cudaGetLastError();
}

}  // namespace memory_test
