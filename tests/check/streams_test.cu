// Races between kernels, copies and the host that no order of streams and events rules out, each beside what is right.
// SPDX-License-Identifier: MIT
#include "kernels.cuh"

#include <cstddef>
#include <thread>
#include <vector>

namespace gpuopt::test::check_streams_test {
namespace {

/// The line of the function that begins behind it.
#define LINE_OF(name) constexpr int name = __LINE__

constexpr unsigned COUNT = 64;
constexpr std::size_t BYTES = COUNT * sizeof(int);

LINE_OF(WRITE);
__global__ void writeAll(int* data, int value) { data[threadIdx.x] = value; }

LINE_OF(READ);
__global__ void copyAll(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x]; }

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

/// Two streams, an event, arrays of the device and one of the host.
struct Setting {
  explicit Setting(unsigned flags = cudaStreamNonBlocking) {
    checkCuda(cudaStreamCreateWithFlags(&first, flags), "cudaStreamCreateWithFlags");
    checkCuda(cudaStreamCreateWithFlags(&second, flags), "cudaStreamCreateWithFlags");
    checkCuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    checkCuda(cudaMallocHost(&pinned, BYTES), "cudaMallocHost");
    checkCuda(cudaMemset(data.data(), 0, BYTES), "cudaMemset");
    checkCuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;
  ~Setting() {
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaEventDestroy(event);
    cudaFreeHost(pinned);
  }

  void write(cudaStream_t stream, int value = 1) const {
    launch(writeAll, config(stream), const_cast<int*>(data.data()), value);
  }
  void read(cudaStream_t stream) const {
    launch(copyAll, config(stream), static_cast<const int*>(data.data()), const_cast<int*>(out.data()));
  }
  void record(cudaStream_t stream) const { cudaEventRecord(event, stream); }
  void await(cudaStream_t stream) const { cudaStreamWaitEvent(stream, event); }
  void copyToHost(cudaStream_t stream) const {
    cudaMemcpyAsync(pinned, data.data(), BYTES, cudaMemcpyDeviceToHost, stream);
  }
  static constexpr int COPY = __LINE__;
  void copyToDevice(cudaStream_t stream) const {
    cudaMemcpyAsync(const_cast<int*>(data.data()), pinned, BYTES, cudaMemcpyHostToDevice, stream);
  }

  static LaunchConfig config(cudaStream_t stream) {
    LaunchConfig made;
    made.block = dim3(COUNT);
    made.stream = stream;
    return made;
  }

  cudaStream_t first = nullptr, second = nullptr;
  cudaEvent_t event = nullptr;
  DeviceArray<int> data{COUNT}, out{COUNT};
  int* pinned = nullptr;
};

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
  CHECK(contains(findings[0].text, "in kernel gpuopt::test::check_streams_test::(anonymous namespace)::writeAll"));
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

std::vector<Finding> copyThenRead(const Setting& s, bool isRight) {
  return findRaces([&] {
    s.copyToDevice(s.first);
    if (isRight) s.record(s.first), s.await(s.second);
    s.read(s.second);
  });
}

TEST_CASE("check: a copy and a kernel of another stream", "[check]") {
  const Setting s;
  for (unsigned i = 0; i < COUNT; ++i) s.pinned[i] = static_cast<int>(i);
  CHECK(copyThenRead(s, true).empty());
  const std::vector<Finding> findings = copyThenRead(s, false);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].line.line == READ + 1);
  CHECK(findings[0].earlier.line == Setting::COPY + 2);
  CHECK(contains(findings[0].text, "a copy in stream "));
}

TEST_CASE("check: a copy of what a kernel of another stream writes", "[check]") {
  const Setting s;
  const std::vector<Finding> findings = findRaces([&] {
    s.write(s.first);
    s.copyToHost(s.second);
    cudaDeviceSynchronize();
  });
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kernel == "a copy");
  CHECK(findings[0].earlier.line == WRITE + 1);
  CHECK(findRaces([&] {
          s.write(s.first);
          s.record(s.first);
          s.await(s.second);
          s.copyToHost(s.second);
          cudaDeviceSynchronize();
        }).empty());
}

TEST_CASE("check: copies of two streams", "[check]") {
  const Setting s;
  const auto run = [&](std::size_t apart) {
    return findRaces([&] {
             cudaMemsetAsync(const_cast<int*>(s.data.data()), 1, BYTES / 2, s.first);
             cudaMemsetAsync(const_cast<int*>(s.data.data()) + apart, 2, BYTES / 2, s.second);
             cudaDeviceSynchronize();
           })
        .size();
  };
  CHECK(run(COUNT / 2) == 0);
  CHECK(run(COUNT / 2 - 1) == 1);
}

TEST_CASE("check: rows of a copy and what is between them", "[check]") {
  const Setting s;
  const auto run = [&](std::size_t column) {
    return findRaces([&] {
             cudaMemset2DAsync(const_cast<int*>(s.data.data()), 32, 1, 16, 8, s.first);
             cudaMemset2DAsync(const_cast<int*>(s.data.data()) + column, 32, 2, 16, 8, s.second);
             cudaDeviceSynchronize();
           })
        .size();
  };
  CHECK(run(4) == 0);
  CHECK(run(3) == 1);
}

TEST_CASE("check: the host reads the target of a copy for which it has not waited", "[check]") {
  const Setting s;
  int sum = 0;
  const auto run = [&](bool isRight) {
    return findRaces([&] {
      s.copyToHost(s.first);
      if (isRight) cudaStreamSynchronize(s.first);
      for (unsigned i = 0; i < COUNT; ++i) sum += s.pinned[i];
    });
  };
  CHECK(run(true).empty());
  const std::vector<Finding> findings = run(false);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kernel == "the host");
  CHECK(contains(findings[0].text, "the host reads 4 bytes at "));
  CHECK(contains(findings[0].text, "cudaStreamSynchronize()"));
  CHECK(sum == 0);
}

TEST_CASE("check: the host overwrites the source of a copy for which it has not waited", "[check]") {
  const Setting s;
  const auto run = [&](bool isRight) {
    return findRaces([&] {
             s.copyToDevice(s.first);
             if (isRight) cudaStreamSynchronize(s.first);
             s.pinned[3] = 7;
           })
        .size();
  };
  CHECK(run(true) == 0);
  CHECK(run(false) == 1);
}

TEST_CASE("check: a kernel and the host in managed memory", "[check]") {
  const Setting s;
  int* managed = nullptr;
  checkCuda(cudaMallocManaged(&managed, BYTES), "cudaMallocManaged");
  int value = 0;
  const auto run = [&](bool isRight) {
    return findRaces([&] {
             launch(writeAll, s.config(s.first), managed, 5);
             if (isRight) cudaStreamSynchronize(s.first);
             value += managed[1];
           })
        .size();
  };
  CHECK(run(true) == 0);
  CHECK(run(false) == 1);
  CHECK(value == 10);
  cudaFree(managed);
}

LINE_OF(TELL);
__global__ void tellHost(int* memory, bool fences) {
  for (int i = 1; i <= 2; ++i) {
    memory[i] = 10 * i;
    if (fences) __threadfence_system();
    *static_cast<volatile int*>(memory) = i;
  }
}

TEST_CASE("check: the host polls a flag, which a fence puts behind the data", "[check]") {
  const Setting s;
  const auto poll = [&](bool fences) {
    return findRaces([&] {
      launch(tellHost, LaunchConfig{dim3(1), dim3(1), 0, s.first}, s.pinned, fences);
      while (*static_cast<volatile int*>(s.pinned) != 2) {
      }
      CHECK(s.pinned[2] == 20);
      launch(copyAll, s.config(s.second), static_cast<const int*>(s.pinned), const_cast<int*>(s.out.data()));
    });
  };
  CHECK(poll(true).empty());
  checkCuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  const std::vector<Finding> findings = poll(false);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].earlier.line == TELL + 3);
  CHECK(contains(findings[0].text, "__threadfence_system() between them"));
  checkCuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  CHECK(findRaces([&] {
          launch(tellHost, LaunchConfig{dim3(1), dim3(1), 0, s.first}, s.pinned, false);
          while (*static_cast<volatile int*>(s.pinned) != 2) {
          }
          checkCuda(cudaStreamSynchronize(s.first), "cudaStreamSynchronize");
          CHECK(s.pinned[2] == 20);
        }).empty());
}

/// What a host function reads, and where it adds that.
struct PinnedSum {
  const int* pinned;
  int sum;
};

TEST_CASE("check: a host function is ordered in its stream", "[check]") {
  const Setting s;
  PinnedSum data{s.pinned, 0};
  CHECK(findRaces([&] {
          s.copyToHost(s.first);
          cudaLaunchHostFunc(
              s.first,
              [](void* argument) {
                static_cast<PinnedSum*>(argument)->sum += *static_cast<PinnedSum*>(argument)->pinned;
              },
              &data);
        }).empty());
}

TEST_CASE("check: another thread that a host function lets work is ordered as it is", "[check]") {
  const Setting s;
  PinnedSum data{s.pinned, 0};
  CHECK(findRaces([&] {
          s.copyToHost(s.first);
          const auto readElsewhere = [](void* argument) {
            PinnedSum& read = *static_cast<PinnedSum*>(argument);
            std::thread([&read] { read.sum += *read.pinned; }).join();
          };
          cudaLaunchHostFunc(s.first, readElsewhere, &data);
        }).empty());
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
