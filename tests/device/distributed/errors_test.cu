/// Mistakes of one rank: every rank gets an error that names it, and none hangs.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/ranks.cuh"

#include <gpuopt/distributed.cuh>

#include <stdexcept>
#include <string>
#include <vector>

namespace distributed_errors_test {

using gpuopt::distributed::SymmetricVector;
using gpuopt::distributed::Team;
using gpuopt::distributed::TeamError;
using gpuopt::distributed::TeamOptions;
using gpuopt::test::allRight;
using gpuopt::test::checkCuda;
using gpuopt::test::DeviceArray;
using gpuopt::test::maxRanks;
using gpuopt::test::onRanks;
using gpuopt::test::Rank;
using gpuopt::test::someRanks;

TeamOptions pathOf(bool usesPeers) { return {usesPeers, std::chrono::milliseconds(500)}; }

struct Never {
  __host__ __device__ int operator()(int a, int b) const { return a ^ b; }
};

// The outcome of each rank: the message `last` of the last rank, and `others` of the others.
std::vector<std::string> outcomes(int ranks, const std::string& others, const std::string& last) {
  std::vector<std::string> all(static_cast<std::size_t>(ranks), others);
  all.back() = last;
  return all;
}

// The message for three ranks, with another last one.
std::string withLast(std::string message, int last) {
  return message.replace(message.find("rank 2"), 6, "rank " + std::to_string(last));
}

TEST_CASE("a rank with wrong arguments names them, and the others name the rank") {
  const int ranks = someRanks(), last = ranks - 1;
  for (const bool usesPeers : {true, false}) {
    CAPTURE(usesPeers);
    const auto ofReduce = onRanks(ranks, [=](Rank& rank) {
      Team team(rank.comm, pathOf(usesPeers));
      const DeviceArray<int> part(std::vector<int>{rank.number});
      const int* const in = rank.number == last ? nullptr : part.data();
      return gpuopt::distributed::reduce(team, in, 1, rank.stream) < 0;
    });
    // WRITTEN distributed: gpuopt::distributed::reduce(team, part, n), and rank 2 passes a null pointer
    // DO: look at what rank 2 throws: its message names the argument
    REQUIRE(ofReduce == outcomes(ranks, withLast("gpuopt::distributed::reduce: rank 2 refused its arguments", last),
                                 "gpuopt::distributed::reduce: in is null, but n is 1"));
  }
}

TEST_CASE("a call that returns a value may fail, and the next one is right") {
  const int ranks = someRanks(), last = ranks - 1;
  for (const bool usesPeers : {true, false}) {
    CAPTURE(usesPeers);
    REQUIRE(onRanks(ranks, [=](Rank& rank) {
              Team team(rank.comm, pathOf(usesPeers));
              const DeviceArray<int> part(std::vector<int>{rank.number});
              const std::size_t n = rank.number == last ? static_cast<std::size_t>(-1) : 1;
              int failures = 0;
              for (int i = 0; i < 3; ++i) try {
                  static_cast<void>(gpuopt::distributed::reduce(team, part.data(), n, rank.stream));
                } catch (const TeamError& error) {
                  failures += error.rank() == last ? 1 : 0;
                } catch (const std::invalid_argument&) {
                  failures += rank.number == last ? 1 : 0;
                }
              const int sum = gpuopt::distributed::reduce(team, part.data(), 1, rank.stream);
              team.check();
              return failures == 3 && sum == ranks * (ranks - 1) / 2;
            }) == allRight(ranks));
  }
}

// Two asynchronous calls, of which the last rank makes the first one with a null `out`: what check() throws, and the
// second call.
std::string asynchronousOutcome(Rank& rank, bool usesPeers, int last, std::string& second) {
  Team team(rank.comm, pathOf(usesPeers));
  const DeviceArray<int> part(std::vector<int>{rank.number});
  DeviceArray<int> out(1);
  const int poison = out.toHost()[0];
  std::string first = "no error";
  try {
    gpuopt::distributed::reduceInto(team, part.data(), 1, rank.number == last ? nullptr : out.data(), rank.stream);
    rank.wait();
    team.check();
  } catch (const std::exception& error) {
    first = error.what();
  }
  try {
    gpuopt::distributed::reduceInto(team, part.data(), 1, out.data(), rank.stream);
  } catch (const TeamError& error) {
    second = error.what();
  }
  rank.wait();
  return out.toHost()[0] == poison ? first : "out was written";
}

TEST_CASE("after an asynchronous call has failed, check() and all later calls say so on every rank") {
  const int ranks = someRanks(), last = ranks - 1;
  for (const bool usesPeers : {true, false}) {
    CAPTURE(usesPeers);
    std::vector<std::string> first(static_cast<std::size_t>(ranks)), second(static_cast<std::size_t>(ranks));
    REQUIRE(onRanks(ranks, [&](Rank& rank) {
              const auto i = static_cast<std::size_t>(rank.number);
              first[i] = asynchronousOutcome(rank, usesPeers, last, second[i]);
              return true;
            }) == allRight(ranks));
    REQUIRE(first == outcomes(ranks, withLast("gpuopt::distributed::Team: rank 2 refused its arguments", last),
                              "gpuopt::distributed::reduceInto: out is null"));
    const std::string again = withLast("gpuopt::distributed::reduceInto: rank 2 refused its arguments", last);
    REQUIRE(second == outcomes(ranks, again, again));
  }
}

TEST_CASE("ranks that make different calls get an error") {
  const int ranks = someRanks(), last = ranks - 1;
  if (ranks < 2) return;
  const auto messages = onRanks(ranks, [=](Rank& rank) {
    Team team(rank.comm, pathOf(true));
    const DeviceArray<int> part(std::vector<int>{rank.number});
    if (rank.number == last) return gpuopt::distributed::reduce<double>(team, part.data(), 1, rank.stream) < 0;
    return gpuopt::distributed::reduce(team, part.data(), 1, rank.stream) < 0;
  });
  // WRITTEN distributed: reduce(team, part, n), and on rank 2 reduce<double>(team, part, n)
  // DO: make the same calls, of the same types, in the same order on all ranks
  REQUIRE(
      messages ==
      outcomes(ranks,
               withLast("gpuopt::distributed::reduce: rank 2 made a different call, or used a different type", last),
               "gpuopt::distributed::reduce: rank 0 made a different call, or used a different type"));
}

TEST_CASE("ranks wait for one that does not come for as long as the options say", "[sweep]") {
  const int ranks = someRanks(), last = ranks - 1;
  if (ranks < 2) return;
  const auto messages = onRanks(ranks, [=](Rank& rank) {
    Team team(rank.comm, pathOf(true));
    const DeviceArray<int> part(std::vector<int>{rank.number});
    if (rank.number != last) return gpuopt::distributed::reduce(team, part.data(), 1, rank.stream) < 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    return true;
  });
  // WRITTEN distributed: reduce(team, part, n), and rank 2 has ended, or is busy with something else
  // DO: look for what rank 2 does; if it only comes late, set a longer TeamOptions::timeout
  REQUIRE(messages ==
          outcomes(ranks, withLast("gpuopt::distributed::reduce: rank 2 did not come in time", last), "right"));
}

// The others write to the memory of the rank that has gone, as they learn of it only in time.
TEST_CASE("a rank that throws between calls leaves its memory to those that wait for it", "[sweep]") {
  const int ranks = someRanks(), last = ranks - 1;
  if (ranks < 2) return;
  gpuopt::test::Meeting gone(ranks);
  const auto messages = onRanks(ranks, [&](Rank& rank) {
    try {
      Team team(rank.comm, pathOf(true));
      SymmetricVector<int> in(team, 8), out(team, 8);
      const DeviceArray<int> part(std::vector<int>{rank.number});
      if (gpuopt::distributed::reduce(team, part.data(), 1, rank.stream) != ranks * last / 2) return false;
      if (rank.number == last) throw std::runtime_error("this rank is gone");
      gone.wait();
      for (int call = 0; call < 3; ++call) try {
          static_cast<void>(gpuopt::distributed::reduce(team, part.data(), 1, rank.stream));
        } catch (const TeamError& error) {
          if (error.rank() != last) throw;
        }
      gpuopt::distributed::transpose(team, in, out, 2, 2, rank.stream);
      rank.wait();
      team.check();
    } catch (const std::runtime_error&) {
      if (rank.number == last) gone.wait();
      throw;
    }
    return true;
  });
  REQUIRE(messages == outcomes(ranks, withLast("gpuopt::distributed::Team: rank 2 did not come in time", last),
                               "this rank is gone"));
}

// cudaFree waits for the memory's device, where NCCL may wait for the rank that frees.
TEST_CASE("the last owner of another rank's memory leaves it to that rank") {
  using gpuopt::detail::PeerMemories;
  const auto isAllocated = [](const void* address) {
    cudaPointerAttributes attributes{};
    return cudaPointerGetAttributes(&attributes, address) == cudaSuccess && attributes.type == cudaMemoryTypeDevice;
  };
  const int other = someRanks(2) - 1;
  gpuopt::test::provideDevices(other + 1);
  checkCuda(cudaSetDevice(0), "cudaSetDevice");
  auto memory = PeerMemories::instance().make(1 << 20), next = PeerMemories::instance().make(1 << 20);
  const void* const address = memory->data();
  checkCuda(cudaSetDevice(other), "cudaSetDevice");
  memory.reset();
  CHECK(isAllocated(address) == (other != 0));
  checkCuda(cudaSetDevice(0), "cudaSetDevice");
  next.reset();
  CHECK_FALSE(isAllocated(address));
}

TEST_CASE("a rank with another current device is an error of all at once") {
  if (maxRanks() < 2) return;
  for (const bool usesPeers : {true, false}) {
    CAPTURE(usesPeers);
    const auto messages = onRanks(2, [=](Rank& rank) {
      Team team(rank.comm, {usesPeers, std::chrono::milliseconds(5000)});
      const DeviceArray<int> part(std::vector<int>{rank.number});
      if (rank.number == 1) checkCuda(cudaSetDevice(0), "cudaSetDevice");
      return gpuopt::distributed::reduce(team, part.data(), 1, rank.stream) < 0;
    });
    // WRITTEN distributed: gpuopt::distributed::reduce after cudaSetDevice of another device in this thread
    // DO: cudaSetDevice the team's device before the call
    REQUIRE(messages ==
            std::vector<std::string>{"gpuopt::distributed::reduce: rank 1 refused its arguments",
                                     "gpuopt::distributed::reduce: the team is of device 1, the current device is 0"});
  }
}

TEST_CASE("no elements and no identity are an error on every rank") {
  const int ranks = someRanks();
  for (const bool usesPeers : {true, false}) {
    const auto messages = onRanks(ranks, [=](Rank& rank) {
      Team team(rank.comm, pathOf(usesPeers));
      const DeviceArray<int> part(0);
      return gpuopt::distributed::reduce(team, part.data(), 0, Never{}, rank.stream) < 0;
    });
    // WRITTEN distributed: reduce(team, part, n, op) with an operation of your own, and n is 0 on all ranks
    // DO: pass init, which is then the result
    const std::string message =
        "gpuopt::distributed::reduce: no rank has elements, and the operation has no known identity: pass init";
    REQUIRE(messages == outcomes(ranks, message, message));
    REQUIRE(onRanks(ranks, [=](Rank& rank) {
              Team team(rank.comm, pathOf(usesPeers));
              const DeviceArray<int> part(std::vector<int>{7});
              const std::size_t n = rank.number == ranks - 1 ? 1 : 0;
              return gpuopt::distributed::reduce(team, part.data(), 0, Never{}, 5, rank.stream) == 5 &&
                     gpuopt::distributed::reduce(team, part.data(), n, Never{}, rank.stream) == 7;
            }) == allRight(ranks));
  }
}

// All blocks of a grid write: a barrier has to bring what each of them has written.
#if GPUOPT_EMULATION
constexpr int SHARED = 64, BLOCKS = 4, TURNS = 20;
#else
constexpr int SHARED = 1 << 20, BLOCKS = 264, TURNS = 100;
#endif

__global__ void countUp(int* values) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < SHARED; i += gridDim.x * blockDim.x) values[i] += 1;
}
__global__ void countOthers(const int* values, int expected, int* others) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < SHARED; i += gridDim.x * blockDim.x)
    if (values[i] != expected) atomicAdd(others, 1);
}

TEST_CASE("behind a barrier, ranks see what all blocks of the others have written before it") {
  const int ranks = someRanks(4);
  for (const bool usesPeers : {true, false}) {
    std::vector<int*> values(static_cast<std::size_t>(ranks));
    REQUIRE(onRanks(ranks, [&](Rank& rank) {
              Team team(rank.comm, pathOf(usesPeers));
              DeviceArray<int> own(std::vector<int>(SHARED, 0)), others(std::vector<int>{0});
              values[static_cast<std::size_t>(rank.number)] = own.data();
              rank.wait();
              team.barrier(rank.stream);
              rank.wait();  // all addresses are there
              gpuopt::LaunchConfig config;
              config.grid = dim3(BLOCKS);
              config.block = dim3(32);
              config.stream = rank.stream;
              const int* const next = values[static_cast<std::size_t>((rank.number + 1) % ranks)];
              for (int turn = 1; turn <= TURNS; ++turn) {
                gpuopt::launch(countUp, config, own.data());
                team.barrier(rank.stream);
                gpuopt::launch(countOthers, config, next, turn, others.data());
                team.barrier(rank.stream);
              }
              rank.wait();
              team.check();
              return others.toHost()[0] == 0;
            }) == allRight(ranks));
  }
}

TEST_CASE("a team's communicator is not null, and of the current device") {
  REQUIRE_THROWS_AS(Team(nullptr), std::invalid_argument);
  const auto messages = onRanks(1, [](Rank&) { return Team(nullptr).size() == 0; });
  REQUIRE(messages[0] == "gpuopt::distributed::Team: comm is null");
  if (maxRanks() < 2) return;
  const auto ofDevices = onRanks(2, [](Rank& rank) {
    cudaSetDevice(1 - rank.number);
    return Team(rank.comm).size() == 0;
  });
  // WRITTEN distributed: gpuopt::distributed::Team team(comm) without cudaSetDevice in this thread
  // DO: cudaSetDevice the device that the communicator was made on, in every thread
  REQUIRE(ofDevices[0] == "gpuopt::distributed::Team: the communicator is of device 0, the current device is 1");
}

}  // namespace distributed_errors_test
