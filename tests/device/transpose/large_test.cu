/// Transposes beyond what 32 bits count, and grids of more than 65535 tiles: on a GPU. The emulated device,
/// on which they would take hours, sees the same shapes at a small scale.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/transpose_data.cuh"

#include <gpuopt/transpose.cuh>

#include <cstddef>
#include <vector>

namespace gpuopt::test::large_test {
namespace {

// 2^31 where there is room, 2^11 elsewhere.
constexpr std::size_t TWO31 = std::size_t{1} << (emulated ? 11 : 31);
constexpr std::size_t ROOT = emulated ? 46 : 46341;  // of TWO31, rounded up

template <class T>
void checkLarge(const std::vector<Case>& cases) {
  std::size_t elements = 0;
  for (const Case& c : cases) {
    const std::size_t in = c.batch * (c.rows * (c.cols + c.inGap) + c.inSkip) + c.inOffset;
    const std::size_t out = c.batch * (c.cols * (c.rows + c.outGap) + c.outSkip) + c.outOffset;
    elements = detail::largerOf(elements, detail::largerOf(in, out));
  }
  if (!hasRoom(2 * elements * sizeof(T))) return;
  TransposeCheck<T> check(elements);
  for (const Case& c : cases) check(c);
  check.finish();
}

TEST_CASE("More than 2^31 and 2^32 elements of a byte", "[transpose][large]") {
  checkLarge<unsigned char>({{ROOT, ROOT + 1},
                             {ROOT + 59, ROOT + 59},  // 46400: aligned
                             {3, TWO31 / 3 + 1},
                             {TWO31 / 3 + 1, 3},
                             {1, TWO31 + 5},
                             {TWO31 + 5, 1, 0, 0, 1, 0},
                             {17, TWO31 / 16},
                             {TWO31 / 16, 24},
                             {2 * ROOT, ROOT + 11}});
}

TEST_CASE("More than 2^31 floats", "[transpose][large]") {
  checkLarge<float>({{ROOT, ROOT + 1}, {ROOT + 59, ROOT + 59}, {4, TWO31 / 4 + 4}, {TWO31 / 8 + 1, 9}});
}

TEST_CASE("More than 2^31 bytes in few elements", "[transpose][large]") {
  checkLarge<Bytes100>({{ROOT / 10, ROOT / 10 + 3}});
  checkLarge<Bytes3>({{ROOT / 2, ROOT}, {TWO31 / 3, 2}});
}

TEST_CASE("More than 2^31 elements in batches", "[transpose][large]") {
  checkLarge<unsigned char>({{4, 4, 0, 0, 0, 0, TWO31 / 16 + 3},
                             {3, 5, 0, 0, 1, 0, TWO31 / 15 + 3},
                             {64, 64, 0, 0, 0, 0, TWO31 / 4096 + 1},
                             {33, 50, 0, 0, 0, 0, TWO31 / 1650 + 1, 1, 1}});
}

TEST_CASE("Distances beyond 2^31 elements", "[transpose][large]") {
  if (!hasRoom(10 * TWO31)) return;
  TransposeCheck<unsigned char> check(5 * TWO31);
  for (const Case& c : {Case{3, 70, TWO31, 0}, Case{70, 3, 0, TWO31}, Case{3, 3, TWO31, TWO31},
                        Case{20, 30, 0, 0, 0, 0, 3, TWO31, 0}, Case{20, 30, 0, 0, 0, 0, 3, 0, TWO31}})
    check(c);
  check.finish();
}

// Whatever the tile, one direction has more than 65535 of them.
template <class T>
void checkLongGrids(std::size_t tile) {
  const std::size_t length = tile * (emulated ? 9 : 65600);
  checkLarge<T>({{40, length}, {length, 40}, {33, length + 1}, {length + 3, 35}});
}

TEST_CASE("More than 65535 tiles in either direction", "[transpose][large]") {
  checkLongGrids<unsigned char>(256);
  checkLongGrids<unsigned short>(128);
  checkLongGrids<float>(64);
  checkLongGrids<Bytes12>(64);
  checkLongGrids<Bytes16>(32);
  checkLongGrids<Bytes100>(16);
}

// Whether the element at a place of a square matrix is the one of the mirrored place.
template <class T>
struct IsMirrored {
  const T* data;
  std::size_t n;

  __host__ __device__ bool operator()(std::size_t i) const {
    return sameBits(data[i], AnyBits::at<T>(i % n * n + i / n));
  }
};

TEST_CASE("More than 2^31 elements in place", "[transpose][large]") {
  const std::size_t n = ROOT + 2;
  if (!hasRoom(n * n * sizeof(float))) return;
  DeviceArray<float> data(n * n);
  Inspector inspector;
  static_cast<void>(inspector.firstFailure(n * n, Paint<AnyBits, float>{data.data(), 0}));
  transposeInPlace(data.data(), n, n);
  CHECK(inspector.firstFailure(n * n, IsMirrored<float>{data.data(), n}) == n * n);
  transposeInPlace(data.data(), n, n);
  CHECK(inspector.firstFailure(n * n, IsPainted<AnyBits, float>{data.data(), 0}) == n * n);
}

}  // namespace
}  // namespace gpuopt::test::large_test
