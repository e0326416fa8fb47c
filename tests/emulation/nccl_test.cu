/// The in-process NCCL: ranks as threads, or as calls of one group, in the order of streams.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#include <nccl.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace nccl_test {

// Element i of rank r in a test's input.
int valueAt(int rank, std::size_t i) { return rank * 1000 + static_cast<int>(i * i % 97); }

/// A rank's communicator, stream and memory, in the thread of the rank.
struct Rank {
  int number, count;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  int *in = nullptr, *out = nullptr;
  std::size_t n;

  Rank(const ncclUniqueId& id, int rank, int ranks, std::size_t elements) : number(rank), count(ranks), n(elements) {
    if (ncclCommInitRank(&comm, ranks, id, rank) != ncclSuccess) comm = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * static_cast<std::size_t>(ranks) * sizeof(int));
    std::vector<int> values;
    for (std::size_t i = 0; i < n; ++i) values.push_back(valueAt(rank, i));
    cudaMemcpy(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;
  ~Rank() {
    cudaStreamSynchronize(stream);
    ncclCommDestroy(comm);
    cudaStreamDestroy(stream);
    cudaFree(in);
    cudaFree(out);
  }

  std::vector<int> result(std::size_t elements) const {
    std::vector<int> values(elements, -1);
    cudaStreamSynchronize(stream);
    cudaMemcpy(values.data(), out, elements * sizeof(int), cudaMemcpyDeviceToHost);
    return values;
  }
};

// Calls work(rank) for each of `ranks` ranks, in a thread and on a device each; whether all return true.
template <class Work>
bool allOf(int ranks, std::size_t n, Work work) {
  const DeviceCountScope scope(ranks);
  ncclUniqueId id{};
  ncclGetUniqueId(&id);
  return onDevices(ranks, [&](int device) {
           Rank rank(id, device, ranks, n);
           return rank.comm != nullptr && work(rank);
         }) == ranks;
}

bool gathers(Rank& rank) {
  if (ncclAllGather(rank.in, rank.out, rank.n, ncclInt, rank.comm, rank.stream) != ncclSuccess) return false;
  const std::vector<int> all = rank.result(rank.n * static_cast<std::size_t>(rank.count));
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] != valueAt(static_cast<int>(i / rank.n), i % rank.n)) return false;
  return true;
}

bool broadcasts(Rank& rank) {
  const int root = rank.count - 1;
  if (ncclBroadcast(rank.in, rank.out, rank.n, ncclInt, root, rank.comm, rank.stream) != ncclSuccess) return false;
  const std::vector<int> all = rank.result(rank.n);
  for (std::size_t i = 0; i < rank.n; ++i)
    if (all[i] != valueAt(root, i)) return false;
  return true;
}

bool sums(Rank& rank) {
  if (ncclAllReduce(rank.in, rank.out, rank.n, ncclInt, ncclSum, rank.comm, rank.stream) != ncclSuccess) return false;
  const std::vector<int> all = rank.result(rank.n);
  for (std::size_t i = 0; i < rank.n; ++i) {
    int sum = 0;
    for (int r = 0; r < rank.count; ++r) sum += valueAt(r, i);
    if (all[i] != sum) return false;
  }
  return true;
}

// Every rank sends to every rank, itself included, a different number of elements.
bool exchanges(Rank& rank) {
  bool isQueued = ncclGroupStart() == ncclSuccess;
  for (int i = 0; i < rank.count; ++i) {
    const auto sent = static_cast<std::size_t>(i + 1), received = static_cast<std::size_t>(rank.number + 1);
    int* const to = rank.out + static_cast<std::size_t>(i) * rank.n;
    isQueued = ncclSend(rank.in, sent, ncclInt, i, rank.comm, rank.stream) == ncclSuccess &&
               ncclRecv(to, received, ncclInt, i, rank.comm, rank.stream) == ncclSuccess && isQueued;
  }
  if (ncclGroupEnd() != ncclSuccess || !isQueued) return false;
  const std::vector<int> all = rank.result(rank.n * static_cast<std::size_t>(rank.count));
  for (int i = 0; i < rank.count; ++i)
    for (std::size_t k = 0; k <= static_cast<std::size_t>(rank.number); ++k)
      if (all[static_cast<std::size_t>(i) * rank.n + k] != valueAt(i, k)) return false;
  return true;
}

TEST_CASE("collectives and transfers of 1 to 8 ranks, at once and deferred") {
  for (const int ranks : {1, 2, 3, 8}) {
    REQUIRE(allOf(ranks, 100, gathers));
    REQUIRE(allOf(ranks, 100, broadcasts));
    REQUIRE(allOf(ranks, 100, sums));
    REQUIRE(allOf(ranks, 100, exchanges));
  }
  const DeferredScope deferred;
  REQUIRE(allOf(3, 100, gathers));
  REQUIRE(allOf(3, 100, exchanges));
}

template <class T>
double reducedTo(ncclDataType_t type, ncclRedOp_t op) {
  double result = 0;
  const DeviceCountScope scope(3);
  ncclUniqueId id{};
  ncclGetUniqueId(&id);
  onDevices(3, [&](int device) {
    Rank rank(id, device, 3, 8);
    const auto value = static_cast<T>(static_cast<float>(device + 2));
    auto reduced = static_cast<T>(0.0f);
    cudaMemcpy(rank.in, &value, sizeof value, cudaMemcpyHostToDevice);
    const ncclResult_t code = ncclAllReduce(rank.in, rank.out, 1, type, op, rank.comm, rank.stream);
    cudaStreamSynchronize(rank.stream);
    cudaMemcpy(&reduced, rank.out, sizeof reduced, cudaMemcpyDeviceToHost);
    if (device == 1) result = static_cast<double>(static_cast<float>(reduced));
    return code == ncclSuccess;
  });
  return result;
}

TEST_CASE("all operations and types of reductions") {
  REQUIRE(reducedTo<double>(ncclDouble, ncclSum) == 9);
  REQUIRE(reducedTo<float>(ncclFloat, ncclProd) == 24);
  REQUIRE(reducedTo<std::int8_t>(ncclInt8, ncclMax) == 4);
  REQUIRE(reducedTo<std::uint8_t>(ncclUint8, ncclMin) == 2);
  REQUIRE(reducedTo<std::int32_t>(ncclInt32, ncclAvg) == 3);
  REQUIRE(reducedTo<std::uint32_t>(ncclUint32, ncclSum) == 9);
  REQUIRE(reducedTo<std::int64_t>(ncclInt64, ncclProd) == 24);
  REQUIRE(reducedTo<std::uint64_t>(ncclUint64, ncclMax) == 4);
  REQUIRE(reducedTo<__half>(ncclHalf, ncclSum) == 9);
  REQUIRE(reducedTo<__nv_bfloat16>(ncclBfloat16, ncclMin) == 2);
}

TEST_CASE("ncclReduce leaves the sum at the root, ncclReduceScatter a part at every rank") {
  REQUIRE(allOf(3, 6, [](Rank& rank) {
    cudaMemset(rank.out, 0, 24);
    const bool isQueued = ncclReduce(rank.in, rank.out, 6, ncclInt, ncclSum, 1, rank.comm, rank.stream) == ncclSuccess;
    const int sum = rank.result(6)[5], expected = valueAt(0, 5) + valueAt(1, 5) + valueAt(2, 5);
    return isQueued && sum == (rank.number == 1 ? expected : 0);
  }));
  REQUIRE(allOf(3, 6, [](Rank& rank) {
    const bool isQueued =
        ncclReduceScatter(rank.in, rank.out, 2, ncclInt, ncclSum, rank.comm, rank.stream) == ncclSuccess;
    const auto at = static_cast<std::size_t>(2 * rank.number + 1);
    return isQueued && rank.result(2)[1] == valueAt(0, at) + valueAt(1, at) + valueAt(2, at);
  }));
}

TEST_CASE("one thread can be all ranks, in a group") {
  const DeviceCountScope scope(3);
  ncclComm_t comms[3] = {};
  REQUIRE(ncclCommInitAll(comms, 3, nullptr) == ncclSuccess);
  Managed<int> in(3, 7), out(3, 0);
  in[2] = 20;
  for (const bool isDeferred : {false, true}) {
    gpuopt::emulation::setQueueMode(isDeferred ? gpuopt::emulation::QueueMode::deferred
                                               : gpuopt::emulation::QueueMode::immediate);
    cudaStream_t streams[3] = {};
    REQUIRE(ncclGroupStart() == ncclSuccess);
    for (std::size_t i = 0; i < 3; ++i) {
      int device = -1, rank = -1, count = -1;
      REQUIRE((ncclCommCuDevice(comms[i], &device) == ncclSuccess && device == static_cast<int>(i)));
      REQUIRE((ncclCommUserRank(comms[i], &rank) == ncclSuccess && rank == static_cast<int>(i)));
      REQUIRE((ncclCommCount(comms[i], &count) == ncclSuccess && count == 3));
      REQUIRE((cudaSetDevice(device) == cudaSuccess && cudaStreamCreate(&streams[i]) == cudaSuccess));
      REQUIRE(ncclAllReduce(&in[i], &out[i], 1, ncclInt, ncclSum, comms[i], streams[i]) == ncclSuccess);
    }
    REQUIRE(ncclGroupEnd() == ncclSuccess);
    REQUIRE(cudaStreamSynchronize(streams[1]) == cudaSuccess);
    for (std::size_t i = 0; i < 3; ++i) REQUIRE(out[i] == 34);
    for (const cudaStream_t stream : streams) REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
    for (std::size_t i = 0; i < 3; ++i) out[i] = 0;
  }
  gpuopt::emulation::setQueueMode(gpuopt::emulation::QueueMode::immediate);
  for (const ncclComm_t comm : comms) REQUIRE(ncclCommDestroy(comm) == ncclSuccess);
}

TEST_CASE("arguments that make no sense are refused at the call") {
  REQUIRE(ncclCommInitAll(nullptr, 1, nullptr) == ncclInvalidArgument);
  REQUIRE(ncclGroupEnd() == ncclInvalidUsage);
  REQUIRE(ncclGetVersion(nullptr) == ncclInvalidArgument);
  REQUIRE(allOf(2, 10, [](Rank& rank) {
    std::vector<int> host(10);
    return ncclSend(rank.in, 10, ncclInt, 2, rank.comm, rank.stream) == ncclInvalidArgument &&
           ncclSend(nullptr, 10, ncclInt, 0, rank.comm, rank.stream) == ncclInvalidArgument &&
           ncclSend(rank.in, 11, ncclInt, 0, rank.comm, rank.stream) == ncclInvalidArgument &&
           ncclSend(host.data(), 10, ncclInt, 0, rank.comm, rank.stream) == ncclInvalidArgument &&
           ncclSend(rank.in, 10, ncclNumTypes, 0, rank.comm, rank.stream) == ncclInvalidArgument &&
           ncclSend(rank.in, 10, ncclInt, 0, nullptr, rank.stream) == ncclInvalidArgument &&
           ncclAllReduce(rank.in, rank.out, 10, ncclInt, ncclNumOps, rank.comm, rank.stream) == ncclInvalidArgument &&
           ncclAllGather(rank.in, rank.in, 10, ncclInt, rank.comm, rank.stream) == ncclInvalidArgument;
  }));
  REQUIRE(allOf(2, 10, [](Rank& rank) {
    cudaSetDevice(1 - rank.number);
    const ncclResult_t code = ncclSend(rank.in, 10, ncclInt, 0, rank.comm, nullptr);
    cudaSetDevice(rank.number);
    return code == ncclInvalidArgument;
  }));
}

TEST_CASE("ranks that call different things, or never come, get an error") {
  const auto failsOnBoth = [](auto call, ncclResult_t expected) {
    return allOf(2, 10, [&](Rank& rank) {
      static_cast<void>(call(rank));
      ncclResult_t code = ncclSuccess;
      return ncclCommGetAsyncError(rank.comm, &code) == ncclSuccess && code == expected;
    });
  };
  const auto mismatched = [](Rank& rank) {
    const std::size_t n = rank.number == 0 ? 10 : 9;
    return ncclAllReduce(rank.in, rank.out, n, ncclInt, ncclSum, rank.comm, rank.stream);
  };
  REQUIRE(failsOnBoth(mismatched, ncclInvalidUsage));
  REQUIRE(gpuopt::emulation::lastReport().find("ranks call different collectives") != std::string::npos);
  const auto tooShort = [](Rank& rank) {
    return rank.number == 0 ? ncclSend(rank.in, 10, ncclInt, 1, rank.comm, rank.stream)
                            : ncclRecv(rank.out, 9, ncclInt, 0, rank.comm, rank.stream);
  };
  REQUIRE(failsOnBoth(tooShort, ncclInvalidUsage));
  REQUIRE(gpuopt::emulation::lastReport().find("rank 0 sends 40 bytes to rank 1, which receives 36") !=
          std::string::npos);
  setenv("GPUOPT_EMULATION_TIMEOUT", "1", 1);
  REQUIRE(allOf(2, 10, [](Rank& rank) {
    ncclResult_t code = ncclSuccess;
    if (rank.number == 0) code = ncclAllGather(rank.in, rank.out, 10, ncclInt, rank.comm, rank.stream);
    return code == (rank.number == 0 ? ncclSystemError : ncclSuccess);
  }));
  REQUIRE(gpuopt::emulation::lastReport().find("rank 0 waits in vain in ncclAllGather of 10 elements") !=
          std::string::npos);
  unsetenv("GPUOPT_EMULATION_TIMEOUT");
}

ncclComm_t startComm(const ncclUniqueId& id, int rank, int ranks) {
  ncclComm_t comm = nullptr;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  return ncclCommInitRankConfig(&comm, ranks, id, rank, &config) == ncclInProgress ? comm : nullptr;
}

// Polls until a communicator is not in progress, and counts how often it still was.
ncclResult_t stateOf(ncclComm_t comm, int& polls) {
  ncclResult_t code = ncclInProgress;
  for (polls = 0; ncclCommGetAsyncError(comm, &code) == ncclSuccess && code == ncclInProgress; ++polls)
    std::this_thread::yield();
  return code;
}

TEST_CASE("a communicator that does not block is in progress first, and takes no other call before it is ready") {
  const DeviceCountScope scope(2);
  ncclUniqueId id{};
  ncclGetUniqueId(&id);
  REQUIRE(onDevices(2, [&](int device) {
            const ncclComm_t comm = startComm(id, device, 2);
            int polls = 0, count = 0;
            int *data = nullptr, *all = nullptr;
            cudaMalloc(&data, sizeof(int));
            cudaMalloc(&all, 2 * sizeof(int));
            cudaMemcpy(data, &device, sizeof device, cudaMemcpyHostToDevice);
            const auto gather = [&] { return ncclAllGather(data, all, 1, ncclInt, comm, nullptr); };
            bool isRight = comm != nullptr && ncclCommCount(comm, &count) == ncclInvalidArgument &&
                           gather() == ncclInvalidArgument && ncclCommDestroy(comm) == ncclInvalidArgument;
            isRight = isRight && stateOf(comm, polls) == ncclSuccess && polls > 0 &&
                      ncclCommCount(comm, &count) == ncclSuccess && count == 2;
            isRight = isRight && gather() == ncclInProgress && gather() == ncclInvalidArgument &&
                      stateOf(comm, polls) == ncclSuccess && polls > 0;
            int gathered[2] = {-1, -1};
            cudaMemcpy(gathered, all, sizeof gathered, cudaMemcpyDeviceToHost);
            cudaFree(data);
            cudaFree(all);
            return ncclCommDestroy(comm) == ncclSuccess && isRight && gathered[0] == 0 && gathered[1] == 1;
          }) == 2);
}

TEST_CASE("without the other ranks, a communicator that does not block stays in progress until it is aborted") {
  const DeviceCountScope scope(2);
  ncclUniqueId id{};
  ncclGetUniqueId(&id);
  const ncclComm_t comm = startComm(id, 0, 2);
  REQUIRE(comm != nullptr);
  for (int i = 0; i < 100; ++i) {
    ncclResult_t code = ncclSuccess;
    REQUIRE((ncclCommGetAsyncError(comm, &code) == ncclSuccess && code == ncclInProgress));
  }
  REQUIRE(ncclCommAbort(comm) == ncclSuccess);
  ncclConfig_t config{};
  ncclComm_t other = nullptr;
  REQUIRE(ncclCommInitRankConfig(&other, 2, id, 1, &config) == ncclInvalidArgument);
}

TEST_CASE("the first collective, and the first transfer between two ranks, block the host until the others come") {
  const auto isBlocked = [](auto call) {
    std::atomic<bool> isLateHere{false};
    return allOf(2, 10, [&](Rank& rank) {
      if (rank.number == 1) {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        isLateHere = true;
      }
      const bool isQueued = call(rank) == ncclSuccess;
      return isQueued && isLateHere;
    });
  };
  const DeferredScope deferred;
  REQUIRE(isBlocked(
      [](Rank& rank) { return ncclAllReduce(rank.in, rank.out, 10, ncclInt, ncclSum, rank.comm, rank.stream); }));
  REQUIRE(isBlocked([](Rank& rank) {
    return rank.number == 0 ? ncclSend(rank.in, 10, ncclInt, 1, rank.comm, rank.stream)
                            : ncclRecv(rank.out, 10, ncclInt, 0, rank.comm, rank.stream);
  }));
}

TEST_CASE("an abort ends the waits of the other ranks") {
  REQUIRE(allOf(3, 10, [](Rank& rank) {
    if (rank.number == 2) return ncclCommAbort(std::exchange(rank.comm, nullptr)) == ncclSuccess;
    static_cast<void>(ncclAllGather(rank.in, rank.out, 10, ncclInt, rank.comm, rank.stream));
    ncclResult_t code = ncclSuccess;
    return ncclCommGetAsyncError(rank.comm, &code) == ncclSuccess && code == ncclRemoteError;
  }));
}

TEST_CASE("a communicator has one rank on a device") {
  ncclComm_t comms[2] = {};
  const int devices[] = {0, 0};
  REQUIRE(ncclCommInitAll(comms, 2, devices) == ncclInvalidUsage);
  REQUIRE(ncclCommDestroy(comms[0]) == ncclSuccess);
  ncclUniqueId id{};
  ncclGetUniqueId(&id);
  REQUIRE(ncclCommInitRank(&comms[0], 2, id, 2) == ncclInvalidArgument);
}

}  // namespace nccl_test
