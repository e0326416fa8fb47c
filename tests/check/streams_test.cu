// Races between kernels of several streams that no order of streams and events rules out, each beside what is right.
// SPDX-License-Identifier: MIT
#include "streams.cuh"

#include <vector>

namespace gpuopt::test::check_streams_test {
namespace {

using namespace check_streams;

__device__ void raiseFlagOf(int* flag) {
  __threadfence();
  atomicExch(flag, 1);
}
__global__ void raiseFlag(int* flag) { raiseFlagOf(flag); }
__global__ void raiseEarly(int* flag) { atomicExch(flag, 1); }  // a fence is missing
__global__ void awaitFlag(int* flag) {
  while (atomicAdd(flag, 0) == 0) {
  }
  __threadfence();
}
__global__ void copyBehindFlag(int* flag, const int* in, int* out) {
  if (threadIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
  }
  __syncthreads();
  out[threadIdx.x] = in[threadIdx.x];
}
__global__ void writeAndRaise(int* data, int* flag, bool isEarly) {
  if (isEarly && threadIdx.x == 0) raiseFlagOf(flag);
  __syncthreads();
  data[threadIdx.x] = 2;
  __syncthreads();
  if (!isEarly && threadIdx.x == 0) raiseFlagOf(flag);
}

TEST_CASE("check: kernels of two streams that no event orders", "[check]") {
  const Setting s;
  const std::vector<Finding> findings = findRaces([&] {
    s.write(s.first);
    s.read(s.second);
  });
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kind == FindingKind::race);
  CHECK(findings[0].earlier.line == WRITE + 1);
  CHECK(findings[0].line.line == READ + 1);
  CHECK(contains(findings[0].kernel, "copyAll"));
  CHECK(contains(findings[0].text, "in kernel gpuopt::test::check_streams::writeAll"));
  CHECK(contains(findings[0].text, "cudaStreamWaitEvent()"));
  CHECK(contains(findings[0].text, "launched in stream "));
}

TEST_CASE("check: a flag between kernels of two streams orders what is before and after them", "[check]") {
  const Setting s;
  DeviceArray<int> flag(1);
  const auto isRight = [&](auto first, auto second) {
    cudaMemset(flag.data(), 0, sizeof(int));
    cudaDeviceSynchronize();
    return findRaces([&] {
             first();
             second();
           })
        .empty();
  };
  LaunchConfig single = s.config(s.first), waiting = s.config(s.second);
  single.block = waiting.block = dim3(1);
  int *const data = const_cast<int*>(s.data.data()), *const out = const_cast<int*>(s.out.data());
  const auto raise = [&] { launch(raiseFlag, single, flag.data()); };
  const auto await = [&] { launch(awaitFlag, waiting, flag.data()); };
  const auto writeAndRaiseIn = [&](bool isEarly) {
    launch(writeAndRaise, s.config(s.first), data, flag.data(), isEarly);
  };
  const auto awaitAndRead = [&] {
    await();
    s.read(s.second);
  };
  const auto readBehindFlag = [&] { launch(copyBehindFlag, s.config(s.second), flag.data(), data, out); };
  for (const bool isOneKernel : {false, true}) {
    const auto read = [&] { isOneKernel ? readBehindFlag() : awaitAndRead(); };
    CHECK(isRight([&] { s.write(s.first), raise(); }, read));
    CHECK(isRight([&] { s.copyToDevice(s.first), raise(); }, read));
    CHECK(isRight([&] { writeAndRaiseIn(false); }, read));
    CHECK_FALSE(isRight([&] { writeAndRaiseIn(true); }, read));
    CHECK_FALSE(isRight([&] { raise(), s.write(s.first); }, read));
    CHECK_FALSE(isRight([&] { raise(), s.copyToDevice(s.first); }, read));
    CHECK_FALSE(isRight([&] { s.write(s.first), launch(raiseEarly, single, flag.data()); }, read));
  }
  CHECK_FALSE(isRight([&] { s.write(s.first), raise(); },
                      [&] {
                        s.read(s.second);
                        await();
                      }));
  CHECK(isRight([&] { s.write(s.first), raise(); },
                [&] {
                  await();
                  s.copyToHost(s.second);
                }));
}

/// Two streams that take turns by flags, each launch of one after the other's, and no wait of the host. In the last
/// turn the first may forget to wait.
bool takesTurns(unsigned turns, bool forgets) {
  const Setting s;
  DeviceArray<int> flags(2 * turns);
  cudaMemset(flags.data(), 0, 2 * turns * sizeof(int));
  cudaDeviceSynchronize();
  LaunchConfig single = s.config(s.first);
  single.block = dim3(1);
  int *const data = const_cast<int*>(s.data.data()), *const out = const_cast<int*>(s.out.data());
  return findRaces([&] {
           for (unsigned turn = 0; turn < turns; ++turn) {
             int *const written = flags.data() + 2 * turn, *const read = written + 1;
             if (turn > 0 && !(forgets && turn == turns - 1)) launch(awaitFlag, single, read - 2);
             launch(writeAndRaise, s.config(s.first), data, written, false);
             launch(copyBehindFlag, s.config(s.second), written, static_cast<const int*>(data), out);
             LaunchConfig other = single;
             other.stream = s.second;
             launch(raiseFlag, other, read);
           }
         })
      .empty();
}

// What a launch knows must not grow with those before it: that took minutes.
TEST_CASE("check: flags order hundreds of launches, without a wait of the host", "[check]") {
  CHECK(takesTurns(1500, false));
  CHECK_FALSE(takesTurns(1500, true));
}

TEST_CASE("check: whoever waits for a stream's event learns of the flags before it, and of no later ones", "[check]") {
  const Setting s, third;
  DeviceArray<int> flags(2);
  const auto isRight = [&](bool isLate) {
    cudaMemset(flags.data(), 0, 2 * sizeof(int));
    cudaDeviceSynchronize();
    LaunchConfig single = s.config(s.first), waiting = s.config(s.second);
    single.block = waiting.block = dim3(1);
    return findRaces([&] {
             for (int i = 0; i < 2; ++i) {
               if (i == (isLate ? 1 : 0)) s.write(s.first);
               launch(raiseFlag, single, flags.data() + i);
               launch(awaitFlag, waiting, flags.data() + i);
               if (i == 0) s.record(s.second);
             }
             s.await(third.first);
             s.read(third.first);
           })
        .empty();
  };
  CHECK(isRight(false));
  CHECK_FALSE(isRight(true));
}

TEST_CASE("check: whatever order the kernels of two streams ran in", "[check]") {
  const Setting s;
  const auto isFound = [&](auto first, auto second) {
    return findRaces([&] {
             first();
             second();
           }).size() == 1;
  };
  const auto write = [&] { s.write(s.first); };
  const auto read = [&] { s.read(s.second); };
  CHECK(isFound(write, read));
  CHECK(isFound(read, write));
  CHECK(findRaces([&] {
          s.read(s.first);
          launch(copyAll, s.config(s.second), s.data.data(), s.pinned);
        }).empty());
}

TEST_CASE("check: one stream, events and waits order kernels", "[check]") {
  const Setting s;
  const auto isRight = [&](auto between) {
    return findRaces([&] {
             s.write(s.first);
             between();
             s.read(s.second);
           })
        .empty();
  };
  CHECK(isRight([&] {
    s.record(s.first);
    s.await(s.second);
  }));
  CHECK(isRight([&] { cudaStreamSynchronize(s.first); }));
  CHECK(isRight([&] {
    s.record(s.first);
    cudaEventSynchronize(s.event);
  }));
  CHECK(isRight([&] { cudaDeviceSynchronize(); }));
  CHECK(isRight([&] {
    while (cudaStreamQuery(s.first) == cudaErrorNotReady) {
    }
  }));
  CHECK_FALSE(isRight([&] { cudaStreamSynchronize(s.second); }));
  CHECK_FALSE(isRight([&] { s.await(s.second); }));  // the event was recorded before the kernel
  CHECK_FALSE(isRight([&] {
    s.record(s.second);
    s.await(s.first);
  }));
}

TEST_CASE("check: an order by way of a third stream", "[check]") {
  const Setting s;
  cudaStream_t third = nullptr;
  cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking);
  cudaEvent_t later = nullptr;
  cudaEventCreate(&later);
  CHECK(findRaces([&] {
          s.write(s.first);
          s.record(s.first);
          s.await(third);
          cudaEventRecord(later, third);
          cudaStreamWaitEvent(s.second, later);
          s.read(s.second);
        }).empty());
  cudaEventDestroy(later);
  cudaStreamDestroy(third);
}

TEST_CASE("check: the legacy default stream orders blocking streams alone", "[check]") {
  const Setting blocking(cudaStreamDefault), others(cudaStreamNonBlocking);
  const auto run = [](const Setting& s, cudaStream_t first, cudaStream_t second) {
    return findRaces([&] {
             s.write(first);
             s.read(second);
           })
        .size();
  };
  CHECK(run(blocking, blocking.first, nullptr) == 0);
  CHECK(run(blocking, nullptr, blocking.first) == 0);
  CHECK(run(blocking, blocking.first, blocking.second) == 1);
  CHECK(run(others, others.first, nullptr) == 1);
  CHECK(run(others, nullptr, others.first) == 1);
}

TEST_CASE("check: the fill of an array in the default stream is not ordered before a non-blocking one", "[check]") {
  const Setting s;
  const std::vector<Finding> findings = findRaces([&] {
    cudaMemset(const_cast<int*>(s.data.data()), 0, BYTES);
    s.read(s.first);
  });
  REQUIRE(findings.size() == 1);
  CHECK(contains(findings[0].text, "a fill in the default stream wrote at "));
}

TEST_CASE("check: a captured graph counts in the order of the stream it is launched in", "[check]") {
  const Setting s;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaStreamBeginCapture(s.first, cudaStreamCaptureModeGlobal);
  s.write(s.first);
  cudaStreamEndCapture(s.first, &graph);
  checkCuda(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0), "cudaGraphInstantiate");
  const auto run = [&](cudaStream_t stream) {
    return findRaces([&] {
             cudaGraphLaunch(exec, stream);
             s.read(s.second);
           })
        .size();
  };
  CHECK(run(s.second) == 0);
  CHECK(run(s.first) == 1);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
}

/// Counts by atomic functions, as kernels of several streams may.
__global__ void countAll(int* counter) { atomicAdd(counter, 1); }

TEST_CASE("check: atomic functions of two streams", "[check]") {
  const Setting s;
  int* const counter = const_cast<int*>(s.data.data());
  CHECK(findRaces([&] {
          launch(countAll, s.config(s.first), counter);
          launch(countAll, s.config(s.second), counter);
        }).empty());
  CHECK(findRaces([&] {
          launch(countAll, s.config(s.first), counter);
          s.read(s.second);
        }).size() == 1);
}

TEST_CASE("check: memory that is freed while a kernel of another stream uses it", "[check]") {
  const Setting s;
  const auto run = [&](bool isRight) {
    int* memory = nullptr;
    checkCuda(cudaMallocAsync(&memory, BYTES, s.first), "cudaMallocAsync");
    return findRaces([&] {
             launch(writeAll, s.config(s.second), memory, 1);
             s.record(s.second);
             if (isRight) s.await(s.first);
             cudaFreeAsync(memory, s.first);
           })
        .size();
  };
  CHECK(run(true) == 0);
  CHECK(run(false) == 1);
}

}  // namespace
}  // namespace gpuopt::test::check_streams_test