/// Conversions of more than 2^32 structures or bytes on a GPU. On the emulated device, where they would take
/// hours, the same calls at a small scale.
// SPDX-License-Identifier: MIT
#include "support/any_bits.cuh"
#include "support/catch.hpp"
#include "support/device_array.cuh"

#include <gpuopt/soa.cuh>

#include <cstddef>
#include <cstdint>

namespace gpuopt::test::convert_large_test {
namespace {

// 2^31 on a GPU, 2^11 on the emulated device.
constexpr std::size_t TWO31 = std::size_t{1} << (emulated ? 11 : 31);

struct Colour {
  unsigned char red, green, blue;
};

struct Mixed {
  double energy;
  float mass[3];
  short kind, place;
};

template <class T, class LAYOUT>
struct IsConverted {
  SoaView<const T, LAYOUT> soa;

  __host__ __device__ bool operator()(std::size_t i) const { return sameBits(soa.load(i), AnyBits::at<T>(i)); }
};

// To columns and back.
template <class T, class LAYOUT>
void checkConversions(std::size_t n) {
  INFO(n << " structures of " << sizeof(T) << " bytes");
  if (!hasRoom(2 * n * sizeof(T))) return;
  DeviceArray<T> aos(n);
  SoaVector<T, LAYOUT> columns(n);
  Inspector inspector;
  static_cast<void>(inspector.firstFailure(n, Paint<AnyBits, T>{aos.data(), 0}));
  toSoa(aos.data(), n, columns.view());
  CHECK(inspector.firstFailure(n, IsConverted<T, LAYOUT>{columns.view()}) == n);
  static_cast<void>(inspector.firstFailure(n, Paint<AnyBits, T>{aos.data(), n}));
  toAos(columns.view(), aos.data());
  CHECK(inspector.firstFailure(n, IsPainted<AnyBits, T>{aos.data(), 0}) == n);
}

TEST_CASE("More than 2^31 bytes of structures to columns and back", "[soa][large]") {
  checkConversions<Mixed, SoaColumns>(TWO31 / 12 + 1);
  checkConversions<Mixed, SoaTiles<32>>(TWO31 / 12 + 1);
}

TEST_CASE("More than 2^32 structures to columns and back", "[soa][large]") {
  checkConversions<Colour, SoaColumns>(2 * TWO31 + 77);
}

}  // namespace
}  // namespace gpuopt::test::convert_large_test
