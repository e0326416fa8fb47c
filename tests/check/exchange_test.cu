// Exchanges of ranks order what their streams do before and after them.
// SPDX-License-Identifier: MIT
#include "kernels.cuh"

#include "support/ranks.cuh"

#include <atomic>
#include <thread>

namespace gpuopt::test::check_exchange_test {
namespace {

__global__ void setValue(int* value) { *value = 1; }
__global__ void copyValue(const int* from, int* to) { *to = *from; }

enum class Exchange { none, allReduce, ofFirst, ofSecond };

void exchange(const Rank& rank, Exchange what, int* word) {
  if (what == Exchange::allReduce)
    checkNccl(ncclAllReduce(word, word, 1, ncclInt, ncclSum, rank.comm, rank.stream), "ncclAllReduce");
  else if (what != Exchange::none)
    checkNccl(ncclBroadcast(word, word, 1, ncclInt, what == Exchange::ofFirst ? 0 : 1, rank.comm, rank.stream),
              "ncclBroadcast");
}

/// The first rank writes a value before or after an exchange, the second one reads it before or after.
bool isRight(Exchange what, bool writesBefore, bool readsBefore) {
  int* values = nullptr;  // that is written, its copy, a word of each rank
  checkCuda(cudaMallocManaged(&values, 4 * sizeof(int)), "cudaMallocManaged");
  std::atomic<int> queued{0};
  const auto work = [&](Rank& rank) {
    LaunchConfig config;
    config.stream = rank.stream;
    const auto access = [&] {
      if (rank.number == 0)
        launch(setValue, config, values);
      else
        launch(copyValue, config, static_cast<const int*>(values), values + 1);
    };
    const bool isBefore = rank.number == 0 ? writesBefore : readsBefore;
    if (isBefore) access();
    exchange(rank, what, values + 2 + rank.number);
    if (!isBefore) access();
    for (++queued; queued < 2;) std::this_thread::yield();  // a wait of the host would order them, too
    return true;
  };
  bool areRight = false;
  const bool isFound = !findRaces([&] { areRight = onRanks(2, work) == allRight(2); }).empty();
  REQUIRE(areRight);
  checkCuda(cudaFree(values), "cudaFree");
  return !isFound;
}

TEST_CASE("check: exchanges of ranks order their streams", "[check]") {
  CHECK(isRight(Exchange::allReduce, true, false));
  CHECK(isRight(Exchange::allReduce, false, true));
  CHECK(isRight(Exchange::ofFirst, true, false));
  CHECK(isRight(Exchange::ofSecond, false, true));
  CHECK_FALSE(isRight(Exchange::ofSecond, true, false));  // who sends waits for nobody
  CHECK_FALSE(isRight(Exchange::ofFirst, false, true));
  CHECK_FALSE(isRight(Exchange::allReduce, false, false));
  CHECK_FALSE(isRight(Exchange::allReduce, true, true));
  CHECK_FALSE(isRight(Exchange::none, true, false));
}

}  // namespace
}  // namespace gpuopt::test::check_exchange_test
