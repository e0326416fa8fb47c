/// Graphs: captured, and made node by node.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#include <vector>

namespace graph_test {

__global__ void add(int* data, int value) { data[threadIdx.x] += value; }
__global__ void scale(int* data, int factor) { data[threadIdx.x] *= factor; }
__global__ void stop(int*) { __trap(); }

/// A stream and what is captured in it.
class Captured {
 public:
  explicit Captured(cudaStream_t stream) : stream_(stream) {
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  }
  cudaGraphExec_t end() {
    REQUIRE(cudaStreamEndCapture(stream_, &graph) == cudaSuccess);
    cudaGraphExec_t exec = nullptr;
    REQUIRE(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
    return exec;
  }
  cudaGraph_t graph = nullptr;

 private:
  cudaStream_t stream_;
};

class Streams {
 public:
  Streams() {
    for (cudaStream_t& stream : all) REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    for (cudaEvent_t& event : events) REQUIRE(cudaEventCreateWithFlags(&event, cudaEventDisableTiming) == cudaSuccess);
  }
  ~Streams() {
    for (cudaStream_t stream : all) cudaStreamDestroy(stream);
    for (cudaEvent_t event : events) cudaEventDestroy(event);
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  cudaStream_t all[2] = {};
  cudaEvent_t events[2] = {};
};

TEST_CASE("what is captured runs at each launch of the graph, and not before", "[graph]") {
  for (const bool isDeferred : {false, true}) {
    if (isDeferred) gpuopt::emulation::setQueueMode(gpuopt::emulation::QueueMode::deferred);
    Streams streams;
    const cudaStream_t stream = streams.all[0];
    Managed<int> data(32, 0);
    int host = 7, read = 0, calls = 0;
    Captured captured(stream);
    add<<<1, 32, 0, stream>>>(data.data(), 1);
    cudaMemcpyAsync(data.data(), &host, sizeof host, cudaMemcpyHostToDevice, stream);
    cudaMemsetAsync(data.data() + 1, 0, sizeof(int), stream);
    cudaLaunchHostFunc(
        stream, [](void* count) { ++*static_cast<int*>(count); }, &calls);
    cudaMemcpyAsync(&read, data.data() + 2, sizeof read, cudaMemcpyDeviceToHost, stream);
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    REQUIRE(cudaStreamIsCapturing(stream, &status) == cudaSuccess);
    CHECK(status == cudaStreamCaptureStatusActive);
    const cudaGraphExec_t exec = captured.end();
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK((data[0] == 0 && calls == 0));
    for (int i = 1; i <= 3; ++i) {
      host = 100 * i;  // read when the graph runs
      REQUIRE(cudaGraphLaunch(exec, stream) == cudaSuccess);
      REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
      CHECK((data[0] == 100 * i && data[1] == 0 && data[2] == i && read == i && calls == i));
    }
    std::size_t nodes = 0;
    REQUIRE(cudaGraphGetNodes(captured.graph, nullptr, &nodes) == cudaSuccess);
    CHECK(nodes == 5);
    std::vector<cudaGraphNode_t> node(nodes);
    REQUIRE(cudaGraphGetNodes(captured.graph, node.data(), &nodes) == cudaSuccess);
    cudaGraphNodeType types[5];
    for (std::size_t i = 0; i < 5; ++i) REQUIRE(cudaGraphNodeGetType(node[i], &types[i]) == cudaSuccess);
    CHECK((types[0] == cudaGraphNodeTypeKernel && types[1] == cudaGraphNodeTypeMemcpy));
    CHECK((types[2] == cudaGraphNodeTypeMemset && types[3] == cudaGraphNodeTypeHost));
    CHECK(cudaGraphDestroy(captured.graph) == cudaSuccess);
    CHECK(cudaGraphExecDestroy(exec) == cudaSuccess);
    gpuopt::emulation::setQueueMode(gpuopt::emulation::QueueMode::immediate);
  }
}

TEST_CASE("a stream that waits for an event of a captured one is captured, too", "[graph]") {
  Streams streams;
  const auto [first, second] = streams.all;
  Managed<int> data(32, 1);
  Captured captured(first);
  add<<<1, 32, 0, first>>>(data.data(), 1);
  cudaEventRecord(streams.events[0], first);
  cudaStreamWaitEvent(second, streams.events[0], 0);
  scale<<<1, 32, 0, second>>>(data.data(), 3);
  cudaEventRecord(streams.events[1], second);
  cudaStreamWaitEvent(first, streams.events[1], 0);
  const cudaGraphExec_t exec = captured.end();
  CHECK(data[0] == 1);
  REQUIRE(cudaGraphLaunch(exec, second) == cudaSuccess);
  CHECK(data[31] == 6);
  scale<<<1, 32, 0, second>>>(data.data(), 2);  // no longer captured
  CHECK(data[31] == 12);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(captured.graph);
}

TEST_CASE("what CUDA does not allow during a capture is refused", "[graph]") {
  Streams streams;
  const auto [first, second] = streams.all;
  Managed<int> data(32, 1);
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaStreamEndCapture(first, &graph) == cudaErrorIllegalState);

  REQUIRE(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal) == cudaSuccess);
  CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal) == cudaErrorIllegalState);
  add<<<1, 32>>>(data.data(), 1);
  CHECK(cudaGetLastError() == cudaErrorStreamCaptureImplicit);
  CHECK(data[0] == 1);
  CHECK(cudaStreamSynchronize(first) == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaStreamEndCapture(first, &graph) == cudaErrorStreamCaptureInvalidated);
  CHECK(graph == nullptr);

  REQUIRE(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal) == cudaSuccess);
  cudaEventRecord(streams.events[0], first);
  cudaStreamWaitEvent(second, streams.events[0], 0);
  add<<<1, 32, 0, second>>>(data.data(), 1);
  CHECK(cudaStreamEndCapture(second, &graph) == cudaErrorStreamCaptureUnmatched);
  CHECK(cudaStreamEndCapture(first, &graph) == cudaErrorStreamCaptureUnjoined);
  add<<<1, 32>>>(data.data(), 1);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(data[0] == 2);
  static_cast<void>(cudaGetLastError());
}

TEST_CASE("nodes of a graph run behind those that they depend on", "[graph]") {
  Managed<int> data(32, 50), copy(32, 0);
  int* pointer = data.data();
  int value = 5, factor = 3;
  void* addArguments[] = {&pointer, &value};
  void* scaleArguments[] = {&pointer, &factor};
  cudaKernelNodeParams addNode{}, scaleNode{};
  addNode.func = (void*)add;
  scaleNode.func = reinterpret_cast<void*>(&scale);
  addNode.gridDim = scaleNode.gridDim = dim3(1);
  addNode.blockDim = scaleNode.blockDim = dim3(32);
  addNode.kernelParams = addArguments;
  scaleNode.kernelParams = scaleArguments;
  cudaMemsetParams fill{};
  fill.dst = pointer;
  fill.value = 4;
  fill.elementSize = sizeof(int);
  fill.width = 32;
  fill.height = 1;

  cudaGraph_t graph = nullptr;
  cudaGraphNode_t filled = nullptr, added = nullptr, scaled = nullptr, copied = nullptr;
  REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
  REQUIRE(cudaGraphAddKernelNode(&scaled, graph, nullptr, 0, &scaleNode) == cudaSuccess);
  REQUIRE(cudaGraphAddMemsetNode(&filled, graph, nullptr, 0, &fill) == cudaSuccess);
  REQUIRE(cudaGraphAddKernelNode(&added, graph, &filled, 1, &addNode) == cudaSuccess);
  REQUIRE(cudaGraphAddDependencies(graph, &added, &scaled, 1) == cudaSuccess);
  REQUIRE(cudaGraphAddMemcpyNode1D(&copied, graph, &scaled, 1, copy.data(), pointer, 32 * sizeof(int),
                                   cudaMemcpyDefault) == cudaSuccess);
  value = 1000;  // arguments were copied
  cudaGraphExec_t exec = nullptr;
  REQUIRE(cudaGraphInstantiateWithFlags(&exec, graph, 0) == cudaSuccess);
  REQUIRE(cudaGraphLaunch(exec, nullptr) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(copy[31] == (4 + 5) * 3);

  value = 6;
  REQUIRE(cudaGraphExecKernelNodeSetParams(exec, added, &addNode) == cudaSuccess);
  REQUIRE(cudaGraphLaunch(exec, nullptr) == cudaSuccess);
  CHECK(copy[0] == (4 + 6) * 3);

  REQUIRE(cudaGraphAddDependencies(graph, &scaled, &filled, 1) == cudaSuccess);
  cudaGraphExec_t circle = nullptr;
  CHECK(cudaGraphInstantiate(&circle, graph, 0) == cudaErrorInvalidValue);
  static_cast<void>(cudaGetLastError());
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
}

TEST_CASE("memory of a graph that is freed outside of it is there at the next launch", "[graph]") {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaGraphNode_t allocated = nullptr, filled = nullptr;
  REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
  cudaMemAllocNodeParams memory{};
  memory.bytesize = 32 * sizeof(int);
  REQUIRE(cudaGraphAddMemAllocNode(&allocated, graph, nullptr, 0, &memory) == cudaSuccess);
  cudaMemsetParams fill{};
  fill.dst = memory.dptr;
  fill.value = 4;
  fill.elementSize = sizeof(int);
  fill.width = 32;
  fill.height = 1;
  REQUIRE(cudaGraphAddMemsetNode(&filled, graph, &allocated, 1, &fill) == cudaSuccess);
  REQUIRE(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
  for (int launch = 0; launch < 2; ++launch) {
    REQUIRE(cudaGraphLaunch(exec, nullptr) == cudaSuccess);
    std::vector<int> values(32);
    REQUIRE(cudaMemcpy(values.data(), memory.dptr, memory.bytesize, cudaMemcpyDeviceToHost) == cudaSuccess);
    REQUIRE(values == std::vector<int>(32, 4));
    REQUIRE(cudaFree(memory.dptr) == cudaSuccess);
  }
  REQUIRE((cudaGraphExecDestroy(exec) == cudaSuccess && cudaGraphDestroy(graph) == cudaSuccess));
}

TEST_CASE("a kernel that fails within a graph fails its launch", "[graph]") {
  Streams streams;
  Managed<int> data(32, 0);
  Captured captured(streams.all[0]);
  stop<<<1, 32, 0, streams.all[0]>>>(data.data());
  add<<<1, 32, 0, streams.all[0]>>>(data.data(), 1);
  const cudaGraphExec_t exec = captured.end();
  CHECK(cudaGraphLaunch(exec, streams.all[0]) == cudaErrorLaunchFailure);
  CHECK(cudaStreamSynchronize(streams.all[0]) == cudaErrorLaunchFailure);
  CHECK(data[0] == 0);
  static_cast<void>(cudaGetLastError());
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(captured.graph);
}

TEST_CASE("a kernel whose parameters are unknown is refused", "[graph]") {
  int dummy = 0;
  void* arguments[] = {&dummy};
  const void* const unknown = &dummy;
  CHECK(cudaLaunchKernel(unknown, 1, 1, arguments, 0, nullptr) == cudaErrorInvalidDeviceFunction);
  static_cast<void>(cudaGetLastError());
}

}  // namespace graph_test
