// What the library promises of its own kernels: they use all of the sectors that they move, without bank conflicts.
// SPDX-License-Identifier: MIT
#include "kernels.cuh"

#include <gpuopt/reduce.cuh>
#include <gpuopt/reduce_columns.cuh>
#include <gpuopt/reduce_rows.cuh>
#include <gpuopt/soa.cuh>
#include <gpuopt/struct_io.cuh>
#include <gpuopt/transpose.cuh>

namespace gpuopt::test::profile_contracts_test {
namespace {

void requireIdeal(const Profile& found) {
  CHECK(found.globalLoads().requests > 0);
  CHECK(found.globalLoads().utilisation() == 1);
  CHECK(found.globalStores().utilisation() == 1);
  CHECK(found.bankConflicts() == 0);
  CHECK(found.warpEfficiency() > 0.95);
}

template <class T>
void checkTranspositions() {
  constexpr std::size_t ROWS = 1024, COLS = 512;
  CAPTURE(sizeof(T));
  DeviceArray<T> in(ROWS * COLS), out(ROWS * COLS);
  requireIdeal(profile([&] { transpose(in.data(), out.data(), ROWS, COLS); }));
  requireIdeal(profile([&] { transposeInPlace(in.data(), COLS, COLS); }));
}

TEST_CASE("profile: transpositions of aligned matrices", "[profile]") {
  checkTranspositions<unsigned char>();
  checkTranspositions<short>();
  checkTranspositions<float>();
  checkTranspositions<double>();
  checkTranspositions<float4>();
}

template <unsigned SIZE>
struct Words {
  float values[SIZE];
};

struct Unchanged {
  template <class T>
  __device__ T operator()(const T& value) const {
    return value;
  }
};

template <unsigned... SIZES>
void checkStructures() {
  constexpr std::size_t N = 8192;
  const auto check = [](auto element) {
    using T = decltype(element);
    CAPTURE(sizeof(T));
    DeviceArray<T> in(N), out(N);
    requireIdeal(profile([&] { transformStructs(static_cast<const T*>(in.data()), N, out.data(), Unchanged{}); }));
  };
  (check(Words<SIZES>{}), ...);
}

TEST_CASE("profile: structures of any size", "[profile]") { checkStructures<1, 2, 3, 4, 5, 7, 8, 12, 16>(); }

/// Loads of the array: of vectors. Blocks that wait for each other also load, and how often depends on the time.
AccessCounts arrayLoads(const Profile& found) {
  AccessCounts sum;
  for (const KernelProfile& kernel : found.kernels)
    for (const LineProfile& line : kernel.lines)
      for (const AccessProfile& access : line.accesses)
        if (access.kind == AccessKind::globalLoad && access.pattern.bytes == 16) sum += access.counts;
  return sum;
}

TEST_CASE("profile: reductions", "[profile]") {
  constexpr std::size_t N = 1 << 18;
  DeviceArray<float> in(std::vector<float>(N, 1.0F)), out(N);
  float sum = 0;
  const Profile whole = profile([&] { sum = reduce(in.data(), N); });
  CHECK(sum == N);
  CHECK(arrayLoads(whole).utilisation() == 1);
  CHECK(arrayLoads(whole).bytes == N * sizeof(float));
  CHECK(whole.kernels[0].bytesRead >= N * sizeof(float));
  CHECK(100 * whole.kernels[0].bytesRead < 101 * N * sizeof(float));
  CHECK(whole.bankConflicts() == 0);
  for (const std::size_t cols : {4, 32, 1024, 65536}) {
    CAPTURE(cols);
    const Profile rows = profile([&] { reduceRows(in.data(), N / cols, cols, cols, out.data()); });
    CHECK(arrayLoads(rows).utilisation() == 1);
    CHECK(rows.bankConflicts() == 0);
    const Profile columns = profile([&] { reduceColumns(in.data(), N / cols, cols, cols, out.data()); });
    CHECK(arrayLoads(columns).utilisation() == 1);
  }
}

}  // namespace
}  // namespace gpuopt::test::profile_contracts_test
