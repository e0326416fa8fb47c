/// The passes of asynchronous copies: what an H200 counts (access_bench), on the host, on the device and in constant
/// expressions.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"

#include <gpuopt/access.cuh>
#include <gpuopt/host/launch.cuh>

#include <stdexcept>

namespace copy_access_test {

using gpuopt::AsyncCopy;
using gpuopt::asyncCopy;
using gpuopt::LaneMask;

struct Line {
  unsigned offset = 0;
  unsigned stride = 1;
  __host__ __device__ constexpr unsigned operator()(unsigned lane) const { return offset + stride * lane; }
};

// Wavefronts of a copy of 16 bytes a lane.
constexpr unsigned vectors(Line to, Line from, LaneMask lanes = {}) {
  return asyncCopy<uint4>(to, from, lanes).wavefronts;
}

// Equal addresses modulo 128 take a pass a row, and one more for half a sector at an end.
static_assert(vectors({0}, {0}) == 4 && asyncCopy<uint4>(Line{0}, Line{0}).isIdeal());
static_assert(vectors({2}, {2}) == 5 && vectors({4}, {4}) == 5 && !asyncCopy<uint4>(Line{2}, Line{2}).isIdeal());
static_assert(vectors({1}, {1}) == 6 && vectors({7}, {7}) == 6);
// Others take two passes a row, and four if sectors are torn apart.
static_assert(vectors({2}, {0}) == 8 && vectors({4}, {0}) == 8 && vectors({0}, {2}) == 8 && vectors({0}, {4}) == 8);
static_assert(vectors({2}, {4}) == 9 && vectors({4}, {2}) == 9 && vectors({1}, {7}) == 9 && vectors({7}, {1}) == 9);
static_assert(vectors({1}, {3}) == 10 && vectors({7}, {3}) == 10);
static_assert(vectors({0}, {1}) == 12 && vectors({1}, {0}) == 12 && vectors({0}, {7}) == 12 && vectors({7}, {0}) == 12);
static_assert(vectors({1}, {2}) == 13 && vectors({2}, {3}) == 14 && vectors({4}, {3}) == 14 && vectors({0}, {3}) == 16);
static_assert(vectors({1}, {4}) == 17 && vectors({4}, {1}) == 17 && vectors({2}, {7}) == 17 && vectors({7}, {4}) == 17);

static_assert(vectors({0, 2}, {0}) == 32 && vectors({0}, {0, 2}) == 32 && vectors({0, 2}, {0, 2}) == 8);
static_assert(vectors({0, 3}, {0}) == 24 && vectors({0}, {0, 3}) == 24 && vectors({0, 3}, {0, 3}) == 24);
static_assert(vectors({0, 4}, {0}) == 32 && vectors({0}, {0, 4}) == 32 && vectors({0, 4}, {0, 4}) == 16);
static_assert(vectors({0, 8}, {0}) == 32 && vectors({0}, {0, 9}) == 32 && vectors({0}, {0, 0}) == 32);

// Half a sector and whole ones take different passes.
static_assert(vectors({0}, {0}, LaneMask::first(31)) == 5 && vectors({2}, {0}, LaneMask::first(31)) == 8);
static_assert(vectors({0}, {0}, LaneMask{0x55555555}) == 4 && vectors({2}, {0}, LaneMask{0x55555555}) == 8);
static_assert(vectors({0}, {0}, LaneMask{0x0F0F0F0F}) == 4 && vectors({2}, {0}, LaneMask{0x0F0F0F0F}) == 4);
static_assert(vectors({0}, {0}, LaneMask::first(16)) == 2 && vectors({2}, {0}, LaneMask::first(16)) == 4);
static_assert(asyncCopy<uint4>(Line{}, Line{}, LaneMask{0}).requests == 0 && vectors({}, {}, LaneMask{0}) == 0);
static_assert(asyncCopy<uint4>(Line{}, Line{}, LaneMask::first(9)).idealWavefronts == 2);

struct Table {
  unsigned index[32];
  __host__ __device__ constexpr unsigned operator()(unsigned lane) const { return index[lane]; }
};

constexpr Table tables[] = {{{31, 23, 29, 8, 1,  18, 22, 0, 4,  27, 10, 20, 24, 30, 3,  5,
                              16, 19, 13, 9, 17, 14, 21, 7, 11, 15, 6,  12, 26, 28, 25, 2}},
                            {{3,  20, 5,  6,  27, 25, 16, 24, 21, 19, 12, 29, 23, 11, 1,  22,
                              31, 2,  26, 10, 9,  30, 15, 0,  18, 7,  28, 14, 4,  8,  17, 13}},
                            {{12, 5, 10, 17, 26, 24, 6,  0, 8,  1,  16, 14, 3,  23, 4, 28,
                              31, 9, 15, 27, 21, 11, 20, 7, 30, 22, 18, 29, 13, 25, 2, 19}}};
static_assert(asyncCopy<uint4>(tables[0], Line{}).wavefronts == 31);
static_assert(asyncCopy<uint4>(tables[1], Line{}).wavefronts == 28);
static_assert(asyncCopy<uint4>(Line{}, tables[2]).wavefronts == 31);
static_assert(asyncCopy<uint4>(Line{1}, tables[1]).wavefronts == 29);
static_assert(asyncCopy<uint4>(tables[0], tables[0]).wavefronts == 4);

// Copies of words take the passes of the larger bank conflict.
constexpr unsigned words(Line to, Line from) { return asyncCopy<float>(to, from).wavefronts; }
static_assert(words({0}, {0}) == 1 && words({1}, {0}) == 1 && words({31}, {4}) == 1 && words({0, 33}, {0}) == 1);
static_assert(words({0, 2}, {0}) == 2 && words({0}, {0, 2}) == 2 && words({0, 2}, {0, 2}) == 2);
static_assert(words({0, 3}, {0, 3}) == 1 && words({0, 32}, {0}) == 32 && words({0}, {0, 8}) == 8);
static_assert(words({0}, {0, 0}) == 32, "a word that several lanes read is read for each of them");

// Elements of several accesses; bases; byte addresses.
struct Eight {
  float values[8];
};
static_assert(asyncCopy<Eight>(Line{}, Line{}).requests == 8 && asyncCopy<Eight>(Line{}, Line{}).wavefronts == 64);
static_assert(asyncCopy<uint4>(Line{}, Line{}, {}, 32).wavefronts == 8);
static_assert(asyncCopy<uint4>(Line{}, Line{}, {}, 0, 16).wavefronts == 12);
static_assert(asyncCopy<16>(Line{32, 16}, Line{0, 16}).wavefronts == 8);
static_assert(asyncCopy<16>(Line{32, 16}, Line{0, 16}).idealWavefronts == 4);

__global__ void copyKernel(AsyncCopy* results, Table from) {
  results[threadIdx.x] = asyncCopy<uint4>(Line{threadIdx.x}, from);
}

TEST_CASE("device code analyses asynchronous copies as the host does") {
  gpuopt::test::DeviceArray<AsyncCopy> found(8);
  gpuopt::LaunchConfig config;
  config.block = dim3(8);
  gpuopt::launch(copyKernel, config, found.data(), tables[0]);
  const auto results = found.toHost();
  for (unsigned i = 0; i < 8; ++i) {
    const AsyncCopy expected = asyncCopy<uint4>(Line{i}, tables[0]);
    CHECK(results[i].requests == expected.requests);
    CHECK(results[i].wavefronts == expected.wavefronts);
    CHECK(results[i].idealWavefronts == expected.idealWavefronts);
  }
}

TEST_CASE("the addresses of an asynchronous copy are aligned to its size") {
  CHECK_THROWS_AS((asyncCopy<16>(Line{8, 16}, Line{0, 16})), std::invalid_argument);
  CHECK_THROWS_AS((asyncCopy<16>(Line{0, 16}, Line{4, 16})), std::invalid_argument);
  CHECK_NOTHROW(asyncCopy<4>(Line{4, 4}, Line{12, 4}));
}

}  // namespace copy_access_test
