/// \file
/// Rows by index in random order, gathered, scattered, combined and added, beside the best copy of as many bytes and a
/// thread for each element.
// SPDX-License-Identifier: MIT
#include "support/goal_groups.cuh"

#include <gpuopt/rows.cuh>

#include <cuda_bf16.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace bench;

constexpr std::size_t KiB = 1024;
constexpr std::size_t COMBINED = 8;

// Numbers below n in random order.
class Shuffled {
 public:
  explicit Shuffled(std::size_t n) : memory_(n * sizeof(std::uint32_t)) {
    std::vector<std::uint32_t> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 0U);
    std::shuffle(numbers.begin(), numbers.end(), std::mt19937(1));
    check(cudaMemcpy(memory_.as<void>(), numbers.data(), n * sizeof(std::uint32_t), cudaMemcpyHostToDevice),
          "cudaMemcpy");
  }

  const std::uint32_t* get() const { return memory_.as<std::uint32_t>(); }

 private:
  DeviceMemory memory_;
};

/// Dense rows of T on both sides.
template <class T>
struct Rows {
  const T* in;
  const std::uint32_t* indices;
  std::size_t n;
  std::size_t cols;
  T* out;
  bool scatters;

  __device__ std::size_t from(std::size_t i) const { return scatters ? i : indices[i / cols] * cols + i % cols; }
  __device__ std::size_t to(std::size_t i) const { return scatters ? indices[i / cols] * cols + i % cols : i; }
};

template <class T>
__global__ void moveElements(Rows<T> rows) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < rows.n * rows.cols) rows.out[rows.to(i)] = rows.in[rows.from(i)];
}

template <class T>
struct AreMoved {
  Rows<T> rows;
  __device__ bool operator()(std::size_t i) const { return rows.out[rows.to(i)] == rows.in[rows.from(i)]; }
};

/// Rows of bf16, COMBINED for each of the output.
struct Combined {
  const __nv_bfloat16* in;
  const std::uint32_t* indices;
  const float* weights;
  std::size_t n;
  std::size_t cols;
  __nv_bfloat16* out;

  __device__ __nv_bfloat16 expected(std::size_t i) const {
    const std::size_t first = i / cols * COMBINED;
    float sum = 0;
    for (std::size_t j = first; j < first + COMBINED; ++j)
      sum = fmaf(weights[j], static_cast<float>(in[indices[j] * cols + i % cols]), sum);
    return static_cast<__nv_bfloat16>(sum);
  }
};

__global__ void combineElements(Combined rows) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < rows.n * rows.cols) rows.out[i] = rows.expected(i);
}

struct AreCombined {
  Combined rows;
  __device__ bool operator()(std::size_t i) const {
    return static_cast<float>(rows.out[i]) == static_cast<float>(rows.expected(i));
  }
};

/// Rows added to rows, `times` to each. Member j of row r is the row of the input that is its j-th in order.
template <class T>
struct Added {
  const T* in;
  const std::uint32_t* indices;
  const std::uint32_t* members;
  std::size_t n;
  std::size_t cols;
  std::size_t times;
  T* out;
  bool inOrder;

  // Other orders, and a rounding for each addition, change the last bits.
  __device__ bool operator()(std::size_t i) const {
    float sum = 0, sizes = 0;
    for (std::size_t j = 0; j < times; ++j) {
      const auto x = static_cast<float>(in[members[i / cols * times + j] * cols + i % cols]);
      sum += x, sizes += fabsf(x);
    }
    const auto found = static_cast<float>(out[i]);
    return inOrder ? found == static_cast<float>(static_cast<T>(sum)) : fabsf(found - sum) <= sizes / 32;
  }
};

template <class T>
__global__ void addElements(Added<T> rows) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < rows.n * rows.cols) atomicAdd(rows.out + rows.indices[i / rows.cols] * rows.cols + i % rows.cols, rows.in[i]);
}

// Indices in random order, each `times` times, and the members of each row, in ascending order.
class Repeated {
 public:
  Repeated(std::size_t n, std::size_t times)
      : indices_(n * sizeof(std::uint32_t)), members_(n * sizeof(std::uint32_t)) {
    std::vector<std::uint32_t> numbers(n), members(n), counts(n / times);
    for (std::size_t i = 0; i < n; ++i) numbers[i] = static_cast<std::uint32_t>(i / times);
    std::shuffle(numbers.begin(), numbers.end(), std::mt19937(1));
    for (std::size_t i = 0; i < n; ++i)
      members[numbers[i] * times + counts[numbers[i]]++] = static_cast<std::uint32_t>(i);
    copy(numbers, indices_), copy(members, members_);
  }

  const std::uint32_t* indices() const { return indices_.as<std::uint32_t>(); }
  const std::uint32_t* members() const { return members_.as<std::uint32_t>(); }

 private:
  static void copy(const std::vector<std::uint32_t>& from, const DeviceMemory& to) {
    check(cudaMemcpy(to.as<void>(), from.data(), from.size() * sizeof(std::uint32_t), cudaMemcpyHostToDevice),
          "cudaMemcpy");
  }

  DeviceMemory indices_, members_;
};

class Bench {
 public:
  Bench(Timer& timer, const Buffers& buffers, GoalReport& report, std::size_t bytes)
      : timer_(timer), buffers_(buffers), report_(report), bytes_(bytes) {}

  template <class T>
  void move(const char* group, bool scatters, std::size_t rowBytes, const Goal& goal, std::size_t bytes = 0,
            Mode mode = Mode::coldWrite) {
    const std::size_t n = (bytes == 0 ? bytes_ : bytes) / rowBytes, cols = rowBytes / sizeof(T);
    const Shuffled indices(n);
    const Rows<T> rows{buffers_.in<T>(), indices.get(), n, cols, buffers_.out<T>(), scatters};
    const cudaStream_t stream = timer_.stream();
    const auto ours = [=] {
      const gpuopt::MatrixView<const T> in{rows.in, n, cols};
      const gpuopt::MatrixView<T> out{rows.out, n, cols};
      scatters ? gpuopt::scatterRows(in, rows.indices, n, out, stream)
               : gpuopt::gatherRows(in, rows.indices, n, out, stream);
    };
    const auto direct = [=] { launchThreads(moveElements<T>, n * cols, stream, rows); };
    run(group, rowBytes, n, n * (2 * rowBytes + sizeof(std::uint32_t)), n * rowBytes, goal,
        {buffers_.candidate("gpuopt", false, ours, n * cols, AreMoved<T>{rows}),
         buffers_.candidate("direct", true, direct, n * cols, AreMoved<T>{rows})},
        mode);
  }

  void combine(const char* group, std::size_t rowBytes, const Goal& goal, std::size_t bytes = 0,
               Mode mode = Mode::coldWrite) {
    const std::size_t n = (bytes == 0 ? bytes_ : bytes) / rowBytes / COMBINED, total = n * COMBINED;
    const std::size_t cols = rowBytes / sizeof(__nv_bfloat16);
    const Shuffled indices(total);
    const DeviceMemory weights(total * sizeof(float));
    check(cudaMemcpyAsync(weights.as<void>(), buffers_.in<void>(), total * sizeof(float), cudaMemcpyDeviceToDevice,
                          timer_.stream()),
          "cudaMemcpyAsync");
    const Combined rows{buffers_.in<__nv_bfloat16>(), indices.get(), weights.as<float>(), n, cols,
                        buffers_.out<__nv_bfloat16>()};
    const cudaStream_t stream = timer_.stream();
    const auto ours = [=] {
      gpuopt::combineRows(gpuopt::MatrixView<const __nv_bfloat16>{rows.in, total, cols}, rows.indices, rows.weights,
                          COMBINED, gpuopt::MatrixView<__nv_bfloat16>{rows.out, n, cols}, stream);
    };
    const auto direct = [=] { launchThreads(combineElements, n * cols, stream, rows); };
    const std::size_t moved = (total + n) * rowBytes;
    run(group, rowBytes, n, moved + total * 8, moved / 2, goal,
        {buffers_.candidate("gpuopt", false, ours, n * cols, AreCombined{rows}),
         buffers_.candidate("direct", true, direct, n * cols, AreCombined{rows})},
        mode);
  }

  template <class T, gpuopt::RowAddition ADDITION>
  void add(const char* group, std::size_t rowBytes, const Goal& goal, std::size_t bytes = 0,
           Mode mode = Mode::coldWrite, std::size_t times = COMBINED) {
    const std::size_t rows = (bytes == 0 ? bytes_ : bytes) / rowBytes / times, n = rows * times;
    const std::size_t cols = rowBytes / sizeof(T);
    const Repeated lists(n, times);
    const bool inOrder = ADDITION == gpuopt::RowAddition::deterministic;
    const Added<T> added{buffers_.in<T>(),  lists.indices(), lists.members(), n, cols, times,
                         buffers_.out<T>(), inOrder};
    Added<T> inAnyOrder = added;
    inAnyOrder.inOrder = false;
    const cudaStream_t stream = timer_.stream();
    const auto ours = [=] {
      gpuopt::addRows<ADDITION>(gpuopt::MatrixView<const T>{added.in, n, cols}, added.indices, n,
                                gpuopt::MatrixView<T>{added.out, rows, cols}, stream);
    };
    const auto direct = [=] { launchThreads(addElements<T>, n * cols, stream, added); };
    const std::size_t moved = (n + 2 * rows) * rowBytes;
    run(group, rowBytes, n, moved + n * sizeof(std::uint32_t), moved / 2, goal,
        {addition("gpuopt", false, ours, rows * rowBytes, added),
         addition("direct", true, direct, rows * rowBytes, inAnyOrder)},
        mode);
  }

 private:
  // A candidate that adds to zeros when it is checked.
  template <class T, class Call>
  Candidate addition(const char* name, bool isPeer, const Call& call, std::size_t bytes, const Added<T>& added) const {
    const auto correct = [=] {
      check(cudaMemsetAsync(added.out, 0, bytes, timer_.stream()), "cudaMemsetAsync");
      call();
      return buffers_.areRight(bytes / sizeof(T), added);
    };
    return {name, call, correct, false, 0, isPeer};
  }

  void run(const char* group, std::size_t rowBytes, std::size_t n, std::size_t bytes, std::size_t copied,
           const Goal& goal, std::vector<Candidate> candidates, Mode mode) {
    report_.run({group, std::to_string(rowBytes), fmt::format("{} rows", n), std::to_string(n), bytes, goal,
                 std::move(candidates), buffers_.copies(copied / 4096 * 4096), mode});
  }

  Timer& timer_;
  const Buffers& buffers_;
  GoalReport& report_;
  std::size_t bytes_;
};

void measureGather(Bench& bench) {
  const auto measure = [&](std::size_t rowBytes, double goal) {
    bench.move<std::uint32_t>("gather", false, rowBytes, atLeast(goal));
  };
  measure(64, 0.50);
  measure(128, 0.80);
  measure(200, 0.75);
  measure(256, 0.88);
  measure(512, 0.92);
  measure(1024, 0.95);
  measure(2000, 0.90);
  measure(14336, 0.95);
}

void measureScatter(Bench& bench) {
  const auto measure = [&](std::size_t rowBytes, const Goal& goal) {
    bench.move<std::uint32_t>("scatter", true, rowBytes, goal);
  };
  measure(64, atLeast(0.45));
  measure(128, atLeast(0.75));
  measure(200, Goal{});
  measure(256, atLeast(0.85));
  measure(512, atLeast(0.90));
  measure(1024, atLeast(0.93));
  measure(2000, Goal{});
  measure(14336, atLeast(0.93));
}

void measureOdd(Bench& bench) {
  for (const bool scatters : {false, true}) {
    const char* group = scatters ? "odd scatter" : "odd gather";
    bench.move<std::uint32_t>(group, scatters, 260, Goal{});
    bench.move<std::uint16_t>(group, scatters, 2002, Goal{});
    bench.move<std::uint8_t>(group, scatters, 1001, Goal{});
    bench.move<std::uint32_t>(group, scatters, 2004, Goal{});
  }
}

void measureCombine(Bench& bench) {
  bench.combine("combine", 256, atLeast(0.85));
  bench.combine("combine", 2000, Goal{});
  bench.combine("combine", 2048, atLeast(0.93));
  bench.combine("combine", 14336, atLeast(0.93));
  for (const std::size_t rowBytes : {256u, 2048u, 14336u})
    for (const std::size_t bytes : {128 * KiB, 512 * KiB})
      bench.combine("small combine", rowBytes, atMostOver(1), bytes, Mode::graph);
}

void measureAdd(Bench& bench) {
  constexpr auto EXACT = gpuopt::RowAddition::deterministic, ATOMIC = gpuopt::RowAddition::atomic;
  for (const std::size_t rowBytes : {256u, 2048u, 14336u}) {
    bench.add<__nv_bfloat16, EXACT>("add", rowBytes, atLeast(0.60));
    bench.add<__nv_bfloat16, ATOMIC>("add atomic", rowBytes, atLeast(0.80));
    bench.add<float, EXACT>("add float", rowBytes, atLeast(0.60));
    bench.add<float, ATOMIC>("atomic float", rowBytes, atLeast(0.80));
  }
  for (const std::size_t bytes : {64 * KiB, 1024 * KiB}) {
    bench.add<float, EXACT>("small add", 256, atMostOver(1), bytes, Mode::graph);
    bench.add<float, ATOMIC>("small atomic", 256, atMostOver(1), bytes, Mode::graph);
  }
  // Each row once, and lists of thousands.
  bench.add<float, EXACT>("add single", 256, Goal{}, 512 * 1024 * KiB, Mode::coldWrite, 1);
  for (const std::size_t bytes : {1024 * KiB, 16384 * KiB, 256 * 1024 * KiB})
    bench.add<float, EXACT>("add to few", 256, Goal{}, bytes, Mode::coldWrite, 4096);
}

void measureSmall(Bench& bench) {
  for (const std::size_t bytes : {64 * KiB, 256 * KiB, 1024 * KiB}) {
    bench.move<std::uint32_t>("small gather", false, 256, atMostOver(1), bytes, Mode::graph);
    bench.move<std::uint32_t>("small scatter", true, 256, atMostOver(1), bytes, Mode::graph);
  }
}

constexpr Group<Bench> groups[] = {{"gather", measureGather},   {"scatter", measureScatter}, {"odd", measureOdd},
                                   {"combine", measureCombine}, {"add", measureAdd},         {"small", measureSmall}};

int run(Options& options) { return runGoalGroups(options, groups, "n", 4096); }

}  // namespace

int main(int count, char** words) {
  return runBenchmark(count, words, "rows_bench", "Rows by index, beside the best copy and a thread an element.", run);
}
