/// \file
/// A function of every element of an array, of two arrays, and of elements that are only read, beside the best copy or
/// read of as many bytes, CUB and Thrust.
// SPDX-License-Identifier: MIT
#include "support/goal_groups.cuh"
#include "support/struct_records.cuh"

#include <gpuopt/map.cuh>

#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/transform.h>
#include <cub/device/device_for.cuh>
#include <cub/device/device_transform.cuh>
#include <cuda/std/tuple>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace bench;

constexpr const char* cubTransform = "cub::DeviceTransform::Transform";

using Words4 = Record<16, 16>;
using Words7 = Record<28, 4>;

struct Floats3 {
  float x, y, z;
};

// Every operation rounds once at most, so that each kernel gets the same bits.
template <class Out>
struct Change {
  template <class In>
  __host__ __device__ Out operator()(const In& value) const {
    if constexpr (std::is_arithmetic_v<In>)
      return fromNumber(value);
    else
      return Mirror{}(value);
  }

  __host__ __device__ Out operator()(const Floats3& value) const {
    const float more = value.x > value.y ? value.x : value.y;
    return more > value.z ? more : value.z;
  }

  template <class In1, class In2>
  __host__ __device__ Out operator()(const In1& a, const In2& b) const {
    if constexpr (std::is_arithmetic_v<In1>) {
      return static_cast<Out>(static_cast<Out>(a) + static_cast<Out>(b));
    } else {
      Out result = a;
      for (unsigned i = 0; i < In1::WORDS; ++i) result.words[i] ^= b.words[i];
      return result;
    }
  }

 private:
  // Floating-point numbers of the benchmark are below 2, so that 100 times as much fits into a byte.
  template <class In>
  __host__ __device__ static Out fromNumber(In value) {
    if constexpr (std::is_same_v<Out, Floats3>)
      return {value, 2 * value, 3 * value};
    else if constexpr (std::is_integral_v<Out> && std::is_floating_point_v<In>)
      return static_cast<Out>(100 * (value < 0 ? -value : value));
    else
      return static_cast<Out>(static_cast<Out>(value) * Out{3});
  }
};

template <class T>
__device__ std::uint32_t foldOf(const T& value) {
  std::uint32_t words[(sizeof(T) + 3) / 4] = {};
  __builtin_memcpy(words, &value, sizeof(T));
  std::uint32_t result = 0;
  for (const std::uint32_t word : words) result = (result << 5 | result >> 27) ^ word;
  return result;
}

// Joins what it sees into one word: of one value in 2^32, or of all. The compiler must not remove the loads.
struct Watch {
  std::uint32_t* seen;
  bool all;

  template <class T>
  __device__ void operator()(const T& value) const {
    const std::uint32_t fold = foldOf(value);
    if (all || fold == 0x12345677u) atomicXor(seen, fold);
  }
};

template <class T>
__global__ void watchAll(const T* in, std::size_t n, Watch watch) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) watch(in[i]);
}

template <class In, class Out>
struct IsChanged {
  const In* in;
  const Out* out;
  __device__ bool operator()(std::size_t i) const { return detail::sameBytes(out[i], Change<Out>{}(in[i])); }
};

template <class In1, class In2, class Out>
struct IsCombined {
  const In1* a;
  const In2* b;
  const Out* out;
  __device__ bool operator()(std::size_t i) const { return detail::sameBytes(out[i], Change<Out>{}(a[i], b[i])); }
};

class Bench {
 public:
  Bench(Timer& timer, const Buffers& buffers, GoalReport& report, std::size_t bytes)
      : stream_(timer.stream()), buffers_(buffers), report_(report), bytes_(bytes) {}

  template <class In, class Out>
  void transformOne() {
    const std::size_t n = bytes_ / (std::max)(sizeof(In), sizeof(Out));
    const In* in = buffers_.in<In>();
    Out* out = buffers_.out<Out>();
    const Change<Out> f;
    const auto way = waysOf(n, IsChanged<In, Out>{in, out});
    report("one", sizesOf<In, Out>(), n, n * (sizeof(In) + sizeof(Out)),
           {way("gpuopt", false, [=, s = stream_] { gpuopt::transform(in, n, out, f, s); }),
            way(cubTransform, true,
                [=, s = stream_] { check(cub::DeviceTransform::Transform(in, out, n, f, s), cubTransform); }),
            way("thrust::transform", true,
                [=, s = stream_] { thrust::transform(thrust::cuda::par_nosync.on(s), in, in + n, out, f); })});
  }

  template <class In1, class In2, class Out>
  void transformTwo() {
    const std::size_t n = bytes_ / 2 / (std::max)({sizeof(In1), sizeof(In2), sizeof(Out)});
    const In1* a = buffers_.in<In1>();
    const In2* b = buffers_.in<In2>() + n;
    Out* out = buffers_.out<Out>();
    const Change<Out> f;
    const auto way = waysOf(n, IsCombined<In1, In2, Out>{a, b, out});
    const auto cub = [=, s = stream_] {
      check(cub::DeviceTransform::Transform(cuda::std::make_tuple(a, b), out, n, f, s), cubTransform);
    };
    const std::string sizes = sizesOf<In2, Out>();
    report("two", sizeof(In1) == sizeof(In2) ? sizes : std::to_string(sizeof(In1)) + " + " + sizes, n,
           n * (sizeof(In1) + sizeof(In2) + sizeof(Out)),
           {way("gpuopt", false, [=, s = stream_] { gpuopt::transform(a, b, n, out, f, s); }),
            way(cubTransform, true, cub), way("thrust::transform", true, [=, s = stream_] {
              thrust::transform(thrust::cuda::par_nosync.on(s), a, a + n, b, out, f);
            })});
  }

  template <class T>
  void read() {
    const std::size_t n = bytes_ / sizeof(T);
    const T* in = buffers_.in<T>();
    auto* seen = buffers_.out<std::uint32_t>();
    const auto way = [=](const char* name, bool isPeer, auto call) {
      const auto correct = [=] {
        const auto joined = [=](auto run) { return afterZero(run, Watch{seen, true}); };
        const auto expected = joined([=](Watch all) {
          watchAll<<<4096, 256, 0, stream_>>>(in, n, all);
          check(cudaGetLastError(), "watchAll");
        });
        return joined(call) == expected;
      };
      return Candidate{name, [=] { call(Watch{seen, false}); }, correct, false, 0, isPeer};
    };
    const auto cub = [=, s = stream_](Watch f) {
      check(cub::DeviceFor::ForEachCopyN(in, n, f, s), "cub::DeviceFor::ForEachCopyN");
    };
    const auto vectors = [=, s = stream_] {
      readVectors<<<static_cast<unsigned>(n * sizeof(T) / 16384), 256, 0, s>>>(buffers_.in<uint4>(), seen);
      check(cudaGetLastError(), "readVectors");
    };
    report_.run(
        caseOf("read", std::to_string(sizeof(T)), n, n * sizeof(T),
               {way("gpuopt", false, [=, s = stream_](Watch f) { gpuopt::forEach(in, n, f, s); }),
                way("cub::DeviceFor::ForEachCopyN", true, cub),
                way("thrust::for_each", true,
                    [=, s = stream_](Watch f) { thrust::for_each(thrust::cuda::par_nosync.on(s), in, in + n, f); })},
               {{"vector read", vectors, nullptr}}));
  }

 private:
  template <class In, class Out>
  static std::string sizesOf() {
    return std::to_string(sizeof(In)) + " > " + std::to_string(sizeof(Out));
  }

  // Makes candidates whose n results must satisfy `holds`.
  template <class Holds>
  auto waysOf(std::size_t n, Holds holds) const {
    return [=](const char* name, bool isPeer, auto call) { return buffers_.candidate(name, isPeer, call, n, holds); };
  }

  // What run(watch) joins.
  template <class Run>
  std::uint32_t afterZero(const Run& run, Watch watch) const {
    std::uint32_t result = 0;
    check(cudaMemsetAsync(watch.seen, 0, sizeof result, stream_), "cudaMemsetAsync");
    run(watch);
    check(cudaMemcpyAsync(&result, watch.seen, sizeof result, cudaMemcpyDeviceToHost, stream_), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    return result;
  }

  static GoalCase caseOf(const char* group, const std::string& sizes, std::size_t n, std::size_t bytes,
                         std::vector<Candidate> candidates, std::vector<Candidate> references) {
    return {group, sizes,         std::to_string(n),     std::to_string(n),
            bytes, atLeast(0.98), std::move(candidates), std::move(references)};
  }

  void report(const char* group, const std::string& sizes, std::size_t n, std::size_t bytes,
              std::vector<Candidate> candidates) {
    report_.run(caseOf(group, sizes, n, bytes, std::move(candidates), buffers_.copies(bytes / 2 / 4096 * 4096)));
  }

  cudaStream_t stream_;
  const Buffers& buffers_;
  GoalReport& report_;
  std::size_t bytes_;
};

void measureOne(Bench& bench) {
  bench.transformOne<std::uint8_t, std::uint8_t>();
  bench.transformOne<std::uint8_t, float>();
  bench.transformOne<std::uint8_t, double>();
  bench.transformOne<std::uint16_t, float>();
  bench.transformOne<std::uint16_t, double>();
  bench.transformOne<float, std::uint8_t>();
  bench.transformOne<float, std::uint16_t>();
  bench.transformOne<float, float>();
  bench.transformOne<float, double>();
  bench.transformOne<float, Floats3>();
  bench.transformOne<double, float>();
  bench.transformOne<double, double>();
  bench.transformOne<Floats3, float>();
  bench.transformOne<Words4, Words4>();
  bench.transformOne<Words7, Words7>();
}

void measureTwo(Bench& bench) {
  bench.transformTwo<std::uint8_t, std::uint8_t, std::uint8_t>();
  bench.transformTwo<std::uint8_t, float, float>();
  bench.transformTwo<float, float, float>();
  bench.transformTwo<double, double, double>();
  bench.transformTwo<Words7, Words7, Words7>();
}

void measureRead(Bench& bench) {
  bench.read<std::uint8_t>();
  bench.read<float>();
  bench.read<double>();
  bench.read<Words7>();
}

constexpr Group<Bench> groups[] = {{"one", measureOne}, {"two", measureTwo}, {"read", measureRead}};

int run(Options& options) { return runGoalGroups(options, groups, "n"); }

}  // namespace

int main(int count, char** words) {
  return runBenchmark(count, words, "map_bench", "Functions of every element, beside the best copy, CUB and Thrust.",
                      run);
}
