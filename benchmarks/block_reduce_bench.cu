/// \file
/// Cycles of one reduction within a block: gpuopt::blockReduce and blockAllReduce against cub::BlockReduce.
// SPDX-License-Identifier: MIT
#include "support/options.hpp"
#include "support/report.cuh"

#include <gpuopt/block/reduce.cuh>

#include <cub/block/block_reduce.cuh>

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace bench;

// A method is called by all threads of a block with one value each. ALL: every thread gets the result,
// otherwise thread 0. REUSABLE: it may be called again at once, otherwise only after a barrier.

template <int BLOCK, class T, bool IS_ALL, bool IS_REUSABLE>
struct Gpuopt {
  static constexpr bool ALL = IS_ALL, REUSABLE = IS_REUSABLE;
  static constexpr const char* name = "gpuopt";
  __device__ static T call(T value) {
    if constexpr (REUSABLE) {
      return reduce(value);
    } else {
      __shared__ gpuopt::BlockReduceStorage<BLOCK, T, gpuopt::Plus> storage;
      return reduce(value, storage);
    }
  }

 private:
  template <class... Storage>
  __device__ static T reduce(T value, Storage&... storage) {
    if constexpr (ALL)
      return gpuopt::blockAllReduce<BLOCK>(value, gpuopt::Plus{}, storage...);
    else
      return gpuopt::blockReduce<BLOCK>(value, gpuopt::Plus{}, storage...);
  }
};

// CUB, followed by a broadcast for ALL and preceded by a barrier for REUSABLE.
template <int BLOCK, class T, cub::BlockReduceAlgorithm ALGORITHM, bool IS_ALL, bool IS_REUSABLE>
struct Cub {
  static constexpr bool ALL = IS_ALL, REUSABLE = IS_REUSABLE;
  static constexpr const char* name =
      ALGORITHM == cub::BLOCK_REDUCE_WARP_REDUCTIONS ? "cub::BlockReduce warp reductions" : "cub::BlockReduce raking";
  __device__ static T call(T value) {
    using BlockReduce = cub::BlockReduce<T, BLOCK, ALGORITHM>;
    __shared__ typename BlockReduce::TempStorage storage;
    if constexpr (REUSABLE) __syncthreads();
    value = BlockReduce(storage).Sum(value);
    if constexpr (ALL) {
      __shared__ T result;
      if (threadIdx.x == 0) result = value;
      __syncthreads();
      value = result;
    }
    return value;
  }
};

constexpr int WARM_UP = 4;

// From the moment when the first warp leaves a barrier.
struct Cycles {
  long long toFirst;  // until thread 0 has its result
  long long toLast;   // until the last warp is through
};

// Lets the compiler neither move the value's computation past this point nor know the value.
__device__ inline void pin(float& value) { asm volatile("" : "+f"(value)::"memory"); }
__device__ inline void pin(double& value) { asm volatile("" : "+d"(value)::"memory"); }
__device__ inline void pin(int& value) { asm volatile("" : "+r"(value)::"memory"); }

// Times one call after another, each between barriers. The clock is read after the result has arrived,
// because reading depends on it.
template <int BLOCK, class T, class Method>
__global__ void __launch_bounds__(BLOCK, 1) timeCalls(const T* in, int calls, Cycles* cycles, T* results) {
  __shared__ long long starts[BLOCK / 32], stops[BLOCK / 32];
  const int warp = static_cast<int>(threadIdx.x / 32);
  constexpr T impossible = T(1 << 30);
  for (int i = 0; i < calls; ++i) {
    T value = in[threadIdx.x];
    pin(value);
    __syncthreads();
    __syncthreads();
    const long long start = clock64();
    value = Method::call(value);
    pin(value);
    const long long stop = value != impossible ? clock64() : 0;
    if (threadIdx.x % 32 == 0) {
      starts[warp] = start;
      stops[warp] = stop;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      long long first = starts[0], last = stops[0];
      for (int w = 1; w < BLOCK / 32; ++w) {
        first = starts[w] < first ? starts[w] : first;
        last = stops[w] > last ? stops[w] : last;
      }
      cycles[blockIdx.x * calls + i] = {stops[0] - first, last - first};
    }
    if (Method::ALL || threadIdx.x == 0) results[blockIdx.x * BLOCK + threadIdx.x] = value;
  }
}

struct Measured {
  std::string method;
  Spread toFirst;
  Spread toLast;
};

class Bench {
 public:
  Bench(ResultFiles& files, int calls) : files_(files), calls_(calls) {
    blocks_ = gpuopt::multiprocessorCount(gpuopt::currentDevice());
    files_.csv() << "type,block,all,reusable,method,cycles,cycles_p10,cycles_p90,ratio\n";
  }

  template <class T>
  void measureType(const char* type) {
    measureBlock<256, T>(type);
    measureBlock<1024, T>(type);
  }

  const ReportLines& summary() const { return summary_; }
  int wrong() const { return wrong_; }

 private:
  template <int BLOCK, class T>
  void measureBlock(const char* type) {
    compare<BLOCK, T, Gpuopt<BLOCK, T, false, false>>(type);
    compare<BLOCK, T, Gpuopt<BLOCK, T, false, true>>(type);
    compare<BLOCK, T, Gpuopt<BLOCK, T, true, false>>(type);
    compare<BLOCK, T, Gpuopt<BLOCK, T, true, true>>(type);
  }

  template <int BLOCK, class T, class Method>
  void compare(const char* type) {
    using WarpReductions = Cub<BLOCK, T, cub::BLOCK_REDUCE_WARP_REDUCTIONS, Method::ALL, Method::REUSABLE>;
    using Raking = Cub<BLOCK, T, cub::BLOCK_REDUCE_RAKING, Method::ALL, Method::REUSABLE>;
    const std::string name = fmt::format("{} {}, blockReduce{}{}", type, BLOCK, Method::ALL ? " to all" : "",
                                         Method::REUSABLE ? ", own storage" : "");
    const Measured methods[] = {measure<BLOCK, T, Method>(name), measure<BLOCK, T, WarpReductions>(name),
                                measure<BLOCK, T, Raking>(name)};
    const auto cycles = [](const Measured& m) { return Method::ALL ? m.toLast : m.toFirst; };
    const double ours = cycles(methods[0]).median;
    for (const Measured& each : methods) {
      const Spread spread = cycles(each);
      files_.csv() << type << ',' << BLOCK << ',' << Method::ALL << ',' << Method::REUSABLE << ',' << each.method
                   << fmt::format(",{:.0f},{:.0f},{:.0f},{:.4f}\n", spread.median, spread.p10, spread.p90,
                                  spread.median / ours);
    }
    const double best = (std::min)(cycles(methods[1]).median, cycles(methods[2]).median);
    fmt::print("{:<44} {:6.0f} cycles, cub {:6.0f} and {:6.0f}: {:.2f}\n", name, ours, cycles(methods[1]).median,
               cycles(methods[2]).median, ours / best);
    summary_.emplace_back(name + ", over the better of cub's", ours / best);
  }

  template <int BLOCK, class T, class Method>
  Measured measure(const std::string& name) {
    std::vector<T> values(BLOCK);
    T sum = 0;
    for (int i = 0; i < BLOCK; ++i) sum += values[static_cast<std::size_t>(i)] = T(i * 37 % 11 - 4);
    const auto blocks = static_cast<std::size_t>(blocks_);
    const auto all = static_cast<std::size_t>(WARM_UP + calls_);
    const DeviceMemory in(sizeof(T) * BLOCK), out(sizeof(T) * BLOCK * blocks), cycles(sizeof(Cycles) * all * blocks);
    check(cudaMemcpy(in.as<T>(), values.data(), in.bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaMemset(out.as<T>(), 0xA5, out.bytes()), "cudaMemset");
    timeCalls<BLOCK, T, Method>
        <<<static_cast<unsigned>(blocks_), BLOCK>>>(in.as<T>(), WARM_UP + calls_, cycles.as<Cycles>(), out.as<T>());
    check(cudaGetLastError(), "timeCalls");
    std::vector<T> results(BLOCK * blocks);
    std::vector<Cycles> samples(all * blocks);
    check(cudaMemcpy(results.data(), out.as<T>(), out.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    check(cudaMemcpy(samples.data(), cycles.as<Cycles>(), cycles.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (std::size_t i = 0; i < results.size(); i += Method::ALL ? 1 : BLOCK)
      if (results[i] != sum) {
        std::printf("WRONG RESULT: %s, %s\n", name.c_str(), Method::name);
        ++wrong_;
        break;
      }
    std::vector<double> first, last;
    for (std::size_t i = 0; i < samples.size(); ++i)
      if (i % all >= WARM_UP) {
        first.push_back(static_cast<double>(samples[i].toFirst));
        last.push_back(static_cast<double>(samples[i].toLast));
      }
    return {Method::name, spreadOf(first), spreadOf(last)};
  }

  ResultFiles& files_;
  int calls_;
  int blocks_ = 0;
  int wrong_ = 0;
  ReportLines summary_;
};

int run(Options& options) {
  options.parse(64, 16);
  ResultFiles files(options, benchmarkHeader(options));
  Bench bench(files, options.repetitions);
  bench.measureType<float>("float");
  bench.measureType<double>("double");
  bench.measureType<int>("int");
  return files.finish(bench.summary(), bench.wrong());
}

}  // namespace

int main(int count, char** words) {
  return runBenchmark(count, words, "block_reduce_bench", "Cycles of a reduction within a block, beside CUB.", run);
}
