/// Asynchronous copies: the pipeline's primitives, and copies by a group at any address.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <cstddef>
#include <string>

namespace async_copies_test {

namespace cg = cooperative_groups;

// Each thread copies BYTES, the last `zeros` of which become zeros.
template <unsigned BYTES>
__global__ void copyWithZeros(const unsigned char* in, unsigned char* out, unsigned zeros) {
  alignas(16) __shared__ unsigned char staged[32 * BYTES];
  unsigned char* const own = staged + BYTES * threadIdx.x;
  __pipeline_memcpy_async(own, in + BYTES * threadIdx.x, BYTES, zeros);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  for (unsigned i = 0; i < BYTES; ++i) out[BYTES * threadIdx.x + i] = own[i];
}

template <unsigned BYTES>
void checkZeros() {
  Managed<unsigned char> in(32 * BYTES), out(32 * BYTES, static_cast<unsigned char>(99));
  for (std::size_t i = 0; i < 32 * BYTES; ++i) in[i] = static_cast<unsigned char>(i % 251 + 1);
  for (unsigned zeros = 0; zeros <= BYTES; ++zeros) {
    CAPTURE(BYTES, zeros);
    REQUIRE(launch(copyWithZeros<BYTES>, 1, 32, in.data(), out.data(), zeros) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    bool isRight = true;
    for (std::size_t i = 0; i < 32 * BYTES; ++i) isRight = isRight && out[i] == (i % BYTES < BYTES - zeros ? in[i] : 0);
    REQUIRE(isRight);
  }
}

TEST_CASE("a thread's asynchronous copies of 4, 8 and 16 bytes, filled up with zeros") {
  checkZeros<4>();
  checkZeros<8>();
  checkZeros<16>();
}

__global__ void copyOf(const unsigned char* in, std::size_t bytes, std::size_t zeros) {
  alignas(16) __shared__ unsigned char staged[64];
  __pipeline_memcpy_async(staged, in, bytes, zeros);
}

void checkTrap(std::size_t bytes, std::size_t zeros) {
  CAPTURE(bytes, zeros);
  Managed<unsigned char> in(64);
  launch(copyOf, 1, 1, in.data(), bytes, zeros);
  REQUIRE(cudaGetLastError() == cudaErrorLaunchFailure);
  REQUIRE(gpuopt::emulation::lastReport().find("__trap") != std::string::npos);
}

TEST_CASE("an asynchronous copy of another size fails") {
  for (const std::size_t bytes : {0, 1, 12, 32}) checkTrap(bytes, 0);
  checkTrap(8, 9);
}

// A block copies `bytes` bytes as elements of type T; guard bytes around them stay.
template <class T>
__global__ void copyAsGroup(const unsigned char* in, unsigned char* out, unsigned begin, unsigned bytes) {
  alignas(16) __shared__ unsigned char staged[256];
  const cg::thread_block block = cg::this_thread_block();
  for (unsigned i = threadIdx.x; i < sizeof staged; i += blockDim.x) staged[i] = 0xEE;
  block.sync();
  cg::memcpy_async(block, reinterpret_cast<T*>(staged + begin), reinterpret_cast<const T*>(in), bytes);
  cg::wait(block);
  for (unsigned i = threadIdx.x; i < sizeof staged; i += blockDim.x) out[i] = staged[i];
}

template <class T>
void checkGroup(unsigned from, unsigned begin, unsigned bytes) {
  CAPTURE(sizeof(T), from, begin, bytes);
  Managed<unsigned char> in(256), out(256);
  for (std::size_t i = 0; i < 256; ++i) in[i] = static_cast<unsigned char>(i * 7 % 200);
  REQUIRE(launch(copyAsGroup<T>, 1, 24, in.data() + from, out.data(), begin, bytes) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  bool isRight = true;
  for (unsigned i = 0; i < 256; ++i) {
    const bool isCopied = begin <= i && i < begin + bytes;
    isRight = isRight && out[i] == (isCopied ? in[from + i - begin] : 0xEE);
  }
  REQUIRE(isRight);
}

TEST_CASE("a group copies any bytes of any address") {
  for (const unsigned from : {0u, 1u, 2u, 3u, 4u, 8u, 15u})
    for (const unsigned begin : {0u, 1u, 2u, 4u, 9u, 16u})
      for (const unsigned bytes : {0u, 1u, 3u, 16u, 17u, 100u}) checkGroup<char>(from, begin, bytes);
  for (const unsigned begin : {0u, 4u, 8u, 16u}) {
    checkGroup<short>(2, begin, 62);
    checkGroup<int>(4, begin, 100);
    checkGroup<double>(8, begin / 8 * 8, 96);
    checkGroup<int4>(16, begin / 16 * 16, 160);
  }
}

}  // namespace async_copies_test
