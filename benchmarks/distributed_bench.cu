/// \file
/// Collective calls of several GPUs, a thread each, in graphs: sums beside the local sum with ncclAllReduce, barriers.
/// The time is the slowest rank's.
// SPDX-License-Identifier: MIT
#include "support/ranks.cuh"
#include "support/report.cuh"

#include <gpuopt/distributed.cuh>
#include <gpuopt/reduce.cuh>

#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace bench;

__global__ void fillFloats(float* data, std::size_t n, unsigned salt) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const auto hash = static_cast<unsigned>((i + salt) * 0x9E3779B97F4A7C15u >> 40);
    data[i] = static_cast<float>(hash & 1023) / 1024.0f;
  }
}

using RankCall = std::function<void(RankState&)>;
struct NamedCall {
  const char* name;
  RankCall call;
};

class Bench {
 public:
  Bench(const Options& options, std::size_t bytes)
      : repetitions_(options.repetitions), ranks_(bytes), files_(options, ranksHeader(options)) {
    files_.csv() << "case,type,n,bytes,candidate,mode,us,us_p10,us_p90,ratio\n";
    ranks_.run([=](RankState& rank) {
      fillFloats<<<2048, 256, 0, rank.stream>>>(rank.in->as<float>(), bytes / sizeof(float),
                                                static_cast<unsigned>(rank.number) * 77777u);
      check(cudaStreamSynchronize(rank.stream), "fillFloats");
    });
  }

  /// The sum of n floats of each rank.
  void sum(std::size_t n) {
    const auto local = [n](RankState& rank) {
      gpuopt::reduceInto(rank.in->as<float>(), n, rank.out->as<float>(), rank.stream, rank.workspace.get());
    };
    const auto byPeers = [n](RankState& rank) {
      gpuopt::distributed::reduceInto(*rank.peers, rank.in->as<float>(), n, rank.out->as<float>(), rank.stream,
                                      rank.workspace.get());
    };
    const auto byNccl = [n](RankState& rank) {
      gpuopt::distributed::reduceInto(*rank.nccl, rank.in->as<float>(), n, rank.out->as<float>(), rank.stream,
                                      rank.workspace.get());
    };
    const auto allReduce = [local](RankState& rank) {
      local(rank);
      auto* const sum = rank.out->as<float>();
      checkNccl(ncclAllReduce(sum, sum, 1, ncclFloat, ncclSum, rank.comm, rank.stream), "ncclAllReduce");
    };
    requireEqual(byPeers, allReduce, n);
    requireEqual(byNccl, allReduce, n);
    record(
        "sum", "float", n, n * sizeof(float), n > (std::size_t{1} << 24) ? 4 : 100,
        {{"gpuopt", byPeers}, {"gpuopt, by NCCL", byNccl}, {"ncclAllReduce", allReduce}, {"local sum alone", local}});
  }

  void barrier() {
    record("barrier", "", 0, 0, 100,
           {{"gpuopt", [](RankState& rank) { rank.peers->barrier(rank.stream); }},
            {"gpuopt, by NCCL", [](RankState& rank) { rank.nccl->barrier(rank.stream); }}});
  }

  int finish() { return files_.finish({}, wrong_); }

 private:
  // The first float of `out` of rank 0.
  float resultOf(const RankCall& call) {
    float result = 0;
    ranks_.run([&](RankState& rank) {
      float mine = 0;
      call(rank);
      check(cudaMemcpyAsync(&mine, rank.out->as<float>(), sizeof mine, cudaMemcpyDeviceToHost, rank.stream),
            "cudaMemcpyAsync");
      check(cudaStreamSynchronize(rank.stream), "cudaStreamSynchronize");
      if (rank.number == 0) result = mine;
    });
    return result;
  }

  void requireEqual(const RankCall& call, const RankCall& peer, std::size_t n) {
    const float ours = resultOf(call), theirs = resultOf(peer);
    if (std::abs(ours - theirs) <= 1e-5f * std::abs(theirs)) return;
    ++wrong_;
    fmt::print("WRONG RESULT: sum of {} floats: {} and {}\n", n, ours, theirs);
  }

  void record(const char* name, const char* type, std::size_t n, std::size_t bytes, int calls,
              const std::vector<NamedCall>& candidates) {
    std::string line = fmt::format("{:<10} {:<6} {:>10}", name, type, n);
    double first = 0;
    for (const NamedCall& candidate : candidates) {
      const Spread us = ranks_.graphTime(calls, repetitions_, candidate.call);
      if (first == 0) first = us.median;
      files_.csv() << fmt::format("{},{},{},{},\"{}\",graph,{:.3f},{:.3f},{:.3f},{:.4f}\n", name, type, n, bytes,
                                  candidate.name, us.median, us.p10, us.p90, us.median / first);
      line += fmt::format("  {} {:.2f} us", candidate.name, us.median);
    }
    fmt::print("{}\n", line);
    std::fflush(stdout);
  }

  int repetitions_;
  Ranks ranks_;
  ResultFiles files_;
  int wrong_ = 0;
};

int run(Options& options) {
  options.parse(20, 5);
  const std::size_t most = options.isQuick ? std::size_t{1} << 26 : std::size_t{1} << 30;
  Bench bench(options, most);
  bench.barrier();
  for (const std::size_t bytes : {std::size_t{1} << 10, std::size_t{1} << 20, most}) bench.sum(bytes / sizeof(float));
  return bench.finish();
}

}  // namespace

int main(int count, char** words) {
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);  // no kernel is loaded while another GPU waits
  return runBenchmark(count, words, "distributed_bench", "Collective calls of several GPUs.", run);
}
