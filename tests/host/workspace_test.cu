/// \file
/// Workspaces: the user's, those cached per stream, and their leases.
// SPDX-License-Identifier: MIT
#include "support/device_array.cuh"
#include "support/host_test.cuh"

#include <gpuopt/host/launch.cuh>
#include <gpuopt/host/result.cuh>
#include <gpuopt/host/workspace.cuh>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace host_test::workspace_test {

// One block. Counts the nonzero counters, then sets all to `left`.
__global__ void inspect(unsigned* counters, unsigned count, unsigned left, unsigned* nonzero) {
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    if (counters[i] != 0) atomicAdd(nonzero, 1u);
    counters[i] = left;
  }
}

__global__ void writeAll(unsigned* data, unsigned count, unsigned value) {
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) data[i] = value + i;
}

__global__ void countDifferent(const unsigned* data, unsigned count, unsigned value, unsigned* different) {
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    if (data[i] != value + i) atomicAdd(different, 1u);
  }
}

}  // namespace host_test::workspace_test

using namespace gpuopt::test;
using gpuopt::launch;
using gpuopt::LaunchConfig;
using gpuopt::Workspace;
using gpuopt::detail::WorkspaceLease;

// As std::pmr's, for the host's memory.
struct HostResource {
  void* allocate(std::size_t bytes, std::size_t alignment);
  void deallocate(void* memory, std::size_t bytes, std::size_t alignment);
};

namespace {

constexpr unsigned COUNTERS = Workspace::counterCount;

LaunchConfig oneBlock(cudaStream_t stream) {
  LaunchConfig config;
  config.block = dim3(128);
  config.stream = stream;
  return config;
}

/// Runs a kernel that sets all counters to `left`; returns how many were nonzero before.
unsigned nonzeroCounters(unsigned* counters, cudaStream_t stream, unsigned left = 0) {
  DeviceArray<unsigned> found(std::vector<unsigned>{0});
  launch(host_test::workspace_test::inspect, oneBlock(stream), counters, COUNTERS, left, found.data());
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  return found.toHost()[0];
}

// What a memory resource has handed out. No REQUIRE within classes: nvcc does not come to an end with those of
// Catch2 3.
struct ResourceLog {
  std::size_t held = 0;
  std::size_t alignment = 0;
  void* last = nullptr;
  bool isEmpty = false;

  void* take(std::size_t bytes, std::size_t aligned) {
    if (isEmpty) throw std::bad_alloc();
    gpuopt::check(cudaMalloc(&last, bytes), "cudaMalloc");
    held += bytes;
    alignment = aligned;
    return last;
  }
  void giveBack(void* memory, std::size_t bytes) {
    held -= bytes;
    static_cast<void>(cudaFree(memory));
  }
};

struct DevicePointer {
  void* address;
  explicit DevicePointer(void* memory) : address(memory) {}
  void* get() const { return address; }
};

struct PointerResource {
  ResourceLog log;
  DevicePointer allocate(std::size_t bytes, std::size_t alignment) { return DevicePointer(log.take(bytes, alignment)); }
  void deallocate(DevicePointer memory, std::size_t bytes, std::size_t) { log.giveBack(memory.get(), bytes); }
};

static_assert(!std::is_constructible_v<Workspace, HostResource&>);

struct SyncResource {
  ResourceLog log;
  void* allocate_sync(std::size_t bytes, std::size_t alignment) { return log.take(bytes, alignment); }
  void deallocate_sync(void* memory, std::size_t bytes, std::size_t) { log.giveBack(memory, bytes); }
};

struct OrderedResource : SyncResource {
  cudaStream_t stream = nullptr;
  bool isInOrder = true;
  void* allocate(cudaStream_t order, std::size_t bytes, std::size_t alignment) {
    stream = order;
    return log.take(bytes, alignment);
  }
  void deallocate(cudaStream_t order, void* memory, std::size_t bytes, std::size_t) {
    isInOrder = isInOrder && order == stream;
    log.giveBack(memory, bytes);
  }
};

void* leasedOnce(Workspace* user, cudaStream_t stream) {
  WorkspaceLease workspace(user, stream);
  workspace.done();
  return workspace.data();
}

}  // namespace

TEST_CASE("a workspace is aligned, its counters are zero, and all of it can be written") {
  Workspace workspace;
  REQUIRE(reinterpret_cast<std::uintptr_t>(workspace.data()) % 256 == 0);
  REQUIRE(nonzeroCounters(workspace.counters(), nullptr) == 0);
  REQUIRE(cudaMemset(workspace.data(), 0xff, Workspace::capacity) == cudaSuccess);
  REQUIRE(nonzeroCounters(workspace.counters(), nullptr) == 0);  // data and counters do not overlap
  REQUIRE(cudaMemset(workspace.counters(), 0, COUNTERS * sizeof(unsigned)) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("a workspace moves with its memory") {
  Workspace first;
  void* data = first.data();
  Workspace second(std::move(first));
  REQUIRE(second.data() == data);
  REQUIRE(leasedOnce(&second, nullptr) == data);
  REQUIRE_THROWS_AS(WorkspaceLease(&first, nullptr), std::invalid_argument);
  first = std::move(second);
  REQUIRE(leasedOnce(&first, nullptr) == data);
}

TEST_CASE("a workspace from a pool or a memory resource") {
  Stream stream;
  PointerResource pointers;  // as Thrust's
  SyncResource sync;         // as CCCL's
  OrderedResource ordered;   // likewise, in the order of a stream
  {
    Workspace first(pointers), second(sync, stream), third(ordered, stream);
    Workspace fourth(gpuopt::detail::memoryPool(0), stream);
    for (Workspace* workspace : {&first, &second, &third, &fourth}) {
      REQUIRE(nonzeroCounters(workspace->counters(), stream) == 0);
      REQUIRE(leasedOnce(workspace, stream) == workspace->data());
    }
    Workspace moved(std::move(third));
    REQUIRE(moved.data() == ordered.log.last);
    REQUIRE(ordered.stream == stream);
    REQUIRE(pointers.log.alignment == 256);
    for (const ResourceLog& log : {pointers.log, sync.log, ordered.log})
      REQUIRE(log.held >= Workspace::capacity + COUNTERS * sizeof(unsigned));
  }
  for (const ResourceLog& log : {pointers.log, sync.log, ordered.log}) REQUIRE(log.held == 0);
  REQUIRE(ordered.isInOrder);
}

TEST_CASE("what a memory resource throws comes through, and nothing is given back to it") {
  SyncResource resource;
  resource.log.isEmpty = true;
  REQUIRE_THROWS_AS(Workspace(resource), std::bad_alloc);
  REQUIRE(resource.log.held == 0);
}

TEST_CASE("the user's workspace is what is leased, to one call at a time") {
  Workspace workspace;
  WorkspaceLease held(&workspace, nullptr);
  REQUIRE(held.data() == workspace.data());
  REQUIRE(held.counters() == workspace.counters());
  REQUIRE(contains(messageOf<std::invalid_argument>([&] { WorkspaceLease(&workspace, nullptr); }), "in use"));
  held.done();
  held.release();
  REQUIRE(leasedOnce(&workspace, nullptr) == workspace.data());
}

TEST_CASE("a stream keeps its workspace, aligned and with zero counters") {
  Stream stream;
  void* first = leasedOnce(nullptr, stream);
  REQUIRE(reinterpret_cast<std::uintptr_t>(first) % 256 == 0);
  for (int i = 0; i < 3; ++i) REQUIRE(leasedOnce(nullptr, stream) == first);
  WorkspaceLease workspace(nullptr, stream);
  REQUIRE(nonzeroCounters(workspace.counters(), stream) == 0);
  launch(host_test::workspace_test::writeAll, oneBlock(stream), static_cast<unsigned*>(workspace.data()),
         static_cast<unsigned>(Workspace::capacity / 4), 1u);
  REQUIRE(nonzeroCounters(workspace.counters(), stream) == 0);
  workspace.done();
}

TEST_CASE("streams have workspaces of their own, however they take turns") {
  Stream streams[3];
  void* data[4];
  for (int i = 0; i < 3; ++i) data[i] = leasedOnce(nullptr, streams[i]);
  data[3] = leasedOnce(nullptr, nullptr);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < i; ++j) REQUIRE(data[i] != data[j]);
  }
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i)
      REQUIRE(leasedOnce(nullptr, i < 3 ? static_cast<cudaStream_t>(streams[i]) : nullptr) == data[i]);
  }
}

TEST_CASE("a new stream never gets a destroyed stream's workspace") {
  std::vector<void*> seen;
  for (int i = 0; i < 10; ++i) {
    Stream stream;  // often reuses the handle of the previous one
    void* data = leasedOnce(nullptr, stream);
    for (void* other : seen) REQUIRE(data != other);
    seen.push_back(data);
  }
}

TEST_CASE("a second call on the stream, while the first is being queued, has memory of its own") {
  Stream stream;
  WorkspaceLease first(nullptr, stream);
  void* data = first.data();
  {
    WorkspaceLease second(nullptr, stream);
    REQUIRE(second.data() != data);
    REQUIRE(second.counters() != first.counters());
    REQUIRE(nonzeroCounters(second.counters(), stream, 7) == 0);
    second.done();
  }
  {
    WorkspaceLease third(nullptr, stream);  // may reuse the memory of the second: its counters are zero again
    REQUIRE(nonzeroCounters(third.counters(), stream) == 0);
  }
  first.done();
  first.release();
  REQUIRE(leasedOnce(nullptr, stream) == data);
}

TEST_CASE("a call that failed leaves zero counters to the next one") {
  Stream stream;
  Workspace mine;
  for (Workspace* user : {static_cast<Workspace*>(nullptr), &mine}) {
    leasedOnce(user, stream);
    const auto fail = [&] {
      WorkspaceLease workspace(user, stream);
      REQUIRE(nonzeroCounters(workspace.counters(), stream, 5) == 0);  // its first kernel runs
      launch(host_test::workspace_test::inspect, LaunchConfig{dim3(0)}, nullptr, 0, 0,
             nullptr);  // its second one cannot
      workspace.done();
    };
    REQUIRE_THROWS_AS(fail(), std::invalid_argument);
    WorkspaceLease workspace(user, stream);
    REQUIRE(nonzeroCounters(workspace.counters(), stream) == 0);
    workspace.done();
  }
}

TEST_CASE("nothing is zeroed between calls that were done") {
  Stream stream;
  leasedOnce(nullptr, stream);
  {
    WorkspaceLease workspace(nullptr, stream);
    REQUIRE(nonzeroCounters(workspace.counters(), stream, 5) == 0);
    workspace.done();  // although they are not zero, so that an unnecessary memset would show
  }
  {
    WorkspaceLease workspace(nullptr, stream);
    REQUIRE(nonzeroCounters(workspace.counters(), stream) == COUNTERS);
    workspace.done();
  }
}

TEST_CASE("threads on one stream and on their own ones never share memory within a call") {
  Stream shared;
  const int failures = failuresAmongThreads(6, [&shared](int thread) {
    Stream own;
    const cudaStream_t stream = thread % 2 == 0 ? shared : own;
    DeviceArray<unsigned> wrong(std::vector<unsigned>{0});
    DeviceArray<unsigned> kept(std::vector<unsigned>{0});
    for (unsigned i = 0; i < 20; ++i) {
      const unsigned value = static_cast<unsigned>(thread) * 1000000 + i * 10000 + 1;
      WorkspaceLease workspace(nullptr, stream);
      auto* data = static_cast<unsigned*>(workspace.data());
      launch(host_test::workspace_test::inspect, oneBlock(stream), workspace.counters(), 64, value, wrong.data());
      launch(host_test::workspace_test::writeAll, oneBlock(stream), data, 1024, value);
      std::this_thread::yield();
      launch(host_test::workspace_test::countDifferent, oneBlock(stream), data, 1024, value, wrong.data());
      launch(host_test::workspace_test::inspect, oneBlock(stream), workspace.counters(), 64, 0, kept.data());
      workspace.done();
    }
    gpuopt::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    return wrong.toHost()[0] == 0 && kept.toHost()[0] == 64 * 20;
  });
  REQUIRE(failures == 0);
}

TEST_CASE("an earlier error is neither swallowed nor reported by a lease") {
  Stream stream;
  const cudaError_t earlier = leaveEarlierError();
  REQUIRE_NOTHROW(leasedOnce(nullptr, stream));
  REQUIRE_NOTHROW(leasedOnce(nullptr, stream));
  {
    Workspace workspace;
    REQUIRE_NOTHROW(leasedOnce(&workspace, stream));
  }
  REQUIRE(cudaGetLastError() == earlier);
}

#ifndef GPUOPT_EMULATION

TEST_CASE("each thread's own default stream has its own workspace") {
  void* mine = leasedOnce(nullptr, cudaStreamPerThread);
  REQUIRE(leasedOnce(nullptr, cudaStreamPerThread) == mine);
  void* others = nullptr;
  std::thread([&others] { others = leasedOnce(nullptr, cudaStreamPerThread); }).join();
  REQUIRE(others != mine);
}

TEST_CASE("a workspace of another device is refused") {
  int devices = 0;
  REQUIRE(cudaGetDeviceCount(&devices) == cudaSuccess);
  if (devices < 2) return;
  Workspace workspace;
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  const std::string text = messageOf<std::invalid_argument>([&] { WorkspaceLease(&workspace, nullptr); });
  void* other = leasedOnce(nullptr, nullptr);
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  REQUIRE(contains(text, "workspace is on device 0, the current device is 1"));
  REQUIRE(leasedOnce(nullptr, nullptr) != other);
}

#endif

namespace {

/// Captures `work` into a graph and launches it `replays` times.
template <class Work>
void replay(cudaStream_t stream, int replays, Work work) {
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  work();
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  cudaGraphExec_t runnable = nullptr;
  REQUIRE(cudaGraphInstantiate(&runnable, graph, 0) == cudaSuccess);
  for (int i = 0; i < replays; ++i) REQUIRE(cudaGraphLaunch(runnable, stream) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  REQUIRE(cudaGraphExecDestroy(runnable) == cudaSuccess);
  REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
}

}  // namespace

TEST_CASE("a captured call has memory in the graph, zeroed at every replay") {
  Stream stream;
  void* remembered = leasedOnce(nullptr, stream);
  DeviceArray<unsigned> wrong(std::vector<unsigned>{0});
  replay(stream, 3, [&] {
    WorkspaceLease workspace(nullptr, stream);
    REQUIRE(workspace.data() != remembered);
    launch(host_test::workspace_test::inspect, oneBlock(stream), workspace.counters(), COUNTERS, 3u, wrong.data());
    workspace.done();
  });
  REQUIRE(wrong.toHost()[0] == 0);
  REQUIRE(leasedOnce(nullptr, stream) == remembered);
}

TEST_CASE("zeroing that was captured does not count as done") {
  Stream stream;
  Workspace workspace;
  DeviceArray<unsigned> wrong(std::vector<unsigned>{0});
  {
    WorkspaceLease failed(&workspace, stream);
    REQUIRE(nonzeroCounters(failed.counters(), stream, 5) == 0);
  }
  replay(stream, 0, [&] {
    WorkspaceLease captured(&workspace, stream);
    launch(host_test::workspace_test::inspect, oneBlock(stream), captured.counters(), COUNTERS, 0u, wrong.data());
    captured.done();
  });
  WorkspaceLease next(&workspace, stream);
  REQUIRE(nonzeroCounters(next.counters(), stream) == 0);
  next.done();
}

TEST_CASE("first uses beside another stream's capture leave it valid") {
  Stream captured;
  Stream other;
  DeviceArray<unsigned> data(4);
  std::vector<std::unique_ptr<gpuopt::HostResult<int>>> results;
  replay(captured, 1, [&] {
    launch(host_test::workspace_test::writeAll, oneBlock(captured), data.data(), 4, 10u);
    REQUIRE_NOTHROW(leasedOnce(nullptr, other));
    for (int i = 0; i < 100; ++i) results.push_back(std::make_unique<gpuopt::HostResult<int>>());
    std::thread([&other] { leasedOnce(nullptr, other); }).join();
    REQUIRE_NOTHROW(Workspace(other));
  });
  REQUIRE(data.toHost() == std::vector<unsigned>{10, 11, 12, 13});
}
