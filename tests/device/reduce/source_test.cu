/// How a reduction decides to read its input: 16 bytes at a time exactly where that is possible. (A GPU would
/// fault on a misaligned vector, the emulated device would not.)
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/reduction_data.cuh"

#include <gpuopt/device/reduce/source.cuh>

#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gpuopt::test::source_test {
namespace {

struct Ignore {
  template <class T, class U>
  __host__ __device__ int operator()(const T&, const U&) const {
    return 0;
  }
};

struct Reading {
  bool vectors;      // 16 bytes at a time
  std::size_t head;  // elements before the first step
};

bool isAligned(const void* address) { return reinterpret_cast<std::uintptr_t>(address) % 16 == 0; }

template <bool FIXED, class Source>
Reading readingOf(const Source& source, std::size_t n) {
  if constexpr (detail::mayBeMisaligned<FIXED, Source>)
    if (source.head < n && source.isMisaligned()) return {false, source.elementwise().head};
  return {Source::VECTORS, source.head};
}

template <bool FIXED, class T>
Reading readingOf(const T* in, std::size_t n) {
  return readingOf<FIXED>(detail::sourceOf<FIXED>("test", n, Identity{}, in), n);
}

template <bool FIXED, class T, class U>
Reading readingOf(const T* in1, const U* in2, std::size_t n) {
  return readingOf<FIXED>(detail::sourceOf<FIXED>("test", n, Ignore{}, in1, in2), n);
}

// In device memory aligned to 256 bytes.
template <class T>
const T* at(std::size_t bytes) {
  static const DeviceArray<unsigned char> memory(8192);
  return reinterpret_cast<const T*>(memory.data() + bytes);
}

TEMPLATE_TEST_CASE("An array is read by vectors wherever its elements reach a boundary", "[source]", signed char, short,
                   float, double, Bytes3, Float3, Words6) {
  constexpr std::size_t n = 200;
  for (std::size_t offset = 0; offset < 256; offset += alignof(TestType)) {
    const TestType* in = at<TestType>(offset);
    bool reachable = false;
    for (std::size_t i = 0; i < 16; ++i) reachable = reachable || isAligned(in + i);
    INFO("offset " << offset);
    const Reading reading = readingOf<false>(in, n);
    REQUIRE(reading.vectors == reachable);
    REQUIRE((!reading.vectors || isAligned(in + reading.head)));
    REQUIRE(reading.head < 128);
    REQUIRE(readingOf<false>(in, 1).head <= 1);
    const Reading fixed = readingOf<true>(in, n);
    REQUIRE(fixed.head == 0);
    REQUIRE(fixed.vectors == isAligned(in));
  }
}

template <class T, class U>
void checkPair() {
  constexpr std::size_t n = 200;
  for (std::size_t offset1 = 0; offset1 < 160; offset1 += alignof(T))
    for (std::size_t offset2 = 0; offset2 < 160; offset2 += alignof(U)) {
      const T* in1 = at<T>(offset1);
      const U* in2 = at<U>(offset2);
      INFO("offsets " << offset1 << " and " << offset2);
      const Reading reading = readingOf<false>(in1, in2, n), fixed = readingOf<true>(in1, in2, n);
      REQUIRE((!reading.vectors || (isAligned(in1 + reading.head) && isAligned(in2 + reading.head))));
      REQUIRE(fixed.head == 0);
      REQUIRE(fixed.vectors == (isAligned(in1) && isAligned(in2)));
      if (offset1 == offset2 && std::is_same_v<T, U>) REQUIRE(reading.vectors);
    }
}

TEST_CASE("Two arrays are read by vectors only where both reach a boundary together", "[source]") {
  checkPair<float, float>();
  checkPair<float, double>();
  checkPair<signed char, short>();
  checkPair<double, Bytes3>();
  checkPair<__half, float>();
}

}  // namespace
}  // namespace gpuopt::test::source_test
