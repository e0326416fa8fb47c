/// A process for each rank: they open each other's memory by CUDA's IPC. And calls in graphs. On GPUs alone, as the
/// emulated device has neither.
// SPDX-License-Identifier: MIT
#include <cuda_runtime.h>

#ifndef GPUOPT_EMULATION

#include "support/catch.hpp"
#include "support/ranks.cuh"

#include <gpuopt/distributed.cuh>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace distributed_processes_test {

using gpuopt::distributed::Slabs;
using gpuopt::distributed::SymmetricVector;
using gpuopt::distributed::Team;
using gpuopt::distributed::TeamError;
using gpuopt::distributed::TeamOptions;
using gpuopt::test::allRight;
using gpuopt::test::checkCuda;
using gpuopt::test::checkNccl;
using gpuopt::test::checkTrue;
using gpuopt::test::DeviceArray;
using gpuopt::test::maxRanks;
using gpuopt::test::onRanks;
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
  for (int device = 0; device < maxRanks(); ++device)
    for (int peer = 0; peer < maxRanks(); ++peer) {
      int canAccess = 0;
      if (device != peer && (cudaDeviceCanAccessPeer(&canAccess, device, peer) != cudaSuccess || canAccess == 0))
        return false;
    }
  return true;
}

constexpr std::size_t ROWS = 130, COLS = 202;

// A rank's rows, with values of their own in each call.
std::vector<int> rowsOf(const Slabs& rows, int rank, int call) {
  std::vector<int> values;
  for (std::size_t i = 0; i < rows.size(rank) * COLS; ++i)
    values.push_back(static_cast<int>(rows.first(rank) * COLS + i) + call * 1000003);
  return values;
}

std::vector<int> transposedOf(const Slabs& cols, int rank, int call) {
  std::vector<int> values;
  for (std::size_t c = 0; c < cols.size(rank); ++c)
    for (std::size_t r = 0; r < ROWS; ++r)
      values.push_back(static_cast<int>(r * COLS + cols.first(rank) + c) + call * 1000003);
  return values;
}

// The slabs of a matrix in symmetric memory.
struct Transposition {
  Slabs rows, cols;
  SymmetricVector<int> in, out;

  Transposition(Team& team, int ranks)
      : rows(Slabs::even(ROWS, ranks)),
        cols(Slabs::even(COLS, ranks)),
        in(team, rows.largest() * COLS),
        out(team, cols.largest() * ROWS) {}

  // Whether the transpose is right; queue() queues the call.
  template <class Queue>
  bool isRight(const Rank& rank, int call, const Queue& queue) {
    const std::vector<int> values = rowsOf(rows, rank.number, call);
    std::vector<int> result(cols.size(rank.number) * ROWS);
    checkCuda(cudaMemcpy(in.data(), values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice), "cudaMemcpy");
    queue();
    rank.wait();
    checkCuda(cudaMemcpy(result.data(), out.data(), result.size() * sizeof(int), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return result == transposedOf(cols, rank.number, call);
  }
};

// Copy engines even for small matrices, or never.
void preferCopies(Team& team, bool usesCopies) {
  auto& tuning = gpuopt::detail::TeamAccess::of(team).slabTuning;
  tuning.maxCopyRanks = tuning.maxTransposingCopyRanks = usesCopies ? 16 : 0;
  tuning.minCopyBytes = 0;
}

// A graph of two transpositions, which is launched again and again.
bool isRightInGraph(Rank& rank, bool usesPeers, bool usesCopies) {
  Team team(rank.comm, {usesPeers});
  preferCopies(team, usesCopies);
  Transposition matrix(team, rank.count);
  const auto transpose = [&] { gpuopt::distributed::transpose(team, matrix.in, matrix.out, ROWS, COLS, rank.stream); };
  if (!matrix.isRight(rank, 0, transpose)) return false;  // loads the kernels
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  checkCuda(cudaStreamBeginCapture(rank.stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  transpose();
  transpose();
  checkCuda(cudaStreamEndCapture(rank.stream, &graph), "cudaStreamEndCapture");
  checkCuda(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  bool isRight = true;
  for (int call = 1; call < 10; ++call)
    isRight = matrix.isRight(rank, call, [&] {
      checkCuda(cudaGraphLaunch(executable, rank.stream), "cudaGraphLaunch");
    }) && isRight;
  team.check();
  checkCuda(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
  checkCuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
  return isRight;
}

TEST_CASE("transpositions in graphs, on every path") {
  const int ranks = maxRanks();
  CHECK(onRanks(ranks, [](Rank& rank) { return isRightInGraph(rank, true, false); }) == allRight(ranks));
  CHECK(onRanks(ranks, [](Rank& rank) { return isRightInGraph(rank, true, true); }) == allRight(ranks));
  CHECK(onRanks(ranks, [](Rank& rank) { return isRightInGraph(rank, false, false); }) == allRight(ranks));
}

// Runs in each of the processes that another test case starts.
TEST_CASE("a rank in a process of its own", "[.rank]") {
  const char* const number = std::getenv(rankVariable);
  const char* const id = std::getenv(idVariable);
  if (number == nullptr || id == nullptr) return;
  const bool reachable = allReachEachOther();
  Rank rank(idOf(id), std::atoi(number), maxRanks());
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
  Transposition matrix(team, rank.count);
  for (int call = 0; call < 20; ++call) {
    preferCopies(team, call % 2 == 1);
    REQUIRE(matrix.isRight(
        rank, call, [&] { gpuopt::distributed::transpose(team, matrix.in, matrix.out, ROWS, COLS, rank.stream); }));
  }
  team.barrier(rank.stream);
  rank.wait();
  team.check();
}

// Runs in each of the processes that another test case starts: the last one ends between two calls, without a word.
TEST_CASE("a rank in a process that loses another one", "[.lost]") {
  const char* const number = std::getenv(rankVariable);
  const char* const id = std::getenv(idVariable);
  if (number == nullptr || id == nullptr || maxRanks() < 2) return;
  Rank rank(idOf(id), std::atoi(number), maxRanks());
  const int last = rank.count - 1;
  TeamOptions options;
  options.timeout = std::chrono::milliseconds(1000);
  Team team(rank.comm, options);
  const DeviceArray<int> part(std::vector<int>{rank.number});
  REQUIRE(gpuopt::distributed::reduce(team, part.data(), 1, rank.stream) == rank.count * last / 2);
  if (rank.number == last) _exit(0);
  std::string message = "no error";
  try {
    static_cast<void>(gpuopt::distributed::reduce(team, part.data(), 1, rank.stream));
  } catch (const TeamError& error) {
    message = error.what();
  }
  // NCCL would wait for the lost rank.
  static_cast<void>(ncclCommAbort(std::exchange(rank.comm, nullptr)));
  if (team.usesPeerAccess())
    REQUIRE(message == "gpuopt::distributed::reduce: rank " + std::to_string(last) + " did not come in time");
  else
    REQUIRE(message == "gpuopt::distributed::reduce: a rank did not come in time");
}

// This process's environment, and two variables. Not setenv, since threads of NCCL read the environment meanwhile.
std::vector<std::string> environmentOf(const std::string& id, int rank) {
  std::vector<std::string> all;
  for (char** each = environ; *each != nullptr; ++each) all.emplace_back(*each);
  all.push_back(std::string(idVariable) + "=" + id);
  all.push_back(std::string(rankVariable) + "=" + std::to_string(rank));
  return all;
}

pid_t startRank(const char* tag, const std::string& id, int rank) {
  std::string name = "processes", choice = tag;
  char* const arguments[] = {name.data(), choice.data(), nullptr};
  std::vector<std::string> texts = environmentOf(id, rank);
  std::vector<char*> environment;
  for (std::string& text : texts) environment.push_back(text.data());
  environment.push_back(nullptr);
  pid_t process = 0;
  checkTrue(posix_spawn(&process, "/proc/self/exe", nullptr, nullptr, arguments, environment.data()) == 0);
  return process;
}

// Starts a process for each rank, which runs the test case with this tag. All have to end well.
void requireProcesses(const char* tag) {
  ncclUniqueId id{};
  checkNccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
  std::vector<pid_t> processes;
  for (int rank = 0; rank < maxRanks(); ++rank) processes.push_back(startRank(tag, textOf(id), rank));
  for (const pid_t process : processes) {
    int status = -1;
    REQUIRE(waitpid(process, &status, 0) == process);
    REQUIRE((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  }
}

TEST_CASE("ranks of several processes") { requireProcesses("[.rank]"); }

TEST_CASE("a process that ends between two calls: the others get an error in time") { requireProcesses("[.lost]"); }

}  // namespace distributed_processes_test

#endif
