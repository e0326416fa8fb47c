/// \file
/// Times of calls on the GPU: candidates of one case in alternation, in one process, on one stream.
// SPDX-License-Identifier: MIT
#pragma once

#include "code_eviction.cuh"

#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace bench {

using gpuopt::check;

/// How the caches are before a sample, and which clock is read.
enum class Mode {
  coldWrite,        ///< L2 flushed by writes, which leave it full of dirty lines; GPU time of one call
  coldRead,         ///< L2 flushed by reads; GPU time of one call
  hot,              ///< the same call just before; GPU time of one call
  graph,            ///< a graph of several calls replayed; GPU time of the graph over the number of calls
  wall,             ///< host time of one call until its result is there, while nothing else runs
  interleaved,      ///< as coldWrite, and other kernels in between: code and constants are cold; GPU time of one call
  interleavedWall,  ///< other kernels and other candidates in between; host time of one call until its result is there
};

inline bool isHostTime(Mode mode) { return mode == Mode::wall || mode == Mode::interleavedWall; }

struct ModeName {
  Mode mode;
  const char* name;
};

inline constexpr ModeName modeNames[] = {{Mode::coldWrite, "cold-write"},
                                         {Mode::coldRead, "cold-read"},
                                         {Mode::hot, "hot"},
                                         {Mode::graph, "graph"},
                                         {Mode::wall, "wall"},
                                         {Mode::interleaved, "interleaved"},
                                         {Mode::interleavedWall, "interleaved-wall"}};

inline const char* nameOf(Mode mode) {
  return std::find_if(std::begin(modeNames), std::end(modeNames), [=](ModeName m) { return m.mode == mode; })->name;
}

/// One way to do the work of a case. `correct` does it once on poisoned output and looks at what came out.
struct Candidate {
  std::string name;
  std::function<void()> call;
  std::function<bool()> correct;
  bool waits = false;     ///< the call itself waits for its result: it has a wall time only
  std::size_t bytes = 0;  ///< useful bytes, where they are not those of the case
  bool isPeer = false;    ///< another library's way: reports say where it is faster
};

/// Removes the candidates whose result is wrong, and says so; how many they were.
inline int removeWrong(std::vector<Candidate>& candidates, const std::string& title) {
  std::vector<Candidate> right;
  for (const Candidate& each : candidates) {
    if (!each.correct || each.correct())
      right.push_back(each);
    else
      std::printf("WRONG RESULT: %s, %s\n", title.c_str(), each.name.c_str());
  }
  const auto wrong = static_cast<int>(candidates.size() - right.size());
  candidates = right;
  return wrong;
}

/// Microseconds: the median and the range that holds four samples of five.
struct Spread {
  double median;
  double p10;
  double p90;
};

inline Spread spreadOf(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const auto at = [&](double share) {
    return samples[static_cast<std::size_t>(share * double(samples.size() - 1) + 0.5)];
  };
  return {at(0.5), at(0.1), at(0.9)};
}

/// Device memory for the life of a benchmark.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes) : bytes_(bytes) { check(cudaMalloc(&data_, bytes), "cudaMalloc"); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory() { cudaFree(data_); }

  std::size_t bytes() const { return bytes_; }

  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

namespace detail {

__global__ void writeAll(uint4* data, std::size_t n, unsigned value) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride)
    data[i] = make_uint4(value, static_cast<unsigned>(i), ~value, 1u);
}

__global__ void readAll(const uint4* data, std::size_t n, unsigned* never) {
  unsigned all = 0;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const uint4 v = data[i];
    all |= v.x ^ v.y ^ v.z ^ v.w;
  }
  if (all == 0) *never = 1;
}

// Keeps the GPU busy while the host queues what is to be timed, without touching memory.
__global__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

__global__ void emptyKernel() {}

}  // namespace detail

/// The best read of as many bytes, beside which histograms stand. `never` is written if all of them are 0.
inline Candidate vectorRead(const uint4* data, std::size_t bytes, unsigned* never, cudaStream_t stream) {
  const auto call = [=] {
    detail::readAll<<<2048, 512, 0, stream>>>(data, bytes / sizeof(uint4), never);
    check(cudaGetLastError(), "readAll");
  };
  return {"vector read", call, nullptr};
}

/// Launches a kernel that does nothing: the floor of every time.
inline void launchEmpty(cudaStream_t stream) {
  detail::emptyKernel<<<1, 32, 0, stream>>>();
  check(cudaGetLastError(), "emptyKernel");
}

/// Measures candidates, each sample of one after a sample of the others.
class Timer {
 public:
  explicit Timer(int repetitions)
      : repetitions_(repetitions),
        flush_(4 * static_cast<std::size_t>(gpuopt::deviceAttribute(cudaDevAttrL2CacheSize, gpuopt::currentDevice()))) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    check(cudaEventCreate(&start_), "cudaEventCreate");
    check(cudaEventCreate(&stop_), "cudaEventCreate");
    flush(true);
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
    cudaStreamDestroy(stream_);
  }

  cudaStream_t stream() const { return stream_; }
  void synchronize() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

  /// One spread a candidate. `bytes` of one call decide how many a graph holds.
  std::vector<Spread> measure(Mode mode, const std::vector<Candidate>& candidates, std::size_t bytes) {
    switch (mode) {
      case Mode::coldWrite:
        return cold(candidates, true);
      case Mode::coldRead:
        return cold(candidates, false);
      case Mode::hot:
        return hot(candidates);
      case Mode::graph:
        return graph(candidates, bytes);
      case Mode::wall:
        return wall(candidates);
      case Mode::interleaved:
        return interleaved(candidates);
      case Mode::interleavedWall:
        return interleavedWall(candidates);
    }
    return {};
  }

 private:
  static constexpr int WARM_UP = 2;

  // sample(i) gives one sample of candidate i. Takes them in turn; the first rounds are not kept.
  template <class Sample>
  std::vector<Spread> alternate(std::size_t candidates, Sample sample) {
    std::vector<std::vector<double>> samples(candidates);
    for (int round = -WARM_UP; round < repetitions_; ++round)
      for (std::size_t i = 0; i < candidates; ++i) {
        const double microseconds = sample(i);
        if (round >= 0) samples[i].push_back(microseconds);
      }
    std::vector<Spread> spreads;
    for (const auto& each : samples) spreads.push_back(spreadOf(each));
    return spreads;
  }

  // GPU time of what `work` queues. The GPU must still be busy with something else when it begins.
  template <class Work>
  double gpuTime(const Work& work) {
    check(cudaEventRecord(start_, stream_), "cudaEventRecord");
    work();
    check(cudaEventRecord(stop_, stream_), "cudaEventRecord");
    check(cudaEventSynchronize(stop_), "cudaEventSynchronize");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start_, stop_), "cudaEventElapsedTime");
    return 1e3 * milliseconds;
  }

  void flush(bool dirty) {
    const std::size_t n = flush_.bytes() / sizeof(uint4);
    if (dirty)
      detail::writeAll<<<1024, 256, 0, stream_>>>(flush_.as<uint4>(), n, ++flushes_);
    else
      detail::readAll<<<1024, 256, 0, stream_>>>(flush_.as<uint4>(), n, flush_.as<unsigned>());
    check(cudaGetLastError(), "flush");
  }

  void keepBusy() {
    detail::spin<<<1, 1, 0, stream_>>>(40000);  // about 20 us
    check(cudaGetLastError(), "spin");
  }

  std::vector<Spread> cold(const std::vector<Candidate>& candidates, bool dirty) {
    return alternate(candidates.size(), [&](std::size_t i) {
      flush(dirty);
      return gpuTime(candidates[i].call);
    });
  }

  std::vector<Spread> hot(const std::vector<Candidate>& candidates) {
    return alternate(candidates.size(), [&](std::size_t i) {
      candidates[i].call();
      keepBusy();
      return gpuTime(candidates[i].call);
    });
  }

  cudaGraphExec_t record(const Candidate& candidate, int calls) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    for (int i = 0; i < calls; ++i) candidate.call();
    check(cudaStreamEndCapture(stream_, &graph), "cudaStreamEndCapture");
    check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
    check(cudaGraphDestroy(graph), "cudaGraphDestroy");
    return executable;
  }

  std::vector<Spread> graph(const std::vector<Candidate>& candidates, std::size_t bytes) {
    const int calls = static_cast<int>((std::clamp)((std::size_t{1} << 30) / bytes, std::size_t{2}, std::size_t{20}));
    std::vector<cudaGraphExec_t> graphs;
    for (const Candidate& candidate : candidates) graphs.push_back(record(candidate, calls));
    const auto spreads = alternate(candidates.size(), [&](std::size_t i) {
      keepBusy();
      return gpuTime([&] { check(cudaGraphLaunch(graphs[i], stream_), "cudaGraphLaunch"); }) / calls;
    });
    for (const cudaGraphExec_t each : graphs) check(cudaGraphExecDestroy(each), "cudaGraphExecDestroy");
    return spreads;
  }

  // Host time until the result is there.
  double hostTime(const Candidate& candidate) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    candidate.call();
    if (!candidate.waits) synchronize();
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  }

  // The call before the timed one is the candidate's own, so that its host code is in the caches too.
  std::vector<Spread> wall(const std::vector<Candidate>& candidates) {
    return alternate(candidates.size(), [&](std::size_t i) {
      candidates[i].call();
      synchronize();
      return hostTime(candidates[i]);
    });
  }

  std::vector<Spread> interleaved(const std::vector<Candidate>& candidates) {
    return alternate(candidates.size(), [&](std::size_t i) {
      flush(true);
      evictCode(flush_.as<std::uint32_t>(), stream_);
      return gpuTime(candidates[i].call);
    });
  }

  std::vector<Spread> interleavedWall(const std::vector<Candidate>& candidates) {
    return alternate(candidates.size(), [&](std::size_t i) {
      evictCode(flush_.as<std::uint32_t>(), stream_);
      synchronize();
      return hostTime(candidates[i]);
    });
  }

  int repetitions_;
  DeviceMemory flush_;
  unsigned flushes_ = 0;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
};

}  // namespace bench
