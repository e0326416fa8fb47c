/// \file
/// Ranks as threads, a GPU each, and the time of collective calls: that of the slowest rank.
// SPDX-License-Identifier: MIT
#pragma once

#include "report.cuh"
#include "timing.cuh"

#include <gpuopt/distributed.cuh>

#include <cuda_runtime.h>
#include <nccl.h>

#include <fmt/core.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace bench {

inline void checkNccl(ncclResult_t code, const char* call) {
  if (code != ncclSuccess) throw gpuopt::distributed::NcclError(code, call);
}

/// Where threads meet, without sleep.
class MeetingPoint {
 public:
  explicit MeetingPoint(int threads) : threads_(threads) {}

  void meet() {
    const int round = round_;
    if (++arrived_ == threads_) {
      arrived_ = 0;
      ++round_;
    }
    while (round_ == round) std::this_thread::yield();
  }

 private:
  const int threads_;
  std::atomic<int> arrived_{0}, round_{0};
};

/// What a rank has for all measurements.
struct RankState {
  int number = 0;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  std::unique_ptr<gpuopt::distributed::Team> peers, nccl;  ///< by peer access where there is, and by NCCL alone
  std::unique_ptr<gpuopt::Workspace> workspace;
  std::unique_ptr<DeviceMemory> in, out;
};

/// All GPUs of the host.
class Ranks {
 public:
  explicit Ranks(std::size_t bytes) : states_(static_cast<std::size_t>(count())), point_(count()) {
    ncclUniqueId id{};
    checkNccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
    run([&](RankState& rank) {
      checkNccl(ncclCommInitRank(&rank.comm, count(), id, rank.number), "ncclCommInitRank");
      check(cudaStreamCreateWithFlags(&rank.stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
      gpuopt::distributed::TeamOptions byNccl;
      byNccl.usesPeerAccess = false;
      rank.peers = std::make_unique<gpuopt::distributed::Team>(rank.comm);
      rank.nccl = std::make_unique<gpuopt::distributed::Team>(rank.comm, byNccl);
      rank.workspace = std::make_unique<gpuopt::Workspace>(rank.stream);
      rank.in = std::make_unique<DeviceMemory>(bytes);
      rank.out = std::make_unique<DeviceMemory>(bytes);
    });
  }

  static int count() {
    int devices = 0;
    check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
    return devices;
  }

  /// Calls work(rank) in a thread for each rank.
  void run(const std::function<void(RankState&)>& work) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count(); ++i) {
      threads.emplace_back([&, i] {
        RankState& rank = states_[static_cast<std::size_t>(i)];
        rank.number = i;
        check(cudaSetDevice(i), "cudaSetDevice");
        work(rank);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  /// Microseconds of one call of `work` within a graph of `calls`: the slowest rank's.
  Spread graphTime(int calls, int samples, const std::function<void(RankState&)>& work) {
    const auto length = static_cast<std::size_t>(samples);
    std::vector<std::vector<double>> times(states_.size(), std::vector<double>(length));
    run([&](RankState& rank) {
      cudaGraphExec_t graph = captured(rank, calls, work);
      cudaEvent_t begin = nullptr, end = nullptr;
      check(cudaEventCreate(&begin), "cudaEventCreate");
      check(cudaEventCreate(&end), "cudaEventCreate");
      for (int sample = -2; sample < samples; ++sample) {
        point_.meet();
        check(cudaEventRecord(begin, rank.stream), "cudaEventRecord");
        check(cudaGraphLaunch(graph, rank.stream), "cudaGraphLaunch");
        check(cudaEventRecord(end, rank.stream), "cudaEventRecord");
        check(cudaStreamSynchronize(rank.stream), "cudaStreamSynchronize");
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
        if (sample >= 0)
          times[static_cast<std::size_t>(rank.number)][static_cast<std::size_t>(sample)] = 1e3 * milliseconds / calls;
      }
      check(cudaGraphExecDestroy(graph), "cudaGraphExecDestroy");
    });
    for (std::size_t rank = 1; rank < times.size(); ++rank)
      for (std::size_t i = 0; i < length; ++i) times[0][i] = (std::max)(times[0][i], times[rank][i]);
    return spreadOf(times[0]);
  }

 private:
  cudaGraphExec_t captured(RankState& rank, int calls, const std::function<void(RankState&)>& work) {
    work(rank);  // loads its kernels
    check(cudaStreamSynchronize(rank.stream), "cudaStreamSynchronize");
    point_.meet();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    check(cudaStreamBeginCapture(rank.stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    for (int call = 0; call < calls; ++call) work(rank);
    check(cudaStreamEndCapture(rank.stream, &graph), "cudaStreamEndCapture");
    check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
    check(cudaGraphDestroy(graph), "cudaGraphDestroy");
    return executable;
  }

  std::vector<RankState> states_;
  MeetingPoint point_;
};

/// What the output of a benchmark of several GPUs begins with.
inline HeaderLines ranksHeader(const Options& options) {
  HeaderLines header = benchmarkHeader(options);
  int version = 0;
  checkNccl(ncclGetVersion(&version), "ncclGetVersion");
  header.emplace_back("nccl", fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100));
  header.emplace_back("gpus", std::to_string(Ranks::count()));
  return header;
}

}  // namespace bench
