/// Chains of loads and of multiply-adds, repeated instructions, and what threads, blocks and the host wait for.
// SPDX-License-Identifier: MIT
#include "../../examples/experiments/block_steps.cuh"
#include "../../examples/experiments/grid_steps.cuh"
#include "../../examples/experiments/latency.cuh"
#include "../../examples/experiments/mailbox.cuh"
#include "../../examples/experiments/throughput.cuh"

#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/random.hpp"

#include <vector>

namespace latency_test {

using namespace experiments;
using gpuopt::test::DeviceArray;
using gpuopt::test::randomVector;

TEST_CASE("a chase comes by every line once before it comes by one again") {
  for (const unsigned lines : {1u, 2u, 64u, 4096u}) {
    std::vector<bool> isSeen(lines, false);
    unsigned line = 0;
    for (unsigned step = 0; step < lines; ++step) {
      CHECK_FALSE(isSeen[line]);
      isSeen[line] = true;
      line = nextLine(line, lines);
    }
    CHECK(line == 0);
  }
}

TEST_CASE("chases end where the host's do") {
  constexpr unsigned LINES = 64;
  DeviceArray<unsigned> next(std::vector<unsigned>(LINES * chaseStride, ~0u));
  launchLinks(next.data(), LINES);
  for (const unsigned steps : {1u, 7u, 100u}) {
    DeviceArray<Chase> cached(std::vector<Chase>{Chase{}}), fromL2(std::vector<Chase>{Chase{}}), shared(1);
    launchChase(next.data(), 5, steps, CachedLoad{}, cached.data());
    launchChase(next.data(), 0, steps, L2Load{}, fromL2.data());
    launchChase(next.data(), 0, steps, L2Load{}, fromL2.data());  // goes on
    launchSharedChase(steps, shared.data());
    CHECK(cached.toHost()[0].at == chaseOnHost(LINES, 5 + steps) * chaseStride);
    CHECK(fromL2.toHost()[0].at == chaseOnHost(LINES, 2 * steps) * chaseStride);
    CHECK(shared.toHost()[0].at == chaseOnHost(sharedChaseWords, steps));
    CHECK(cached.toHost()[0].cycles > 0);
  }
}

TEMPLATE_TEST_CASE_SIG("chains of steps, and sums with loads in flight", "", ((int COUNT), COUNT), 1, 2, 4) {
  for (const unsigned block : {32u, 96u}) {
    DeviceArray<BlockResult> result(1);
    launchDependentSteps<COUNT>(block, 3.0F, 0.5F, 33, result.data());
    CHECK(result.toHost()[0].sum == dependentStepsOnHost(COUNT, 3.0F, 0.5F, 33));
  }
  constexpr unsigned BLOCKS = 3, BLOCK = 64;
  const auto words = randomVector<unsigned>(COUNT * BLOCKS * BLOCK * 5, 1);
  const DeviceArray<unsigned> in(words);
  DeviceArray<unsigned> out(BLOCKS * BLOCK);
  launchSumInFlight<COUNT>(in.data(), out.data(), words.size(), BLOCKS, BLOCK);
  CHECK(out.toHost() == sumsOnHost(words, BLOCKS * BLOCK));
}

// The PTX of a step does on a GPU what its C++ says.
template <class Step>
bool repeatsRightly(unsigned other) {
  const auto words = randomVector<unsigned>(throughputBlock, 2);
  const DeviceArray<unsigned> in(words);
  DeviceArray<unsigned> out(throughputBlock);
  DeviceArray<long long> cycles(1);
  launchRepeatedStep<Step>(in.data(), out.data(), other, 5, cycles.data());
  std::vector<unsigned> expected(throughputBlock, 0);
  for (unsigned i = 0; i < throughputBlock; ++i)
    for (unsigned k = 0; k < throughputChains; ++k) {
      unsigned x = words[i] + k;
      for (int round = 0; round < 5; ++round) x = Step{}(x, other);
      expected[i] += x;
    }
  return out.toHost() == expected;
}

TEST_CASE("integer steps are repeated in every thread") {
  CHECK(repeatsRightly<AddInteger>(0x9E3779B9u));
  CHECK(repeatsRightly<MultiplyInteger>(0x9E3779B9u));
  CHECK(repeatsRightly<MultiplyAddInteger>(0x9E3779B9u));
  CHECK(repeatsRightly<Multiply24>(0x9E3779B9u));
  CHECK(repeatsRightly<Shift>(7));
  CHECK(repeatsRightly<Logic>(0x9E3779B9u));
  CHECK(repeatsRightly<Minimum>(0x9E3779B9u));
  CHECK(repeatsRightly<CountOnes>(0));
  CHECK(repeatsRightly<DotOfBytes>(0x01FF7F80u));
}

// ------------------------------------------------------------------------------- waiting for each other

template <class Step, int BLOCK>
bool stepsRightly(unsigned rounds) {
  const auto values = gpuopt::test::smallIntegers<float>(BLOCK, 3);
  const DeviceArray<float> in(values);
  DeviceArray<float> out(BLOCK);
  DeviceArray<long long> cycles(1);
  launchBlockStep<Step, BLOCK>(in.data(), out.data(), rounds, cycles.data());
  return out.toHost() == blockStepOnHost<Step>(values, rounds) && cycles.toHost()[0] > 0;
}

TEMPLATE_TEST_CASE_SIG("steps of a block", "", ((int BLOCK), BLOCK), 32, 64, 128, 1024) {
  for (const unsigned rounds : {1u, 33u}) {
    CHECK(stepsRightly<BlockBarrier, BLOCK>(rounds));
    CHECK(stepsRightly<NamedBarrier, BLOCK>(rounds));
    CHECK(stepsRightly<WarpBarrier, BLOCK>(rounds));
    CHECK(stepsRightly<Rotation, BLOCK>(rounds));
    CHECK(stepsRightly<BlockMean, BLOCK>(rounds));
  }
}

// out[i]: what the thread after i, of those that wait together, has written to shared memory.
template <class Barrier, unsigned THREADS, unsigned BLOCK>
__global__ void passThroughShared(const unsigned* in, unsigned* out) {
  __shared__ unsigned words[BLOCK];
  const unsigned first = threadIdx.x / THREADS * THREADS;
  words[threadIdx.x] = in[threadIdx.x];
  Barrier::template step<BLOCK>(0);
  out[threadIdx.x] = words[first + (threadIdx.x + 1) % THREADS];
}

template <class Barrier, unsigned THREADS, unsigned BLOCK>
bool waitsForAll() {
  const auto words = randomVector<unsigned>(BLOCK, 4);
  const DeviceArray<unsigned> in(words);
  DeviceArray<unsigned> out(BLOCK);
  gpuopt::launch(passThroughShared<Barrier, THREADS, BLOCK>, gridFor(BLOCK, BLOCK), in.data(), out.data());
  std::vector<unsigned> expected(BLOCK);
  for (unsigned i = 0; i < BLOCK; ++i) expected[i] = words[i / THREADS * THREADS + (i + 1) % THREADS];
  return out.toHost() == expected;
}

TEST_CASE("barriers wait for the block, for four warps, for a warp") {
  CHECK(waitsForAll<BlockBarrier, 1024, 1024>());
  CHECK(waitsForAll<NamedBarrier, namedBarrierThreads(1024), 1024>());
  CHECK(waitsForAll<NamedBarrier, namedBarrierThreads(64), 64>());
  CHECK(waitsForAll<WarpBarrier, 32, 1024>());
}

TEST_CASE("steps of a grid see all results of the step before") {
  for (const unsigned blocks : {1u, 2u, 7u}) {
    const auto words = randomVector<unsigned>(blocks, 5);
    for (const GridBarrier how :
         {GridBarrier::launch, GridBarrier::programmatic, GridBarrier::ticket, GridBarrier::gridSync})
      for (const unsigned steps : {2u, 10u}) {
        DeviceArray<unsigned> even(words), odd(blocks), counter(std::vector<unsigned>{0});
        launchGridSteps(how, {even.data(), odd.data(), counter.data()}, blocks, steps);
        CHECK(even.toHost() == gridStepsOnHost(words, steps));
        CHECK(counter.toHost()[0] == 0);
      }
  }
}

TEST_CASE("questions are answered, one after the other") {
  Mailbox box;
  for (const unsigned questions : {1u, 20u}) {
    CHECK(box.launchAndSynchronize(questions).isRight);
    CHECK(box.launchAndWatch(questions).isRight);
    CHECK(box.askRunningKernel(questions).isRight);
  }
}

}  // namespace latency_test
