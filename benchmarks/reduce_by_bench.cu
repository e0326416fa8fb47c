/// \file
/// Reductions by keys: sums and minima of pairs of a key and a value, by number of bins and distribution of the keys,
/// beside the best read of both arrays and Thrust's sort and reduction.
// SPDX-License-Identifier: MIT
#include "support/buffers.cuh"
#include "support/goal_report.cuh"
#include "support/histogram_data.cuh"
#include "support/options.hpp"

#include <gpuopt/histogram.cuh>

#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace bench;

constexpr std::size_t MiB = std::size_t{1} << 20;
constexpr std::size_t MOST_BINS = std::size_t{1} << 20;

/// Gives Thrust memory that is there already.
struct Arena {
  using value_type = char;
  char* memory;
  std::size_t bytes;
  std::size_t used = 0;

  char* allocate(std::ptrdiff_t size) {
    const std::size_t begin = used;
    used += (static_cast<std::size_t>(size) + 255) / 256 * 256;
    if (used > bytes) throw std::bad_alloc();
    return memory + begin;
  }
  void deallocate(char*, std::size_t) {}
};

/// A reduction: the type of values, that of results, the policy and the operation.
template <class T, class A, class Policy = gpuopt::ReduceByPolicy, class Op = gpuopt::Plus>
struct Work {
  using Value = T;
  using Result = A;
  using Choice = Policy;
  using Operation = Op;
  const char* name;
  double goal;
};

/// Whether a result is that of the reference; sums in floating point that depend on the order, nearly.
template <class W>
struct IsReduced {
  const typename W::Result* out;
  const unsigned long long* sums;
  const unsigned* minima;

  __device__ bool operator()(std::size_t bin) const {
    using A = typename W::Result;
    constexpr bool IS_SUM = std::is_same_v<typename W::Operation, gpuopt::Plus>;
    constexpr bool IS_FLOATING = std::is_floating_point_v<typename W::Value>;
    constexpr A UNIT = IS_FLOATING ? A(1) / (1u << 24) : A(1);
    if constexpr (!IS_SUM) return minima[bin] == ~0u || out[bin] == static_cast<A>(minima[bin]) * UNIT;
    const A exact = static_cast<A>(sums[bin]) * UNIT;
    if constexpr (IS_SUM && IS_FLOATING && W::Choice::FAST_SUMS)
      return (out[bin] < exact ? exact - out[bin] : out[bin] - exact) <= exact * A(1e-3);
    else
      return out[bin] == exact;
  }
};

class Bench {
 public:
  Bench(Timer& timer, const Buffers& buffers, GoalReport& report, std::size_t bytes)
      : timer_(timer), buffers_(buffers), report_(report), bytes_(bytes) {}

  /// All distributions.
  template <class W>
  void bins(const W& work, std::size_t bins, bool besideThrust) {
    const std::size_t n = bytes_ / (sizeof(int) + sizeof(typename W::Value));
    for (const auto& [distribution, name] : distributions)
      run(work, "pairs", n, bins, name, distribution, besideThrust, Mode::coldRead);
  }

  /// Few pairs, in a graph.
  template <class W>
  void small(const W& work, std::size_t n, std::size_t bins) {
    run(Work<typename W::Value, typename W::Result, typename W::Choice, typename W::Operation>{work.name, 0}, "few", n,
        bins, "uniform", Distribution::uniform, false, Mode::graph);
  }

 private:
  template <class W>
  void run(const W& work, const char* group, std::size_t n, std::size_t bins, const char* name,
           Distribution distribution, bool besideThrust, Mode mode) {
    using T = typename W::Value;
    using A = typename W::Result;
    using Policy = typename W::Choice;
    using Op = typename W::Operation;
    int* const keys = pairs_.as<int>();
    T* const values = reinterpret_cast<T*>(keys + n);
    A* const out = buffers_.out<A>();
    const cudaStream_t stream = timer_.stream();
    fillPairs<<<2048, 512, 0, stream>>>(keys, values, n, distribution, static_cast<std::uint32_t>(bins));
    check(cudaGetLastError(), "fillPairs");
    reduceReference(keys, values, n, bins);
    const auto call = [=] { gpuopt::reduceBy<Policy>(values, n, keys, bins, out, Op{}, stream); };
    const IsReduced<W> isReduced{out, sums_.as<unsigned long long>(), minima_.as<unsigned>()};
    std::vector<Candidate> candidates{buffers_.candidate("gpuopt", false, call, bins, isReduced)};
    if (besideThrust) candidates.push_back(thrustCall(keys, values, n));
    const std::size_t bytes = n * (sizeof(int) + sizeof(T));
    report_.run({group,
                 work.name,
                 fmt::format("{} bins, {}", bins, name),
                 fmt::format("{},{},{}", n, bins, name),
                 bytes,
                 atLeast(work.goal),
                 candidates,
                 {read(bytes)},
                 mode});
  }

  template <class T>
  void reduceReference(const int* keys, const T* values, std::size_t n, std::size_t bins) const {
    const cudaStream_t stream = timer_.stream();
    check(cudaMemsetAsync(sums_.as<void>(), 0, bins * sizeof(unsigned long long), stream), "cudaMemsetAsync");
    check(cudaMemsetAsync(minima_.as<void>(), 0xff, bins * sizeof(unsigned), stream), "cudaMemsetAsync");
    reducePlainly<<<1024, 512, 0, stream>>>(keys, values, n, sums_.as<unsigned long long>(), minima_.as<unsigned>());
    check(cudaGetLastError(), "reducePlainly");
  }

  // Sorts a copy of the pairs, which stays sorted: a radix sort takes as long for sorted ones. Its results are not
  // compared: those of empty bins are missing.
  template <class T>
  Candidate thrustCall(const int* keys, const T* values, std::size_t n) const {
    const cudaStream_t stream = timer_.stream();
    int* const sorted = sorted_.as<int>();
    T* const sortedValues = reinterpret_cast<T*>(sorted + n);
    check(cudaMemcpyAsync(sorted, keys, n * sizeof(int), cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
    check(cudaMemcpyAsync(sortedValues, values, n * sizeof(T), cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
    int* const foundKeys = found_.as<int>();
    T* const sums = reinterpret_cast<T*>(foundKeys + MOST_BINS);
    char* const memory = storage_.as<char>();
    const std::size_t bytes = storage_.bytes();
    const auto call = [=] {
      Arena arena{memory, bytes};
      const auto policy = thrust::cuda::par_nosync(arena).on(stream);
      thrust::sort_by_key(policy, sorted, sorted + n, sortedValues);
      thrust::reduce_by_key(policy, sorted, sorted + n, sortedValues, foundKeys, sums);
    };
    return {"Thrust", call, nullptr, false, 0, true};
  }

  Candidate read(std::size_t bytes) const {
    return vectorRead(pairs_.as<uint4>(), bytes, never_.as<unsigned>(), timer_.stream());
  }

  Timer& timer_;
  const Buffers& buffers_;
  GoalReport& report_;
  std::size_t bytes_;
  DeviceMemory pairs_{bytes_};
  DeviceMemory sorted_{bytes_};
  DeviceMemory storage_{2 * bytes_};
  DeviceMemory found_{MOST_BINS * 2 * sizeof(int)};
  DeviceMemory sums_{MOST_BINS * sizeof(unsigned long long)};
  DeviceMemory minima_{MOST_BINS * sizeof(unsigned)};
  DeviceMemory never_{256};
};

constexpr Work<float, float, gpuopt::FastSums> fastSums{"float FastSums", 0.85};
constexpr Work<float, float> sums{"float", 0.85};
constexpr Work<int, int> integers{"int", 0.85};
constexpr Work<int, long long> longs{"int to long", 0.85};
constexpr Work<float, float, gpuopt::ReduceByPolicy, gpuopt::Minimum> minima{"float Minimum", 0.85};

void measureSums(Bench& bench) {
  for (const std::size_t bins : {1024, 32768}) {
    bench.bins(sums, bins, true);
    bench.bins(fastSums, bins, true);
  }
}

void measureOthers(Bench& bench) {
  for (const std::size_t bins : {1024, 32768}) {
    bench.bins(integers, bins, false);
    bench.bins(longs, bins, false);
    bench.bins(minima, bins, false);
  }
}

void measureMany(Bench& bench) {
  bench.bins(Work<float, float, gpuopt::FastSums>{"float FastSums", 0}, 8192, false);
  for (const std::size_t bins : {65536, 131072, 262144}) {
    bench.bins(Work<float, float>{"float", 0}, bins, false);
    bench.bins(Work<float, float, gpuopt::FastSums>{"float FastSums", 0}, bins, false);
    bench.bins(Work<int, int>{"int", 0}, bins, false);
  }
}

void measureFew(Bench& bench) {
  for (const unsigned power : {10, 13, 14, 16, 18, 22}) {
    const std::size_t n = std::size_t{1} << power;
    bench.small(sums, n, 1024);
    bench.small(fastSums, n, 1024);
    bench.small(integers, n, 1024);
  }
}

constexpr Group<Bench> groups[] = {
    {"sums", measureSums}, {"others", measureOthers}, {"many", measureMany}, {"few", measureFew}};

int run(Options& options) {
  Names rows = namesOf(groups);
  options.choice("--rows", rows, "groups of cases");
  options.parse(11, 7);
  Timer timer(options.repetitions);
  const std::size_t bytes = (options.isQuick ? 256 : 1024) * MiB;
  const Buffers buffers(64 * MiB, timer.stream());
  GoalReport report(timer, options, "n,bins,distribution", copyBandwidth(timer, buffers));
  Bench bench(timer, buffers, report, bytes);
  measureChosen(groups, rows, bench);
  return report.finish(report.peers());
}

}  // namespace

int main(int count, char** words) {
  return runBenchmark(count, words, "reduce_by_bench", "Reductions by keys, beside the best read and Thrust.", run);
}
