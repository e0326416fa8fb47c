/// \file
/// Statistics of an array whose parts are on several GPUs, with a thread for each: all that there are, or, on the
/// emulated device, GPUOPT_EMULATION_DEVICES.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"

#include <gpuopt/distributed_reduce.cuh>
#include <gpuopt/distributed_statistics.cuh>
#include <gpuopt/distributed_team.cuh>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

void checkNccl(ncclResult_t code, const char* call) {
  if (code != ncclSuccess) throw std::runtime_error(std::string(call) + ": " + ncclGetErrorString(code));
}

// What rank 0 prints. Every rank has the same.
struct Statistics {
  float sum;
  gpuopt::ArgResult<float> least;
  gpuopt::MeanVariance<double> moments;
};

// A rank: it makes a team of the communicator, and calls with its part what all ranks call with theirs.
Statistics statisticsOf(ncclComm_t comm, const std::vector<float>& part) {
  gpuopt::distributed::Team team(comm);
  const DeviceArray<float> memory(part);
  const float* const data = memory.data();
  const std::size_t n = part.size();
  return {gpuopt::distributed::reduce(team, data, n), gpuopt::distributed::argMin(team, data, n),
          gpuopt::distributed::meanVariance<double>(team, data, n)};
}

void runRank(const ncclUniqueId& id, int rank, int ranks, const std::vector<float>& all, Statistics& result) {
  const auto first = [&](int r) { return all.size() * static_cast<std::size_t>(r) / static_cast<std::size_t>(ranks); };
  const std::vector<float> part(all.data() + first(rank), all.data() + first(rank + 1));
  ncclComm_t comm = nullptr;
  gpuopt::check(cudaSetDevice(rank), "cudaSetDevice");
  checkNccl(ncclCommInitRank(&comm, ranks, id, rank), "ncclCommInitRank");
  result = statisticsOf(comm, part);
  checkNccl(ncclCommDestroy(comm), "ncclCommDestroy");
}

bool run() {
  int ranks = 0;
  gpuopt::check(cudaGetDeviceCount(&ranks), "cudaGetDeviceCount");
  std::vector<float> all(1000003);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>((i * 7919 + 271828) % 1000003) / 1000.0f;
  const double sum = std::accumulate(all.begin(), all.end(), 0.0);
  const auto least = static_cast<std::size_t>(std::min_element(all.begin(), all.end()) - all.begin());

  ncclUniqueId id{};
  checkNccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
  std::vector<Statistics> results(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] { runRank(id, rank, ranks, all, results[static_cast<std::size_t>(rank)]); });
  for (std::thread& thread : threads) thread.join();

  bool right = true;
  for (const Statistics& each : results)
    right = right && std::fabs(each.sum - sum) < 1e-5 * sum && each.sum == results[0].sum &&
            each.least.index == least && each.moments.count == all.size();
  std::printf("%d ranks: sum %.0f, mean %.3f, smallest element at %zu  %s\n", ranks,
              static_cast<double>(results[0].sum), results[0].moments.mean, results[0].least.index,
              right ? "ok" : "WRONG");
  return right;
}

int main() { return exitStatusOf("distributed_statistics", run); }
