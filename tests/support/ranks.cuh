/// Ranks as threads, each with a device, a stream and its part of a communicator.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/device_array.cuh"

#include <cuda_runtime.h>
#include <nccl.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace gpuopt::test {

inline void checkNccl(ncclResult_t code, const char* call) {
  if (code != ncclSuccess) throw std::runtime_error(std::string(call) + ": " + ncclGetErrorString(code));
}

/// The most ranks that there can be.
inline int maxRanks() {
#if GPUOPT_EMULATION
  return 8;
#else
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
#endif
}

/// Three ranks or `most`, or as many as there can be.
inline int someRanks(int most = 3) { return maxRanks() < most ? maxRanks() : most; }

/// Emulated devices are as many as are asked for.
inline void provideDevices([[maybe_unused]] int count) {
#if GPUOPT_EMULATION
  if (count > gpuopt::emulation::deviceCount()) gpuopt::emulation::setDeviceCount(count);
#endif
}

/// 1, 2, 3 and 8, as far as there can be as many.
inline std::vector<int> rankCounts() {
  std::vector<int> counts;
  for (const int count : {1, 2, 3, 8})
    if (count <= maxRanks()) counts.push_back(count);
  return counts;
}

/// Makes this rank's part of a communicator whose calls do not block. NCCL may still be busy with it afterwards.
inline ncclComm_t startComm(const ncclUniqueId& id, int rank, int ranks) {
  ncclComm_t comm = nullptr;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  const ncclResult_t code = ncclCommInitRankConfig(&comm, ranks, id, rank, &config);
  if (code != ncclInProgress) checkNccl(code, "ncclCommInitRankConfig");
  return comm;
}

/// Waits until NCCL has made a communicator.
inline void waitForComm(ncclComm_t comm) {
  ncclResult_t code = ncclInProgress;
  while (code == ncclInProgress) {
    checkNccl(ncclCommGetAsyncError(comm, &code), "ncclCommGetAsyncError");
    std::this_thread::yield();
  }
  checkNccl(code, "ncclCommInitRankConfig");
}

/// Whether calls of NCCL return before they are done.
enum class CommMode { blocking, nonBlocking };

/// A rank, in its thread.
struct Rank {
  int number, count;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;

  Rank(const ncclUniqueId& id, int rank, int ranks, CommMode mode = CommMode::blocking) : number(rank), count(ranks) {
    checkCuda(cudaSetDevice(rank), "cudaSetDevice");
    checkCuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    if (mode == CommMode::blocking) {
      checkNccl(ncclCommInitRank(&comm, ranks, id, rank), "ncclCommInitRank");
    } else {
      comm = startComm(id, rank, ranks);
      waitForComm(comm);
    }
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;
  ~Rank() {
    cudaStreamSynchronize(stream);
    ncclCommDestroy(comm);
    cudaStreamDestroy(stream);
  }

  void wait() const { checkCuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize"); }
};

/// Calls work(rank), which returns whether all is right, for each of `ranks` ranks at the same time. Returns "right",
/// "wrong", or the message of what was thrown, of each.
template <class Work>
std::vector<std::string> onRanks(int ranks, Work work, CommMode mode = CommMode::blocking) {
  provideDevices(ranks);
  ncclUniqueId id{};
  checkNccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
  std::vector<std::string> outcomes(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int i = 0; i < ranks; ++i) {
    threads.emplace_back([&, i] {
      try {
        Rank rank(id, i, ranks, mode);
        outcomes[static_cast<std::size_t>(i)] = work(rank) ? "right" : "wrong";
      } catch (const std::exception& error) {
        outcomes[static_cast<std::size_t>(i)] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

/// A place where threads wait for each other, once, but not for ever. Several teams on the same devices may be in use
/// at once if no thread waits for a whole device in the meantime: by cudaDeviceSynchronize, or by allocations that do
/// so, a rank would wait for the other team's kernel, which waits for a rank that waits for this team's.
class Meeting {
 public:
  explicit Meeting(int threads) : missing_(threads) {}
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (--missing_ == 0) all_.notify_all();
    all_.wait_for(lock, std::chrono::seconds(20), [this] { return missing_ <= 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_;
  int missing_;
};

/// While it lives, host threads of the emulated device run ahead of their streams, as those of GPUs do.
class DeferredWork {
 public:
#if GPUOPT_EMULATION
  DeferredWork() { gpuopt::emulation::setQueueMode(gpuopt::emulation::QueueMode::deferred); }
  ~DeferredWork() { gpuopt::emulation::setQueueMode(before_); }
#else
  DeferredWork() {}
#endif
  DeferredWork(const DeferredWork&) = delete;
  DeferredWork& operator=(const DeferredWork&) = delete;

#if GPUOPT_EMULATION
 private:
  gpuopt::emulation::QueueMode before_ = gpuopt::emulation::queueMode();
#endif
};

#if GPUOPT_EMULATION
/// While it lives, only so many neighbouring devices reach each other's memory.
class NodeScope {
 public:
  explicit NodeScope(int devices) { gpuopt::emulation::setNodeDevices(devices); }
  NodeScope(const NodeScope&) = delete;
  NodeScope& operator=(const NodeScope&) = delete;
  ~NodeScope() { gpuopt::emulation::setNodeDevices(gpuopt::emulation::MAX_DEVICES); }
};
#endif

/// What onRanks returns if all is right.
inline std::vector<std::string> allRight(int ranks) {
  return std::vector<std::string>(static_cast<std::size_t>(ranks), "right");
}

}  // namespace gpuopt::test
