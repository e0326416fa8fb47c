/// Ranks that leave or throw between calls, and communicators that fail, where NCCL moves everything: the other ranks
/// get an error in time. tests/device/distributed/errors_test.cu has what kernels between peers notice.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/ranks.cuh"

#include <gpuopt/distributed.cuh>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace distributed_lost_ranks_test {

using gpuopt::distributed::NcclError;
using gpuopt::distributed::SymmetricVector;
using gpuopt::distributed::Team;
using gpuopt::distributed::TeamError;
using gpuopt::distributed::TeamOptions;
using gpuopt::test::CommMode;
using gpuopt::test::DeferredWork;
using gpuopt::test::DeviceArray;
using gpuopt::test::onRanks;
using gpuopt::test::Rank;
using gpuopt::test::someRanks;

// NCCL alone, and a communicator that is aborted when a rank does not come.
TeamOptions optionsOf(Rank& rank) {
  return {false, std::chrono::milliseconds(300),
          [&rank] { static_cast<void>(ncclCommAbort(std::exchange(rank.comm, nullptr))); }};
}

// What a rank says of another one that is lost. Abort on the emulated device ends the waits of all, on GPUs one's own.
bool isLoss(const std::string& message, const std::string& function) {
  return message == function + ": a rank did not come in time" ||
         message == function + ": remote process exited or there was a network error";
}

template <class Call>
std::string messageOf(const Call& call) {
  try {
    call();
  } catch (const TeamError& error) {
    return error.rank() == -1 ? error.what() : "names a rank";
  } catch (const NcclError& error) {
    return error.what();
  }
  return "no error";
}

using Call = std::function<void(Team&, Rank&, const DeviceArray<float>& in, DeviceArray<float>& out)>;

// All ranks make a team and reduce; then the last one throws, and the others make this call, and another one. Each rank
// waits longer than the one before.
bool endsInTime(CommMode mode, const Call& call, const std::string& function,
                std::chrono::milliseconds longer = std::chrono::milliseconds(0)) {
  const int ranks = someRanks(), last = ranks - 1;
  if (ranks < 2) return true;
  const DeferredWork deferred;
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::string> messages(static_cast<std::size_t>(ranks)), again(messages);
  const auto work = [&](Rank& rank) {
    const DeviceArray<float> in(std::vector<float>(64, 1.0f));
    DeviceArray<float> out(64);
    TeamOptions options = optionsOf(rank);
    options.timeout += rank.number * longer;
    Team team(rank.comm, options);
    if (gpuopt::distributed::reduce(team, in.data(), 2, rank.stream) != 2.0f * static_cast<float>(ranks)) return false;
    if (rank.number == last) throw std::runtime_error("this rank is gone");
    const auto i = static_cast<std::size_t>(rank.number);
    messages[i] = messageOf([&] { call(team, rank, in, out); });
    again[i] = messageOf([&] { team.barrier(rank.stream); });
    return isLoss(messages[i], function) && isLoss(again[i], "gpuopt::distributed::Team::barrier");
  };
  const std::vector<std::string> outcomes = onRanks(ranks, work, mode);
  CAPTURE(messages, again);
  std::vector<std::string> expected(static_cast<std::size_t>(ranks), "right");
  expected.back() = "this rank is gone";
  CHECK(outcomes == expected);
  return std::chrono::steady_clock::now() - start < std::chrono::seconds(20);
}

TEST_CASE("a rank that throws between calls: the others end in time, by NCCL too", "[sweep]") {
  for (const CommMode mode : {CommMode::blocking, CommMode::nonBlocking}) {
    CAPTURE(mode == CommMode::blocking);
    CHECK(endsInTime(
        mode,
        [](Team& team, Rank& rank, const DeviceArray<float>& in, DeviceArray<float>&) {
          static_cast<void>(gpuopt::distributed::reduce(team, in.data(), 10, rank.stream));
        },
        "gpuopt::distributed::reduce"));
    CHECK(endsInTime(
        mode,
        [](Team& team, Rank& rank, const DeviceArray<float>& in, DeviceArray<float>& out) {
          gpuopt::distributed::transpose(team, in.data(), out.data(), 8, 8, rank.stream);
        },
        "gpuopt::distributed::transpose"));
    CHECK(endsInTime(
        mode,
        [](Team& team, Rank& rank, const DeviceArray<float>& in, DeviceArray<float>& out) {
          gpuopt::distributed::reduceColumns(team, in.data(), 4, 4, out.data(), rank.stream);
        },
        "gpuopt::distributed::reduceColumns"));
    CHECK(endsInTime(
        mode,
        [](Team& team, Rank&, const DeviceArray<float>&, const DeviceArray<float>&) {
          const SymmetricVector<float> memory(team, 10);
        },
        "gpuopt::distributed::SymmetricVector"));
  }
}

// No thread waits for what the other ranks have queued until their teams end, and free memory.
TEST_CASE("a team ends in time, and abandons its communicator, while NCCL waits for a lost rank", "[sweep]") {
  const int ranks = someRanks();
  if (ranks < 2) return;
  const DeferredWork deferred;
  const auto start = std::chrono::steady_clock::now();
  std::atomic<int> abandoned{0};  // an abort may end what the others wait for, too
  const auto outcomes = onRanks(ranks, [&](Rank& rank) {
    const DeviceArray<float> in(std::vector<float>(64, 1.0f));
    DeviceArray<float> out(1);
    {
      Team team(rank.comm, optionsOf(rank));
      if (gpuopt::distributed::reduce(team, in.data(), 1, rank.stream) != static_cast<float>(ranks)) return false;
      if (rank.number == ranks - 1) return true;
      gpuopt::distributed::reduceInto(team, in.data(), 10, out.data(), rank.stream);
    }
    if (rank.comm == nullptr) ++abandoned;
    return true;
  });
  CHECK(outcomes == gpuopt::test::allRight(ranks));
  CHECK(abandoned >= 1);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
}

// NCCL connects the ranks in their first collective, before a stream has anything to wait for.
TEST_CASE("a team that not all ranks make is an error in time", "[sweep]") {
  const int ranks = someRanks();
  if (ranks < 2) return;
  const DeferredWork deferred;
  for (const bool usesPeers : {true, false}) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::string> messages(static_cast<std::size_t>(ranks), "no team");
    const auto work = [&](Rank& rank) {
      TeamOptions options = optionsOf(rank);
      options.usesPeerAccess = usesPeers;
      if (rank.number == ranks - 1) return true;
      std::string& message = messages[static_cast<std::size_t>(rank.number)];
      message = messageOf([&] { const Team team(rank.comm, options); });
      return isLoss(message, "gpuopt::distributed::Team") && rank.comm == nullptr;
    };
    const auto outcomes = onRanks(ranks, work, CommMode::nonBlocking);
    CAPTURE(usesPeers, messages);
    CHECK(outcomes == gpuopt::test::allRight(ranks));
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
  }
}

// Of the calling thread.
std::chrono::nanoseconds processorTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// One GPU is enough for this one.
TEST_CASE("a rank that never makes its communicator is an error in time, for which nobody spins", "[sweep]") {
  ncclUniqueId id{};
  gpuopt::test::checkNccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
  ncclComm_t comm = gpuopt::test::startComm(id, 0, 2);
  const auto before = processorTime();
  const auto start = std::chrono::steady_clock::now();
  const auto abort = [&] { static_cast<void>(ncclCommAbort(std::exchange(comm, nullptr))); };
  // WRITTEN distributed: gpuopt::distributed::Team team(comm), and not all ranks make one, or not even a communicator
  // DO: look for the rank that has ended before; TeamOptions::timeout is how long it is waited for
  const std::string expected = "gpuopt::distributed::Team: a rank did not come in time";
  CHECK(messageOf([&] { const Team team(comm, {true, std::chrono::milliseconds(500), abort}); }) == expected);
  const auto time = std::chrono::steady_clock::now() - start;
  CHECK(comm == nullptr);
  CHECK(time >= std::chrono::milliseconds(500));
  CHECK(time < std::chrono::seconds(20));
  CHECK(processorTime() - before < std::chrono::milliseconds(250));
}

#if GPUOPT_EMULATION

TEST_CASE("a communicator in error is an error of every call, before anything is written") {
  std::atomic<int> reduced{0};
  const auto outcomes = onRanks(3, [&](Rank& rank) {
    const DeviceArray<int> part(std::vector<int>{5});
    DeviceArray<int> out(std::vector<int>{-1});
    Team team(rank.comm, {false});
    rank.wait();
    if (gpuopt::distributed::reduce(team, part.data(), 1, rank.stream) != 15) return false;
    ++reduced;
    while (reduced < 3) std::this_thread::yield();
    if (rank.number == 0) static_cast<void>(ncclCommAbort(std::exchange(rank.comm, nullptr)));
    if (rank.number == 0) return true;
    ncclResult_t code = ncclSuccess;
    while (code == ncclSuccess) ncclCommGetAsyncError(rank.comm, &code);
    // WRITTEN distributed: any call of a team without peer access, after its communicator has failed
    // DO: abort the communicator and make another one, or end; a rank may have gone, or the network
    const std::string ofTeam = "gpuopt::distributed::Team: remote process exited or there was a network error";
    const auto reduceAgain = [&] { gpuopt::distributed::reduceInto(team, part.data(), 1, out.data(), rank.stream); };
    return messageOf([&] { team.check(); }) == ofTeam &&
           messageOf(reduceAgain) ==
               "gpuopt::distributed::reduceInto: remote process exited or there was a network error" &&
           out.toHost()[0] == -1;
  });
  CHECK(outcomes == gpuopt::test::allRight(3));
}

// The first rank aborts. In what the others gather is then the lost rank's last contribution, of another exchange.
TEST_CASE("what an aborted gathering leaves is an error, not a result", "[sweep]") {
  gpuopt::emulation::detail::abortSendsOldData = true;
  const std::chrono::milliseconds longer(1000);
  CHECK(endsInTime(
      CommMode::blocking,
      [](Team& team, Rank& rank, const DeviceArray<float>& in, DeviceArray<float>&) {
        static_cast<void>(gpuopt::distributed::reduce(team, in.data(), 10, rank.stream));
      },
      "gpuopt::distributed::reduce", longer));
  CHECK(endsInTime(
      CommMode::blocking,
      [](Team& team, Rank&, const DeviceArray<float>&, const DeviceArray<float>&) {
        const SymmetricVector<float> memory(team, 10);
      },
      "gpuopt::distributed::SymmetricVector", longer));
  gpuopt::emulation::detail::abortSendsOldData = false;
}

TEST_CASE("a team that nobody abandons leaves its memory where NCCL waits on", "[sweep]") {
  setenv("GPUOPT_EMULATION_TIMEOUT", "1", 1);
  {
    const DeferredWork deferred;
    const auto outcomes = onRanks(2, [](Rank& rank) {
      TeamOptions options = optionsOf(rank);
      options.abandon = nullptr;
      const auto start = std::chrono::steady_clock::now();
      DeviceArray<int> in(16), out(16);
      {
        Team team(rank.comm, options);
        if (rank.number == 1) return true;
        // WRITTEN distributed: a call by NCCL, and another rank has ended, or is busy with something else
        // DO: look for the rank that did not call; TeamOptions::timeout is how long it is waited for
        const std::string expected = "gpuopt::distributed::transpose: a rank did not come in time";
        const std::string message =
            messageOf([&] { gpuopt::distributed::transpose(team, in.data(), out.data(), 4, 4, rank.stream); });
        if (message != expected) return false;
      }
      return std::chrono::steady_clock::now() - start < std::chrono::milliseconds(800);
    });
    CHECK(outcomes == gpuopt::test::allRight(2));
  }
  unsetenv("GPUOPT_EMULATION_TIMEOUT");
}

#endif

}  // namespace distributed_lost_ranks_test
