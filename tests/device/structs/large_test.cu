/// Arrays of more than 2^32 structures or bytes on a GPU. On the emulated device, where they would take
/// hours, the same calls at a small scale.
// SPDX-License-Identifier: MIT
#include "support/any_bits.cuh"
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/matrix_data.cuh"
#include "support/struct_data.cuh"

#include <gpuopt/struct_io.cuh>

#include <cstddef>
#include <cstdint>

namespace gpuopt::test::large_test {
namespace {

// 2^31 on a GPU, 2^11 on the emulated device.
constexpr std::size_t TWO31 = std::size_t{1} << (emulated ? 11 : 31);

// Distinguishes indices, including those with the same low 32 bits.
struct Marked {
  template <class T>
  __host__ __device__ T operator()(const T& value, std::size_t i) const {
    T marked = value;
    marked.bytes[0] = static_cast<unsigned char>(marked.bytes[0] + hashOf(i));
    return marked;
  }
};

struct MarkedInPlace {
  template <class T>
  __host__ __device__ void operator()(T& value, std::size_t i) const {
    value = Marked{}(value, i);
  }
};

template <class T>
struct IsMarked {
  const T* data;

  __host__ __device__ bool operator()(std::size_t i) const { return sameBits(data[i], Marked{}(AnyBits::at<T>(i), i)); }
};

template <class T>
void paint(Inspector& inspector, DeviceArray<T>& array) {
  static_cast<void>(inspector.firstFailure(array.size(), Paint<AnyBits, T>{array.data(), 0}));
}

template <class T>
void checkInPlace(std::size_t n) {
  INFO(n << " structures of " << sizeof(T) << " bytes");
  if (!hasRoom(n * sizeof(T))) return;
  DeviceArray<T> data(n, 1);
  Inspector inspector;
  paint(inspector, data);
  forEachStruct(data.data(), n, MarkedInPlace{});
  CHECK(inspector.firstFailure(n, IsMarked<T>{data.data()}) == n);
}

template <class T>
void checkTransform(std::size_t n) {
  INFO(n << " structures of " << sizeof(T) << " bytes");
  if (!hasRoom(2 * n * sizeof(T))) return;
  DeviceArray<T> in(n), out(n, 1);
  Inspector inspector;
  paint(inspector, in);
  transformStructs(in.data(), n, out.data(), Marked{});
  CHECK(inspector.firstFailure(n, IsMarked<T>{out.data()}) == n);
}

TEST_CASE("More than 2^31 bytes of structures", "[struct][large]") {
  checkInPlace<Blob<28, 4>>(TWO31 / 14);
  checkInPlace<Blob<256, 16>>(TWO31 / 100);
  checkTransform<Blob<28, 4>>(TWO31 / 14);
  checkTransform<Blob<63>>(TWO31 / 31);
}

TEST_CASE("More than 2^32 structures", "[struct][large]") {
  checkInPlace<Blob<1>>(2 * TWO31 + 77);
  checkInPlace<Blob<3>>(2 * TWO31 + 77);
  checkTransform<Blob<1>>(2 * TWO31 + 77);
}

struct LowBytes {
  __host__ __device__ Blob<3> operator()(std::int64_t square, std::size_t i) const {
    const std::uint64_t hash = hashOf(static_cast<std::uint64_t>(square) + i);
    return {{static_cast<unsigned char>(hash), static_cast<unsigned char>(hash >> 8),
             static_cast<unsigned char>(hash >> 16)}};
  }
};

struct AreLowBytes {
  const Blob<3>* data;

  __host__ __device__ bool operator()(std::size_t i) const {
    return sameBits(data[i], LowBytes{}(Squares{}[static_cast<std::ptrdiff_t>(i)], i));
  }
};

TEST_CASE("More than 2^32 structures of an iterator", "[struct][large]") {
  const std::size_t n = 2 * TWO31 + 77;
  if (!hasRoom(n * sizeof(Blob<3>))) return;
  DeviceArray<Blob<3>> out(n);
  transformStructs(Squares{}, n, out.data(), LowBytes{});
  CHECK(Inspector().firstFailure(n, AreLowBytes{out.data()}) == n);
}

// A permutation of 0 to size - 1 for an odd factor and a size that is a power of two.
__host__ __device__ std::uint64_t permuted(std::uint64_t i, std::uint64_t size) {
  return (i * 0x9E3779B1u + 12345) & (size - 1);
}

template <class Index>
struct Permute {
  Index* indices;
  std::uint64_t size;

  __host__ __device__ bool operator()(std::size_t i) const {
    indices[i] = static_cast<Index>(permuted(i, size));
    return true;
  }
};

template <class T>
struct IsGathered {
  const T* data;
  std::uint64_t size;

  __host__ __device__ bool operator()(std::size_t i) const {
    return sameBits(data[i], AnyBits::at<T>(permuted(i, size)));
  }
};

template <class T>
struct IsScattered {
  const T* data;
  std::uint64_t size;

  __host__ __device__ bool operator()(std::size_t i) const {
    return sameBits(data[permuted(i, size)], AnyBits::at<T>(i));
  }
};

// Gathers and scatters n of `count` structures; `count` is a power of two.
template <class T, class Index>
void checkIndexed(std::size_t n, std::size_t count) {
  INFO(n << " of " << count << " structures of " << sizeof(T) << " bytes");
  if (!hasRoom((n + count) * sizeof(T) + n * sizeof(Index))) return;
  DeviceArray<T> all(count), some(n);
  DeviceArray<Index> indices(n);
  Inspector inspector;
  paint(inspector, all);
  static_cast<void>(inspector.firstFailure(n, Permute<Index>{indices.data(), count}));
  gatherStructs(all.data(), indices.data(), n, some.data());
  CHECK(inspector.firstFailure(n, IsGathered<T>{some.data(), count}) == n);
  paint(inspector, some);
  scatterStructs(some.data(), indices.data(), n, all.data());
  CHECK(inspector.firstFailure(n, IsScattered<T>{all.data(), count}) == n);
}

TEST_CASE("More than 2^32 structures, or atoms, by index", "[struct][large]") {
  checkIndexed<Blob<3>, unsigned long long>(TWO31 / 16, 4 * TWO31);
  checkIndexed<Blob<5>, unsigned>(2 * TWO31 / 5 + 77, TWO31);
  checkIndexed<Blob<1>, std::uint64_t>(2 * TWO31 + 77, 4 * TWO31);
  checkIndexed<Blob<28, 4>, int>(TWO31 / 16 + 77, TWO31 / 8);
}

}  // namespace
}  // namespace gpuopt::test::large_test
