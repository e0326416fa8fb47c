/// The ways to call a reduction: operations, initial values, empty input, device results, workspaces,
/// streams, threads, graphs, wrong arguments.
// SPDX-License-Identifier: MIT
#include "low_boundaries.cuh"
#include "support/catch.hpp"
#include "support/host_test.cuh"
#include "support/reduction_data.cuh"

#include <gpuopt/reduce.cuh>

#include <cuda_fp16.h>

#include <cstddef>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace gpuopt::test::calls_test {

/// A product modulo 65521, which says itself what its neutral element is.
struct ModularProduct {
  __host__ __device__ unsigned operator()(unsigned a, unsigned b) const { return a * b % 65521u; }
};

/// max(a, b, floor) for any floor: an operation with a state.
struct MaximumAbove {
  int floor;
  __host__ __device__ int operator()(int a, int b) const {
    const int larger = a < b ? b : a;
    return larger < floor ? floor : larger;
  }
};

}  // namespace gpuopt::test::calls_test

namespace gpuopt {

template <>
struct NeutralElement<test::calls_test::ModularProduct, unsigned> {
  static constexpr bool exists = true;
  __host__ __device__ static constexpr unsigned value() { return 1; }
};

}  // namespace gpuopt

namespace gpuopt::test::calls_test {
namespace {

// One block, a cluster or the last of several blocks, blocks that loop.
const std::vector<std::size_t> lengths = {1, 2, 33, 700, 5000, 20011};

template <class A, class It, class Op>
auto reduceLow(It in, std::size_t n, Op op) {
  return reduce<A, LowBoundaries>(in, n, op);
}

// A neutral element of each kind: 0, 1, all bits, the largest number, true; and none. The operations themselves:
// operators_test.cu.
TEST_CASE("Operations with and without a known neutral element", "[reduce]") {
  for (const std::size_t n : lengths) {
    INFO("n " << n);
    const std::vector<int> values = smallIntegers<int>(n, 1);
    const std::vector<unsigned> bits = randomVector<unsigned>(n, 2);
    const DeviceArray<int> in(values, 1);
    const DeviceArray<unsigned> inBits(bits, 3);
    REQUIRE(reduceLow<int>(in.data(), n, Plus{}) == foldSerially<int>(values, Plus{}));
    REQUIRE(reduceLow<int>(in.data(), n, UnknownPlus{}) == foldSerially<int>(values, Plus{}));
    REQUIRE(reduceLow<int>(in.data(), n, Minimum{}) == foldSerially<int>(values, Minimum{}));
    REQUIRE(reduceLow<int>(in.data(), n, MaximumAbove{2}) ==
            (n == 1 ? values[0] : foldSerially<int>(values, MaximumAbove{2})));
    REQUIRE(reduceLow<DefaultAccumulator>(in.data(), n, LogicalAnd{}) == foldSerially<bool>(values, LogicalAnd{}));
    REQUIRE(reduceLow<unsigned>(inBits.data(), n, Multiplies{}) == foldSerially<unsigned>(bits, Multiplies{}));
    REQUIRE(reduceLow<unsigned>(inBits.data(), n, BitAnd{}) == foldSerially<unsigned>(bits, BitAnd{}));

    std::vector<unsigned> factors = bits;
    for (unsigned& factor : factors) factor = factor % 65520u + 1;
    const DeviceArray<unsigned> inFactors(factors);
    REQUIRE(reduceLow<unsigned>(inFactors.data(), n, ModularProduct{}) ==
            foldSerially<unsigned>(factors, ModularProduct{}));
  }
}

TEST_CASE("Lambdas", "[reduce]") {
  const std::size_t n = 5000;
  const std::vector<int> values = smallIntegers<int>(n, 3);
  const DeviceArray<int> in(values);
  int offset = 3;
  const auto op = [offset] __host__ __device__(int a, int b) {
    return a + b - offset;
  };  // associative: (a - 3) is added
  REQUIRE(reduce(in.data(), n, op) == foldSerially<int>(values, op));
}

TEST_CASE("The initial value enters once", "[reduce]") {
  for (const std::size_t n : lengths) {
    INFO("n " << n);
    const std::vector<signed char> values = smallIntegers<signed char>(n, 4);
    const DeviceArray<signed char> in(values, 5);
    const int sum = foldSerially<int>(values, Plus{});
    REQUIRE(reduce<DefaultAccumulator, LowBoundaries>(in.data(), n, Plus{}, 100000) == sum + 100000);
    REQUIRE(reduce<long long, LowBoundaries>(in.data(), n, UnknownPlus{}, 1LL << 40) == sum + (1LL << 40));
    REQUIRE(reduce<double>(in.data(), n, Plus{}, 0.5F) == sum + 0.5);
    REQUIRE(reduce(in.data(), n, Minimum{}, -7) == -7);

    const std::vector<Float3> triples = Elements<Float3>::make(n, 5);
    const DeviceArray<Float3> inTriples(triples, 1);
    const Float3 init = {{1000, 2000, 3000}};
    REQUIRE((reduce<DefaultAccumulator, LowBoundaries>(inTriples.data(), n, Plus{}, init) ==
             init + foldSerially<Float3>(triples, Plus{})));
  }
}

TEST_CASE("No elements", "[reduce]") {
  const int* none = nullptr;
  REQUIRE(reduce(none, 0) == 0);
  REQUIRE(reduce(none, 0, Multiplies{}) == 1);
  REQUIRE(reduce(none, 0, Minimum{}) == (std::numeric_limits<int>::max)());
  REQUIRE(reduce(static_cast<const float*>(nullptr), 0, Maximum{}) == -std::numeric_limits<float>::infinity());
  REQUIRE(reduce(none, 0, BitAnd{}) == -1);
  REQUIRE(reduce(none, 0, Plus{}, 17) == 17);
  REQUIRE(reduce(none, 0, UnknownPlus{}, 17) == 17);
  REQUIRE(transformReduce(none, 0, Identity{}, UnknownPlus{}, 17) == 17);
  REQUIRE(dot(none, none, 0) == 0);

  DeviceArray<int> out(1);
  reduceInto(none, 0, out.data(), Plus{}, 18);
  REQUIRE(out.toHost()[0] == 18);
  reduceInto(none, 0, out.data());
  REQUIRE(out.toHost()[0] == 0);

  const std::string message =
      messageOf<std::invalid_argument>([&] { static_cast<void>(reduce(none, 0, UnknownPlus{})); });
  REQUIRE(contains(message, "gpuopt::reduce"));
  REQUIRE(contains(message, "init"));
  REQUIRE_THROWS_AS(reduceInto(none, 0, out.data(), UnknownPlus{}), std::invalid_argument);
  REQUIRE_THROWS_AS(transformReduce(none, 0, Identity{}, UnknownPlus{}), std::invalid_argument);
  REQUIRE_THROWS_AS(reduce(static_cast<const Words5*>(nullptr), 0), std::invalid_argument);
}

TEST_CASE("Null pointers are named before anything runs", "[reduce]") {
  const DeviceArray<int> in(std::vector<int>{1, 2, 3});
  DeviceArray<int> out(1);
  const int untouched = out.toHost()[0];
  const int* none = nullptr;
  const auto messageFrom = [](auto call) { return messageOf<std::invalid_argument>(call); };
  // WRITTEN reduce: `reduce(data, 3)`, where `data` is null
  REQUIRE(messageFrom([&] { static_cast<void>(reduce(none, 3)); }) == "gpuopt::reduce: in is null, but n is 3");
  REQUIRE(contains(messageFrom([&] { reduceInto(none, 3, out.data()); }), "gpuopt::reduceInto: in is null"));
  REQUIRE(messageFrom([&] { reduceInto(in.data(), 3, static_cast<int*>(nullptr)); }) ==
          "gpuopt::reduceInto: out is null");
  REQUIRE(contains(messageFrom([&] { dotInto(none, in.data(), 3, out.data()); }), "in1 is null"));
  REQUIRE(contains(messageFrom([&] { dotInto(in.data(), none, 3, out.data()); }), "in2 is null"));
  REQUIRE(contains(messageFrom([&] { static_cast<void>(argMin(none, 1)); }), "gpuopt::argMin: in is null, but n is 1"));
  REQUIRE(contains(messageFrom([&] { static_cast<void>(meanVariance(none, 1)); }), "gpuopt::meanVariance"));
  REQUIRE(contains(messageFrom([&] { minMaxInto(in.data(), 3, static_cast<MinMax<int>*>(nullptr)); }), "out is null"));
  REQUIRE(out.toHost()[0] == untouched);
  REQUIRE(reduce(in.data(), 3) == 6);
}

TEST_CASE("Results in device memory", "[reduce]") {
  for (const std::size_t n : lengths) {
    INFO("n " << n);
    const std::vector<__half> values = smallIntegers<__half>(n, 6);
    const DeviceArray<__half> in(values, 1);
    DeviceArray<float> out(1, 1);
    DeviceArray<double> wide(1, 1);
    reduceInto<DefaultAccumulator, LowBoundaries>(in.data(), n, out.data());
    REQUIRE(out.toHost()[0] == foldSerially<float>(values, Plus{}));
    reduceInto<double>(in.data(), n, wide.data(), Plus{}, 1);
    REQUIRE(wide.toHost()[0] == foldSerially<double>(values, Plus{}) + 1);
  }
}

// All kernels on one workspace, in any order of lengths, so that a counter or a partial result left behind
// would show.
TEST_CASE("One workspace serves call after call", "[reduce]") {
  const std::vector<float> values = smallIntegers<float>(30000, 7);
  const DeviceArray<float> in(values);
  Workspace workspace;
  for (std::size_t call = 0; call < 100; ++call) {
    const std::size_t first = call % 7, n = (call * call * 37 + call * 1009) % 29000 + 1;
    INFO("call " << call << ", n " << n);
    const float expected = foldSerially<float>(values, first, first + n, Plus{});
    REQUIRE(reduce<DefaultAccumulator, LowBoundaries>(in.data() + first, n, Plus{}, nullptr, &workspace) == expected);
    DeviceArray<float> out(1);
    reduceInto<DefaultAccumulator, LowBoundaries>(in.data() + first, n, out.data(), Plus{}, 0.0F, nullptr, &workspace);
    REQUIRE(out.toHost()[0] == expected);
    const auto extremes = minMax<DefaultAccumulator, LowBoundaries>(in.data() + first, n, nullptr,
                                                                    &workspace);  // partial results of another size
    REQUIRE(extremes.minimum == foldSerially<float>(values, first, first + n, Minimum{}));
  }
  std::vector<unsigned> counters(Workspace::counterCount, 1);
  checkCuda(
      cudaMemcpy(counters.data(), workspace.counters(), counters.size() * sizeof(unsigned), cudaMemcpyDeviceToHost),
      "cudaMemcpy");
  REQUIRE((counters == std::vector<unsigned>(Workspace::counterCount, 0)));
}

TEST_CASE("A workspace that was moved from is refused, and the call after it works", "[reduce]") {
  const DeviceArray<float> in(smallIntegers<float>(20000, 8));
  Workspace first;
  Workspace second(std::move(first));
  REQUIRE_THROWS_AS((reduce<DefaultAccumulator, LowBoundaries>(in.data(), 20000, Plus{}, nullptr, &first)),
                    std::invalid_argument);
  REQUIRE((reduce<DefaultAccumulator, LowBoundaries>(in.data(), 20000, Plus{}, nullptr, &second) ==
           foldSerially<float>(smallIntegers<float>(20000, 8), Plus{})));
}

TEST_CASE("Many threads, each with a stream of its own", "[reduce]") {
  const std::vector<int> values = smallIntegers<int>(30000, 9);
  const DeviceArray<int> in(values);
  const int failures = failuresAmongThreads(6, [&](int thread) {
    const Stream stream;
    std::optional<Workspace> own;
    if (thread % 2 == 1) own.emplace();
    Workspace* workspace = own ? &*own : nullptr;
    bool good = true;
    for (std::size_t call = 0; call < 25; ++call) {
      const std::size_t n = 1 + (call * 7919 + static_cast<std::size_t>(thread) * 997) % 29000;
      const int expected = foldSerially<int>(values, 0, n, Plus{});
      good = good && reduce<DefaultAccumulator, LowBoundaries>(in.data(), n, Plus{}, stream, workspace) == expected;
      good =
          good && reduce<DefaultAccumulator, LowBoundaries>(in.data(), n, Plus{}, 5, stream, workspace) == expected + 5;
    }
    return good;
  });
  REQUIRE(failures == 0);
}

TEST_CASE("Many threads on the default stream", "[reduce]") {
  const std::vector<int> values = smallIntegers<int>(30000, 10);
  const DeviceArray<int> in(values);
  const int failures = failuresAmongThreads(4, [&](int thread) {
    const std::size_t n = 29000 - static_cast<std::size_t>(thread);
    bool good = true;
    for (int call = 0; call < 25; ++call)
      good = good && reduce<DefaultAccumulator, LowBoundaries>(in.data(), n) == foldSerially<int>(values, 0, n, Plus{});
    return good;
  });
  REQUIRE(failures == 0);
}

TEST_CASE("An error left by an earlier call is neither swallowed nor reported", "[reduce]") {
  const DeviceArray<int> in(std::vector<int>{1, 2, 3});
  const cudaError_t earlier = leaveEarlierError();
  REQUIRE(reduce(in.data(), 3) == 6);
  REQUIRE(cudaPeekAtLastError() == earlier);
  REQUIRE(cudaGetLastError() == earlier);
}

TEST_CASE("Streams with flags and the per-thread stream", "[reduce]") {
  const std::vector<int> values = smallIntegers<int>(20000, 11);
  const DeviceArray<int> in(values);
  const int expected = foldSerially<int>(values, Plus{});
  const Stream stream;
  for (const cudaStream_t each : {static_cast<cudaStream_t>(stream), cudaStreamPerThread, cudaStreamLegacy})
    REQUIRE((reduce<DefaultAccumulator, LowBoundaries>(in.data(), values.size(), Plus{}, each) == expected));
}

TEST_CASE("A stream is not taken for the initial value of a reduction to bool", "[reduce]") {
  DeviceArray<bool> in(100);
  checkCuda(cudaMemset(in.data(), 0, 100), "cudaMemset");
  const Stream stream;
  checkCuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  REQUIRE_FALSE(reduce(in.data(), 100, BitOr{}, static_cast<cudaStream_t>(stream)));
  REQUIRE(reduce(in.data(), 100, BitOr{}, true));
}

#ifndef GPUOPT_EMULATION

class Graph {
 public:
  template <class Work>
  Graph(cudaStream_t stream, Work work) {
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
    work();
    check(cudaStreamEndCapture(stream, &graph_), "cudaStreamEndCapture");
    check(cudaGraphInstantiate(&executable_, graph_, 0), "cudaGraphInstantiate");
  }
  ~Graph() {
    cudaGraphExecDestroy(executable_);
    cudaGraphDestroy(graph_);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void launch(cudaStream_t stream) const { check(cudaGraphLaunch(executable_, stream), "cudaGraphLaunch"); }

  std::size_t nodes() const {
    std::size_t count = 0;
    check(cudaGraphGetNodes(graph_, nullptr, &count), "cudaGraphGetNodes");
    return count;
  }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

TEST_CASE("Calls captured into a graph", "[reduce]") {
  const std::size_t n = 3000017;
  DeviceArray<float> in(n, 1), out(2);
  Workspace workspace;
  const Stream stream;
  for (Workspace* passed : {static_cast<Workspace*>(nullptr), &workspace}) {
    const Graph graph(stream, [&] {
      reduceInto(in.data(), n, out.data(), Plus{}, stream, passed);
      reduceInto(in.data(), 20001, out.data() + 1, Maximum{}, stream, passed);
    });
    for (unsigned seed = 0; seed < 3; ++seed) {
      const std::vector<float> values = smallIntegers<float>(n, seed);
      in.fill(values);
      graph.launch(stream);
      graph.launch(stream);
      stream.wait();
      REQUIRE((out.toHost() == std::vector<float>{foldSerially<float>(values, Plus{}), 3.0F}));
    }
  }
}

TEST_CASE("A call that returns a value is refused while its stream is being captured", "[reduce]") {
  const DeviceArray<float> in(smallIntegers<float>(1000, 1));
  const Stream stream;
  REQUIRE(reduce(in.data(), 1000, Plus{}, stream) == foldSerially<float>(smallIntegers<float>(1000, 1), Plus{}));
  std::string message;
  const Graph graph(stream, [&] {
    message = messageOf<std::invalid_argument>([&] { static_cast<void>(reduce(in.data(), 1000, Plus{}, stream)); });
  });
  REQUIRE(message == "gpuopt::reduce: stream is being captured; use gpuopt::reduceInto");
  REQUIRE(graph.nodes() == 0);
}

// Waits for the host, but not for ever.
__global__ void waitKernel(const volatile unsigned* flag, unsigned* sawFlag) {
  const long long start = clock64();
  while (*flag == 0 && clock64() - start < 4000000000LL) {
  }
  *sawFlag = *flag;
}

TEST_CASE("The asynchronous form returns while the stream is busy", "[reduce]") {
  const std::size_t n = 100000;
  const std::vector<float> values = smallIntegers<float>(n, 12);
  const DeviceArray<float> in(values);
  DeviceArray<float> out(1);
  DeviceArray<unsigned> sawFlag(1);
  const Stream stream;
  reduceInto(in.data(), n, out.data(), Plus{}, stream);  // loads the kernel, allocates the workspace
  unsigned* flag = nullptr;
  check(cudaHostAlloc(&flag, sizeof(unsigned), cudaHostAllocMapped), "cudaHostAlloc");
  *flag = 0;
  LaunchConfig config;
  config.stream = stream;
  launch(waitKernel, config, flag, sawFlag.data());
  reduceInto(in.data(), n, out.data(), Plus{}, stream);
  *static_cast<volatile unsigned*>(flag) = 1;
  stream.wait();
  check(cudaFreeHost(flag), "cudaFreeHost");
  REQUIRE(sawFlag.toHost()[0] == 1);
  REQUIRE(out.toHost()[0] == foldSerially<float>(values, Plus{}));
}

#endif

}  // namespace
}  // namespace gpuopt::test::calls_test
