/// Calls that move matrices between ranks: many in a row, two teams at once, functions on the way, what they explain.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/host_test.cuh"
#include "support/ranks.cuh"

#include <gpuopt/distributed.cuh>
#include <gpuopt/launch.cuh>

#include <string>
#include <thread>
#include <vector>

namespace distributed_transpose_calls_test {

using gpuopt::MatrixView;
using gpuopt::distributed::explainTranspose;
using gpuopt::distributed::Slabs;
using gpuopt::distributed::SymmetricVector;
using gpuopt::distributed::Team;
using gpuopt::test::allRight;
using gpuopt::test::checkCuda;
using gpuopt::test::DeviceArray;
using gpuopt::test::maxRanks;
using gpuopt::test::messageOf;
using gpuopt::test::onRanks;
using gpuopt::test::Rank;
using gpuopt::test::someRanks;

// Copies by copy engines, whatever the size.
void preferCopies(Team& team) {
  auto& tuning = gpuopt::detail::TeamAccess::of(team).slabTuning;
  tuning.maxCopyRanks = tuning.maxTransposingCopyRanks = 16;
  tuning.minCopyBytes = 0;
}

__device__ int valueOf(std::size_t index, int call) { return static_cast<int>(index) * 7 + call * 100003; }

// Gives a rank's rows the values of a call.
__global__ void fillRows(int* in, std::size_t first, std::size_t n, int call) {
  for (std::size_t i = threadIdx.x; i < n; i += blockDim.x) in[i] = valueOf(first + i, call);
}

// Counts the elements of a rank's rows of the transpose that are not those of a call.
__global__ void countWrong(const int* out, std::size_t firstCol, std::size_t n, std::size_t rows, std::size_t cols,
                           int call, int* wrong) {
  for (std::size_t i = threadIdx.x; i < n; i += blockDim.x)
    if (out[i] != valueOf(i % rows * cols + firstCol + i / rows, call)) atomicAdd(wrong, 1);
}

// Fills, transposes and compares again and again, in the same memory. Without the barrier before a call, a rank would
// take what another one has not written yet; without the one after it, what that has overwritten already.
// `pause` is called before a rank writes `in`, with true, and before it reads `out`, with false. The first call is made
// once `others` are here, and memory is freed once they are done.
template <class Pause>
bool isRightInARow(Rank& rank, Team& team, std::size_t height, std::size_t width, int calls, const Pause& pause,
                   gpuopt::test::Meeting* others = nullptr) {
  const Slabs rows = Slabs::even(height, rank.count), cols = Slabs::even(width, rank.count);
  SymmetricVector<int> in(team, rows.largest() * width), out(team, cols.largest() * height);
  DeviceArray<int> wrong(std::vector<int>{0});
  gpuopt::LaunchConfig config;
  config.stream = rank.stream;
  config.block = dim3(64);
  if (others != nullptr) others[0].wait();
  for (int call = 0; call < calls; ++call) {
    pause(true);
    gpuopt::launch(fillRows, config, in.data(), rows.first(rank.number) * width, rows.size(rank.number) * width, call);
    gpuopt::distributed::transpose(team, in, out, height, width, rank.stream);
    pause(false);
    gpuopt::launch(countWrong, config, out.data(), cols.first(rank.number), cols.size(rank.number) * height, height,
                   width, call, wrong.data());
  }
  rank.wait();
  if (others != nullptr) others[1].wait();
  team.check();
  return wrong.toHost()[0] == 0;
}

bool isRightInARow(Rank& rank, bool usesPeers, bool usesCopies, int calls, gpuopt::test::Meeting* others = nullptr) {
  Team team(rank.comm, {usesPeers});
  if (usesCopies) preferCopies(team);
  return isRightInARow(
      rank, team, 37, 45, calls, [](bool) {}, others);
}

TEST_CASE("hundreds of transpositions in a row, without a wait of the host", "[sweep]") {
  const int ranks = someRanks();
  const auto outcomes = [ranks](bool usesPeers, bool usesCopies) {
    return onRanks(ranks, [=](Rank& rank) { return isRightInARow(rank, usesPeers, usesCopies, 200); });
  };
  CHECK(outcomes(true, false) == allRight(ranks));
  CHECK(outcomes(true, true) == allRight(ranks));
  CHECK(outcomes(false, false) == allRight(ranks));
}

TEST_CASE("transpositions of two teams at once") {
  const int ranks = someRanks();
  gpuopt::test::Meeting meetings[] = {gpuopt::test::Meeting(2 * ranks), gpuopt::test::Meeting(2 * ranks)};
  const auto isRight = [&](bool usesCopies) {
    return onRanks(ranks, [&](Rank& rank) { return isRightInARow(rank, true, usesCopies, 20, meetings); });
  };
  std::vector<std::string> second;
  std::thread other([&] { second = isRight(true); });
  const auto first = isRight(false);
  other.join();
  REQUIRE(first == allRight(ranks));
  REQUIRE(second == allRight(ranks));
}

// About 20 ms on the emulated device, 10 on a GPU.
__global__ void sleepLong() {
  const long long start = clock64();
  while (clock64() - start < 20000000) __nanosleep(100000);
}

// Rank 0 comes late to each step: before it has written `in`, and before it has read what the call before gave. Without
// the barrier before a call, the kernel of the others would read the old `in`, and their copy engines would overwrite
// `out`. Only deferred work shows it: there the host threads are ahead of their streams.
bool waitsForLateRank(Rank& rank, bool usesCopies, bool isLateToWrite) {
  Team team(rank.comm);
  if (usesCopies) preferCopies(team);
  gpuopt::LaunchConfig config;
  config.stream = rank.stream;
  return isRightInARow(rank, team, 32, 48, 2, [&](bool isToWrite) {
    if (rank.number == 0 && isToWrite == isLateToWrite) gpuopt::launch(sleepLong, config);
  });
}

TEST_CASE("a rank that is late in its stream reads and writes its own memory first") {
  const int ranks = someRanks();
  const gpuopt::test::DeferredWork deferred;
  for (const bool usesCopies : {false, true})
    for (const bool isLateToWrite : {false, true}) {
      CAPTURE(usesCopies, isLateToWrite);
      CHECK(onRanks(ranks, [=](Rank& rank) { return waitsForLateRank(rank, usesCopies, isLateToWrite); }) ==
            allRight(ranks));
    }
}

struct HalfOf {
  __device__ double operator()(int x) const { return x * 0.5; }
};

TEST_CASE("a function on the way, of dense slabs and of views") {
  const int ranks = someRanks();
  for (const bool usesPeers : {true, false}) {
    REQUIRE(onRanks(ranks, [=](Rank& rank) {
              constexpr std::size_t ROWS = 70, COLS = 20;
              Team team(rank.comm, {usesPeers});
              const Slabs rows = Slabs::even(ROWS, rank.count), cols = Slabs::even(COLS, rank.count);
              const std::size_t own = rows.size(rank.number), ownCols = cols.size(rank.number);
              SymmetricVector<int> in(team, rows.largest() * COLS);
              DeviceArray<double> out(ownCols * ROWS), viewed(ownCols * ROWS);
              std::vector<int> values;
              for (std::size_t i = 0; i < own * COLS; ++i)
                values.push_back(static_cast<int>(rows.first(rank.number) * COLS + i));
              checkCuda(cudaMemcpy(in.data(), values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice),
                        "cudaMemcpy");
              gpuopt::distributed::transpose(team, in, out.data(), ROWS, COLS, HalfOf{}, rank.stream);
              gpuopt::distributed::transpose(team, MatrixView<int>{in.data(), own, COLS},
                                             MatrixView<double>{viewed.data(), ownCols, ROWS}, rows, cols, HalfOf{},
                                             rank.stream);
              rank.wait();
              team.check();
              const std::vector<double> result = out.toHost();
              for (std::size_t c = 0; c < ownCols; ++c)
                for (std::size_t r = 0; r < ROWS; ++r)
                  if (result[c * ROWS + r] != 0.5 * static_cast<double>(r * COLS + cols.first(rank.number) + c))
                    return false;
              return viewed.toHost() == result;
            }) == allRight(ranks));
  }
}

// Slabs of columns of dense matrices.
bool isRedistributed(Rank& rank) {
  constexpr std::size_t ROWS = 11, COLS = 9;
  Team team(rank.comm);
  const Slabs rows = Slabs::even(ROWS, rank.count), cols = Slabs::even(COLS, rank.count);
  const std::size_t own = cols.size(rank.number);
  SymmetricVector<short> in(team, rows.largest() * COLS);
  DeviceArray<short> out(ROWS * own);
  std::vector<short> values, expected;
  for (std::size_t i = 0; i < rows.size(rank.number) * COLS; ++i)
    values.push_back(static_cast<short>(rows.first(rank.number) * COLS + i));
  for (std::size_t i = 0; i < ROWS * own; ++i)
    expected.push_back(static_cast<short>(i / own * COLS + cols.first(rank.number) + i % own));
  checkCuda(cudaMemcpy(in.data(), values.data(), values.size() * sizeof(short), cudaMemcpyHostToDevice), "cudaMemcpy");
  gpuopt::distributed::redistribute(team, in, out.data(), ROWS, COLS, rank.stream);
  rank.wait();
  team.check();
  DeviceArray<short> back(values.size());
  gpuopt::distributed::redistributeToRows(team, out.data(), back.data(), ROWS, COLS, rank.stream);
  rank.wait();
  team.check();
  return out.toHost() == expected && back.toHost() == values;
}

TEST_CASE("from rows to columns and back, dense") {
  const int ranks = someRanks(4);
  REQUIRE(onRanks(ranks, isRedistributed) == allRight(ranks));
}

TEST_CASE("explainTranspose names the path and the reason") {
  if (maxRanks() < 2) return;
  std::vector<std::string> texts;
  REQUIRE(onRanks(2, [&](Rank& rank) {
            Team team(rank.comm);
            const SymmetricVector<float> in(team, 100);
            SymmetricVector<float> out(team, 100);
            SymmetricVector<char> bytes(team, 100);
            SymmetricVector<float3> threes(team, 100);
            DeviceArray<float> plain(100);
            DeviceArray<char> plainBytes(100);
            DeviceArray<float3> plainThrees(100);
            const std::string peers[] = {
                explainTranspose(team, in, plain.data(), 8, 8),
                explainTranspose(team, bytes, plainBytes.data(), 9, 9),
                explainTranspose(team, plain.data(), out, 8, 12),
                explainTranspose(team, plainThrees.data(), threes, 4, 4),
                explainTranspose(team, plain.data() + 50, plain.data(), 8, 12),
                explainTranspose(team, MatrixView<const float>{in.data(), 4, 0}, MatrixView<float>{plain.data(), 0, 8},
                                 Slabs::even(8, 2), Slabs::even(0, 2))};
            if (rank.number == 0) texts.assign(peers, peers + 6);
            return true;
          }) == allRight(2));
  REQUIRE(texts == std::vector<std::string>{
                       "one kernel reads the ranks' memory, tile by tile: in is in symmetric memory",
                       "local kernels read the ranks' memory, rank by rank: rows do not begin at 16-byte "
                       "boundaries, or elements do not fill vectors",
                       "one kernel writes to the ranks' memory, tile by tile: out is in symmetric memory",
                       "local kernels write to the ranks' memory, rank by rank: out is in symmetric memory; "
                       "rows do not begin at 16-byte boundaries, or elements do not fill vectors",
                       "NCCL sends and receives: in is not in symmetric memory",
                       "nothing to do: there are no elements"});
}

TEST_CASE("the plan takes copy engines for long slabs of two ranks alone, if they are not transposed") {
  using Algorithm = gpuopt::detail::SlabAlgorithm;
  const auto plan = [](int ranks, std::size_t bytes, std::size_t batch, std::size_t pitch, bool transposes = false) {
    const gpuopt::detail::SlabRequest shape{ranks, true,  true,  true,  transposes, true,
                                            true,  false, bytes, pitch, batch};
    return gpuopt::detail::planSlabs(shape, gpuopt::detail::SlabTuning{});
  };
  const std::size_t limit = std::size_t{128} << 20;
  CHECK(plan(2, limit - 1, 1, 4096).algorithm == Algorithm::tiles);
  CHECK(plan(2, limit, 1, 4096).algorithm == Algorithm::copies);
  CHECK(plan(3, limit, 1, 4096).algorithm == Algorithm::tiles);
  CHECK(plan(2, limit, 2, 4096).algorithm == Algorithm::tiles);
  CHECK(plan(2, limit, 1, std::size_t{1} << 31).algorithm == Algorithm::tiles);
  CHECK(plan(1, limit, 1, 4096).algorithm == Algorithm::local);
  CHECK(plan(2, limit, 1, 4096).chunks == 1);
  CHECK(plan(2, 8 * limit, 1, 4096).chunks == 4);
  CHECK_FALSE(plan(2, limit - 1, 1, 4096).writes);
  CHECK(plan(2, 8 * limit, 1, 4096, true).algorithm == Algorithm::tiles);
  CHECK(plan(2, 8 * limit, 1, 4096, true).writes);
  CHECK(planInWords(plan(2, 3 * limit, 1, 4096)) ==
        "copy engines write to the ranks' memory, in 3 chunks: slabs of 402653184 bytes reach 134217728");
}

TEST_CASE("even slabs give the remainder to the first ranks") {
  const Slabs even = Slabs::even(10, 4), own({5, 0, 7});
  std::vector<std::size_t> sizes;
  for (int rank = 0; rank < 4; ++rank) sizes.push_back(even.size(rank));
  CHECK(sizes == std::vector<std::size_t>{3, 3, 2, 2});
  CHECK(even.first(3) == 8);
  CHECK(own.total() == 12);
  CHECK(own.first(2) == 5);
  CHECK(own.size(1) == 0);
  CHECK(own.largest() == 7);
  CHECK(messageOf<std::invalid_argument>([] { return Slabs::even(10, 0); }) ==
        "gpuopt::distributed::Slabs::even: ranks (0) is less than 1");
  CHECK(messageOf<std::invalid_argument>([] { return Slabs::even(static_cast<std::size_t>(-1), 2); }) ==
        "gpuopt::distributed::Slabs::even: total (-1) is negative");
  CHECK(messageOf<std::invalid_argument>([] {
          return Slabs({1, static_cast<std::size_t>(-2)});
        }) == "gpuopt::distributed::Slabs: size of rank 1 (-2) is negative");
}

}  // namespace distributed_transpose_calls_test
