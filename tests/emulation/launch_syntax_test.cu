/// Launches with <<<>>> and extern __shared__ arrays, which rewrite_launches.py makes C++ of.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "launch_syntax.cuh"
#include "support/catch.hpp"

#include <cstdint>
#include <cstring>
#include <string>

extern __shared__ float sharedByAll[];

namespace launch_syntax_test {

constexpr int BLOCK = 64;

__global__ void fillIndices(int* out, int first) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = first + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

__global__ void storeShape(int* out) {
  if (threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y + blockIdx.z != 0) return;
  const unsigned sizes[] = {gridDim.x, gridDim.y, gridDim.z, blockDim.x, blockDim.y, blockDim.z};
  for (int i = 0; i < 6; ++i) out[i] = static_cast<int>(sizes[i]);
}

template <int SIZE, class T>
__global__ void reverse(T* data) {
  extern __shared__ __align__(16) T reversed[];
  reversed[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = reversed[SIZE - 1 - threadIdx.x];
}

__global__ void storeOptional(int* out, const int* in, unsigned addend = 7) {
  *out = static_cast<int>(addend) + (in == nullptr ? 1000 : *in);
}

__global__ void storeKind(int* out) { *out = 1; }
__global__ void storeKind(float* out) { *out = 2; }

struct Pair {
  int a, b;
};
__global__ void storePair(int* out, Pair pair) { *out = 10 * pair.a + pair.b; }

template <int STEP>
struct Steps {
  template <class T>
  static __global__ void advance(T* data) {
    data[threadIdx.x] += STEP;
  }
};

void requireIndices(Managed<int>& data, int first, int count) {
  for (int i = 0; i < count; ++i) REQUIRE(data[static_cast<std::size_t>(i)] == first + i);
}

TEST_CASE("configurations of two to four arguments, of numbers and of dim3") {
  Managed<int> out(6);
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  const auto shape = [&out] { return out.values(); };
  storeShape<<<3, 32>>>(out.data());
  CHECK(shape() == std::vector<int>{3, 1, 1, 32, 1, 1});
  storeShape<<<dim3(2, 3), dim3(4, 5, 6), 16>>>(out.data());
  CHECK(shape() == std::vector<int>{2, 3, 1, 4, 5, 6});
  storeShape<<<{2, 1, 4}, {8, 2}, 0, stream>>>(out.data());
  CHECK(shape() == std::vector<int>{2, 1, 4, 8, 2, 1});
  const std::size_t n = 1000;
  // clang-format off
  storeShape  // a comment, and lines between
      <<<(n + BLOCK - 1) / BLOCK,
         n >> 4 /* 62 */>>>
      (out.data());
  // clang-format on
  CHECK(shape() == std::vector<int>{16, 1, 1, 62, 1, 1});
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("kernels named in every way") {
  Managed<int> data(BLOCK);
  void (*const pointers[])(int*, int) = {fillIndices, &fillIndices};
  fillIndices<<<2, BLOCK / 2>>>(data.data(), 1);
  requireIndices(data, 1, BLOCK);
  ::launch_syntax_test::fillIndices<<<1, BLOCK>>>(data.data(), 2);
  requireIndices(data, 2, BLOCK);
  pointers[1]<<<1, BLOCK>>>(data.data(), 3);
  requireIndices(data, 3, BLOCK);
  (*pointers[0])<<<1, BLOCK>>>(data.data(), 4);
  requireIndices(data, 4, BLOCK);
  if (data[0] == 4) (*pointers)<<<1, BLOCK>>>(data.data(), 5);
  requireIndices(data, 5, BLOCK);
// clang-format off
#define LAUNCH_SYNTAX_TEST_RUN(kernel, ...) \
  kernel<<<1, BLOCK>>>                      \
      (__VA_ARGS__)
  // clang-format on
  LAUNCH_SYNTAX_TEST_RUN(fillIndices, data.data(), 6);
#undef LAUNCH_SYNTAX_TEST_RUN
  requireIndices(data, 6, BLOCK);
  Steps<2>::template advance<int><<<1, BLOCK>>>(data.data());
  Steps<(3 > 2) ? 4 : 0>::advance<<<1, BLOCK>>>(data.data());
  requireIndices(data, 12, BLOCK);
}

// A class that keeps a pointer to a kernel, and a constant without a definition.
struct Filler {
  void (*kernel)(int*, int);
  static const int COUNT = BLOCK;

  void fill(int* data) const {
    kernel<<<1, COUNT>>>(data, 7);
    scaleElements<<<1, COUNT>>>(data, 2, COUNT);
    this->kernel<<<dim3(1), COUNT>>>(data, COUNT);
  }
};

template <class... Addends>
__global__ void storeSum(int* out, Addends... addends) {
  *out = (0 + ... + addends);
}

template <class... Addends>
void launchSums(int* out, Addends... addends) {
  storeSum<Addends...><<<1, 1>>>(out, addends...);
  storeSum<<<1, 1>>>(out + 1, addends..., 100);
}

TEST_CASE("launches in members of a class, and of packs of arguments") {
  Managed<int> data(BLOCK);
  Filler{fillIndices}.fill(data.data());
  requireIndices(data, BLOCK, BLOCK);
  launchSums(data.data(), 3, 4, 5);
  CHECK((data[0] == 12 && data[1] == 112));
}

template <class T>
void launchTemplates(T* data) {
  constexpr int SIZE = BLOCK;
  const int size = BLOCK;
  reverse<SIZE, T><<<1, SIZE, SIZE * sizeof(T)>>>(data);
  reverse<size><<<1, size, size * sizeof(T)>>>(data);  // T is deduced
  reverse<SIZE, T><<<1, SIZE, SIZE * sizeof(T)>>>(data);
}

TEST_CASE("templates launch templates, with all arguments or with deduced ones") {
  Managed<int> ints(BLOCK);
  Managed<double> doubles(BLOCK);
  for (std::size_t i = 0; i < BLOCK; ++i) ints[i] = static_cast<int>(i), doubles[i] = static_cast<double>(i) / 2;
  for (const auto order : allOrders) {
    const OrderScope scope(order);
    launchTemplates(ints.data());
    launchTemplates(doubles.data());
  }
  for (std::size_t i = 0; i < BLOCK; ++i) {
    CHECK(ints[i] == BLOCK - 1 - static_cast<int>(i));
    CHECK(doubles[i] == (BLOCK - 1 - static_cast<double>(i)) / 2);
  }
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("arguments convert as those of a function, and are evaluated once") {
  Managed<int> out(1);
  storeOptional<<<1, 1>>>(out.data(), nullptr, 5);
  CHECK(out[0] == 1005);
  storeOptional<<<1, 1>>>(out.data(), 0, 5);
  CHECK(out[0] == 1005);
  storeOptional<<<1, 1>>>(out.data(), out.data());
  CHECK(out[0] == 1012);
  storePair<<<1, 1>>>(out.data(), {4, 2});
  CHECK(out[0] == 42);
  int calls = 0;
  const auto next = [&calls] { return ++calls; };
  Managed<int> data(BLOCK);
  fillIndices<<<1, BLOCK>>>(data.data(), next());
  scaleElements<<<1, BLOCK>>>(data.data(), next(), BLOCK);
  CHECK(calls == 2);
  CHECK(data[3] == 8);
}

TEST_CASE("the call chooses among overloaded kernels") {
  Managed<int> whole(1);
  Managed<float> real(1);
  storeKind<<<1, 1>>>(whole.data());
  storeKind<<<1, 1>>>(real.data());
  CHECK(whole[0] == 1);
  CHECK(real[0] == 2.0f);
}

TEST_CASE("a launch that is deferred keeps its arguments") {
  Managed<int> data(BLOCK);
  const DeferredScope scope;
  for (int first = 3; first <= 5; ++first) fillIndices<<<1, BLOCK>>>(data.data(), first);
  for (int factor = 2; factor <= 3; ++factor) scaleElements<<<1, BLOCK>>>(data.data(), factor, BLOCK);
  CHECK(data[0] != 30);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(data[0] == 30);
  CHECK(data[1] == 36);
}

TEST_CASE("a launch from a header, included twice") {
  Managed<float> data(100, 3.0f);
  scaleAll(data.data(), 2.0f, 99);
  CHECK(data[98] == 6.0f);
  CHECK(data[99] == 3.0f);
}

__global__ void f() {}

TEST_CASE("the last error has what is wrong with a launch") {
  Managed<int> data(BLOCK);
  fillIndices<<<1, 1025>>>(data.data(), 0);
  CHECK(gpuopt::emulation::lastReport().find("block size (1025, 1, 1) is not within") != std::string::npos);
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  scaleElements<<<0, 32>>>(data.data(), 2, 0);
  CHECK(gpuopt::emulation::lastReport() ==
        "launch of scaleElements: grid (0, 1, 1) is not within 1 to (2147483647, 65535, 65535)");
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  f<<<1, 1025>>>();
#ifdef GPUOPT_EMULATION_BACKTRACE
  CHECK(gpuopt::emulation::lastReport().find("launch of launch_syntax_test::f(): block") == 0);
#else
  CHECK(gpuopt::emulation::lastReport().find("launch of f: block") == 0);
#endif
  fillIndices<<<1, 1, 48 * 1024 + 1>>>(data.data(), 0);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaSuccess);
}

__global__ void storeSharedByAll(float* out) {
  sharedByAll[threadIdx.x] = static_cast<float>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = sharedByAll[BLOCK - 1 - threadIdx.x];
}

template <class T>
struct SharedArray {
  static __device__ T* get() {
    extern __shared__ int bytesOfAnyType[];
    return reinterpret_cast<T*>(bytesOfAnyType);
  }
};

template <class T>
__global__ void rotate(T* data) {
  volatile T* const shared = SharedArray<T>::get();
  extern volatile __shared__ T tile[][BLOCK];
  shared[BLOCK + threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = tile[1][(threadIdx.x + 1) % BLOCK];
}

TEST_CASE("extern __shared__ arrays of every kind are the dynamic shared memory") {
  Managed<float> out(BLOCK);
  storeSharedByAll<<<1, BLOCK, BLOCK * sizeof(float)>>>(out.data());
  for (std::size_t i = 0; i < BLOCK; ++i) CHECK(out[i] == static_cast<float>(BLOCK - 1 - i));
  rotate<<<1, BLOCK, 2 * BLOCK * sizeof(float)>>>(out.data());
  CHECK(out[0] == static_cast<float>(BLOCK - 2));
  CHECK(out[BLOCK - 1] == static_cast<float>(BLOCK - 1));
  Managed<short> shorts(BLOCK);
  for (std::size_t i = 0; i < BLOCK; ++i) shorts[i] = static_cast<short>(i);
  rotate<<<1, BLOCK, 2 * BLOCK * sizeof(short)>>>(shorts.data());
  CHECK(shorts[5] == 6);
}

TEST_CASE("what only looks like a launch is left alone") {
  const char* const text = "fillIndices<<<1, 1>>>(data)";
  const char* const raw =
      R"x(fillIndices<<<1, 1>>>("data") extern __shared__ int a[];)x";  // fillIndices<<<1, 1>>>(data)
  CHECK(std::strlen(text) == 27);
  CHECK(std::strlen(raw) == 56);
  const std::vector<std::vector<std::vector<int>>> nested(1 << 3 >> 1);
  CHECK(nested.size() == 4);
}

TEST_CASE("lines keep their numbers and their files") {
  CHECK(__LINE__ == 280);
  CHECK(std::string(__FILE__).find("tests/emulation/launch_syntax_test.cu") != std::string::npos);
  CHECK(lineOfHeader() == 18);
}

}  // namespace launch_syntax_test
