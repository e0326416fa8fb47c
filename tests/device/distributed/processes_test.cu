/// A process for each rank: they open each other's memory by CUDA's IPC. On GPUs alone, as the emulated device has
/// none.
// SPDX-License-Identifier: MIT
#include <cuda_runtime.h>

#ifndef GPUOPT_EMULATION

#include "support/catch.hpp"
#include "support/ranks.cuh"

#include <gpuopt/distributed.cuh>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace distributed_processes_test {

using gpuopt::distributed::Team;
using gpuopt::test::checkNccl;
using gpuopt::test::DeviceArray;
using gpuopt::test::mostRanks;
using gpuopt::test::Rank;

constexpr const char* rankVariable = "GPUOPT_TEST_RANK";
constexpr const char* idVariable = "GPUOPT_TEST_NCCL_ID";

// An id as text for the environment: two letters a byte.
std::string textOf(const ncclUniqueId& id) {
  std::string text;
  for (const char byte : id.internal) {
    const auto bits = static_cast<unsigned char>(byte);
    text += static_cast<char>('a' + bits / 16);
    text += static_cast<char>('a' + bits % 16);
  }
  return text;
}

ncclUniqueId idOf(const std::string& text) {
  ncclUniqueId id{};
  for (std::size_t i = 0; i < sizeof id.internal && 2 * i + 1 < text.size(); ++i)
    id.internal[i] = static_cast<char>((text[2 * i] - 'a') * 16 + (text[2 * i + 1] - 'a'));
  return id;
}

bool allReachEachOther() {
  for (int device = 0; device < mostRanks(); ++device)
    for (int peer = 0; peer < mostRanks(); ++peer) {
      int canAccess = 0;
      if (device != peer && (cudaDeviceCanAccessPeer(&canAccess, device, peer) != cudaSuccess || canAccess == 0))
        return false;
    }
  return true;
}

// Runs in each of the processes that the other test case starts.
TEST_CASE("a rank in a process of its own", "[.rank]") {
  const char* const number = std::getenv(rankVariable);
  const char* const id = std::getenv(idVariable);
  if (number == nullptr || id == nullptr) return;
  const bool reachable = allReachEachOther();
  Rank rank(idOf(id), std::atoi(number), mostRanks());
  Team team(rank.comm);
  REQUIRE(team.usesPeerAccess() == reachable);
  DeviceArray<int> out(100);
  std::vector<int> expected;
  for (int i = 0; i < 100; ++i) {
    const DeviceArray<int> part(std::vector<int>{rank.number * 1000 + i});
    gpuopt::distributed::reduceInto(team, part.data(), 1, out.data() + i, rank.stream);
    expected.push_back(1000 * rank.count * (rank.count - 1) / 2 + rank.count * i);
    rank.wait();
  }
  team.barrier(rank.stream);
  rank.wait();
  team.check();
  REQUIRE(out.toHost() == expected);
}

TEST_CASE("ranks of several processes") {
  ncclUniqueId id{};
  checkNccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
  setenv(idVariable, textOf(id).c_str(), 1);
  char name[] = "processes", choice[] = "[.rank]";
  char* const arguments[] = {name, choice, nullptr};
  std::vector<pid_t> processes(static_cast<std::size_t>(mostRanks()));
  for (int rank = 0; rank < mostRanks(); ++rank) {
    setenv(rankVariable, std::to_string(rank).c_str(), 1);
    pid_t& process = processes[static_cast<std::size_t>(rank)];
    REQUIRE(posix_spawn(&process, "/proc/self/exe", nullptr, nullptr, arguments, environ) == 0);
  }
  for (const pid_t process : processes) {
    int status = -1;
    REQUIRE(waitpid(process, &status, 0) == process);
    REQUIRE((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  }
  unsetenv(rankVariable);
  unsetenv(idVariable);
}

}  // namespace distributed_processes_test

#endif
