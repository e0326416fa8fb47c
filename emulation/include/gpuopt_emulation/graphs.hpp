/// Graphs: captured, or made node by node; run in an order that their dependencies allow.
// SPDX-License-Identifier: MIT
#pragma once

#include "arrays.hpp"
#include "capture.hpp"
#include "copies.hpp"
#include "kernel_call.hpp"
#include "pitched.hpp"
#include "streams.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

struct cudaKernelNodeParams {
  void* func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void** kernelParams;
  void** extra;
};
struct cudaMemsetParams {
  void* dst;
  std::size_t pitch;
  unsigned value, elementSize;
  std::size_t width, height;
};
struct cudaHostNodeParams {
  cudaHostFn_t fn;
  void* userData;
};
struct cudaMemAllocNodeParams {
  cudaMemPoolProps poolProps;
  const cudaMemAccessDesc* accessDescs;
  std::size_t accessDescCount, bytesize;
  void* dptr;
};

enum cudaGraphInstantiateFlags {
  cudaGraphInstantiateFlagAutoFreeOnLaunch = 1,
  cudaGraphInstantiateFlagUpload = 2,
  cudaGraphInstantiateFlagDeviceLaunch = 4,
  cudaGraphInstantiateFlagUseNodePriority = 8
};
enum cudaGraphExecUpdateResult { cudaGraphExecUpdateSuccess = 0, cudaGraphExecUpdateError = 1 };
struct cudaGraphExecUpdateResultInfo {
  cudaGraphExecUpdateResult result;
  cudaGraphNode_t errorNode, errorFromNode;
};

/// A graph as it was when it was instantiated: its nodes in an order in which they can run.
struct CUgraphExec_st {
  struct Step {
    cudaGraphNode_t node;
    std::function<cudaError_t()> run;
  };
  std::vector<Step> steps;
};

namespace gpuopt::emulation::detail {

/// The nodes of a graph, each behind those that it depends on; fewer if they depend on each other in a circle.
inline std::vector<CUgraphExec_st::Step> inOrder(cudaGraph_t graph) {
  std::vector<CUgraphExec_st::Step> steps;
  const auto isDone = [&](cudaGraphNode_t node) {
    return std::any_of(steps.begin(), steps.end(), [&](const auto& step) { return step.node == node; });
  };
  for (std::size_t before = 1; steps.size() != before;) {
    before = steps.size();
    for (const auto& node : graph->nodes)
      if (!isDone(node.get()) && std::all_of(node->before.begin(), node->before.end(), isDone))
        steps.push_back({node.get(), node->run});
  }
  return steps;
}

inline cudaError_t runSteps(const std::vector<CUgraphExec_st::Step>& steps) {
  for (const CUgraphExec_st::Step& step : steps)
    if (const cudaError_t code = step.run(); code != cudaSuccess) return code;
  return cudaSuccess;
}

/// Adds what `call(stream)` queues as nodes behind `count` others, and returns the last one.
template <class Call>
cudaError_t addNodes(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before, std::size_t count,
                     cudaGraphNodeType type, Call call) {
  if (node == nullptr || graph == nullptr || (count > 0 && before == nullptr)) return result(cudaErrorInvalidValue);
  CUstream_st stream{0, currentDevice, cudaStreamNonBlocking, 0};
  stream.place.capture = std::make_shared<Capture>(Capture{graph, &stream, 0});
  stream.place.last.assign(before, before + count);
  const std::size_t nodes = graph->nodes.size();
  if (const cudaError_t code = call(&stream); code != cudaSuccess) return code;
  if (graph->nodes.size() == nodes) graph->add([] { return cudaSuccess; }, stream.place.last);  // nothing to do
  *node = graph->nodes.back().get();
  for (std::size_t i = nodes; i < graph->nodes.size(); ++i) graph->nodes[i]->type = type;
  return cudaSuccess;
}

inline cudaError_t launchNode(const cudaKernelNodeParams& p, cudaStream_t stream) {
  return launchUntyped(launchConfig(p.gridDim, p.blockDim, p.sharedMemBytes, stream), p.func, p.kernelParams);
}

inline cudaError_t fillNode(const cudaMemsetParams& p, cudaStream_t stream) {
  if (p.elementSize == 1)
    return cudaMemset2DAsync(p.dst, p.pitch, static_cast<int>(p.value), p.width, p.height, stream);
  if (p.elementSize != 2 && p.elementSize != 4) return result(cudaErrorInvalidValue);
  const std::size_t pitch = p.height > 1 ? p.pitch : p.width * p.elementSize;
  if (!isCopyable("cudaGraphAddMemsetNode", p.dst, (p.height - 1) * pitch + p.width * p.elementSize))
    return result(cudaErrorInvalidValue);
  return submit(stream, [p, pitch] {
    noteTransfer({"a fill", true, reinterpret_cast<std::uintptr_t>(p.dst), pitch, p.width * p.elementSize, p.height});
    for (std::size_t row = 0; row < p.height; ++row)
      for (std::size_t i = 0; i < p.width; ++i)
        std::memcpy(static_cast<char*>(p.dst) + row * pitch + i * p.elementSize, &p.value, p.elementSize);
    return cudaSuccess;
  });
}

/// What a node of its own would run with other parameters; null if these are wrong.
template <class Call>
std::function<cudaError_t()> replacement(Call call) {
  CUgraph_st scratch;
  cudaGraphNode_t node = nullptr;
  const cudaError_t code = addNodes(&node, &scratch, nullptr, 0, cudaGraphNodeTypeKernel, call);
  return code == cudaSuccess ? node->run : nullptr;
}

template <class Call>
cudaError_t replaceIn(cudaGraphExec_t exec, cudaGraphNode_t node, Call call) {
  const auto run = replacement(call);
  if (!run) return lastError;
  for (CUgraphExec_st::Step& step : exec->steps)
    if (step.node == node) {
      step.run = run;
      return cudaSuccess;
    }
  return result(cudaErrorInvalidValue);
}

}  // namespace gpuopt::emulation::detail

// ----------------------------------------------------------------------------------------- capture

inline cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  namespace emulated = gpuopt::emulation::detail;
  *status = cudaStreamCaptureStatusNone;
  if (emulated::isCapturing(stream))
    *status = stream->place.capture->isInvalid ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

inline cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                            unsigned long long* id = nullptr, cudaGraph_t* graph = nullptr,
                                            const cudaGraphNode_t** before = nullptr, std::size_t* count = nullptr) {
  static_cast<void>(cudaStreamIsCapturing(stream, status));
  if (*status == cudaStreamCaptureStatusNone) return cudaSuccess;
  if (id != nullptr) *id = stream->place.capture->id;
  if (graph != nullptr) *graph = stream->place.capture->graph;
  if (before != nullptr) *before = stream->place.last.data();
  if (count != nullptr) *count = stream->place.last.size();
  return cudaSuccess;
}

inline cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  thread_local cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
  std::swap(*mode, current);
  return cudaSuccess;
}

/// Work of the stream becomes nodes of a graph until the capture ends, and so does that of streams that wait for its
/// events.
inline cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  namespace emulated = gpuopt::emulation::detail;
  static std::atomic<unsigned long long> captures{0};
  if (emulated::isBuiltIn(stream)) return emulated::result(cudaErrorStreamCaptureUnsupported);
  if (emulated::isDestroyed(stream)) return emulated::destroyedStream("cudaStreamBeginCapture");
  if (emulated::isCapturing(stream)) return emulated::result(cudaErrorIllegalState);
  emulated::beginCapture(stream,
                         std::make_shared<emulated::Capture>(emulated::Capture{new CUgraph_st, stream, ++captures}));
  return cudaSuccess;
}

inline cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  namespace emulated = gpuopt::emulation::detail;
  *graph = nullptr;
  if (!emulated::isCapturing(stream)) return emulated::result(cudaErrorIllegalState);
  const std::shared_ptr<emulated::Capture> capture = stream->place.capture;
  if (capture->origin != stream) return emulated::result(cudaErrorStreamCaptureUnmatched);
  const bool isJoined = emulated::comesAfterAll(stream->place.last, *capture);
  emulated::endCapture(*capture);
  if (!capture->isInvalid && isJoined) {
    *graph = capture->graph;
    return cudaSuccess;
  }
  delete capture->graph;
  if (capture->isInvalid) return emulated::result(cudaErrorStreamCaptureInvalidated);
  return emulated::failure(cudaErrorStreamCaptureUnjoined,
                           "cudaStreamEndCapture: the stream does not wait for all work of the other captured streams");
}

// ------------------------------------------------------------------------------ graphs and launches

inline cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  if (flags == 0) *graph = new CUgraph_st;
  return gpuopt::emulation::detail::resultIf(flags == 0);
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return gpuopt::emulation::detail::resultIf(graph != nullptr);
}

inline cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  *clone = new CUgraph_st;
  std::map<cudaGraphNode_t, cudaGraphNode_t> copies;
  for (const auto& node : graph->nodes) {
    copies[node.get()] = (*clone)->add(node->run, {});
    copies[node.get()]->type = node->type;
  }
  for (const auto& node : graph->nodes)
    for (const cudaGraphNode_t other : node->before) copies[node.get()]->before.push_back(copies[other]);
  return cudaSuccess;
}

inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long = 0) {
  namespace emulated = gpuopt::emulation::detail;
  if (exec == nullptr || graph == nullptr) return emulated::result(cudaErrorInvalidValue);
  std::vector<CUgraphExec_st::Step> steps = emulated::inOrder(graph);
  if (steps.size() < graph->nodes.size())
    return emulated::failure(cudaErrorInvalidValue, "cudaGraphInstantiate: nodes depend on each other in a circle");
  *exec = new CUgraphExec_st{std::move(steps)};
  return cudaSuccess;
}
inline cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long = 0) {
  return cudaGraphInstantiate(exec, graph);
}
/// The form of CUDA 11.
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphNode_t* errorNode, char*,
                                        std::size_t) {
  if (errorNode != nullptr) *errorNode = nullptr;
  return cudaGraphInstantiate(exec, graph);
}
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  delete exec;
  return gpuopt::emulation::detail::resultIf(exec != nullptr);
}

inline cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }

/// Runs the nodes one after the other, in the order of the stream.
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  namespace emulated = gpuopt::emulation::detail;
  if (exec == nullptr) return emulated::result(cudaErrorInvalidValue);
  const cudaError_t code = emulated::submit(stream, [steps = exec->steps] { return emulated::runSteps(steps); });
  emulated::keepFault(code);
  return code;
}

/// Takes over the nodes of a graph of the same kind.
inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
  namespace emulated = gpuopt::emulation::detail;
  const std::vector<CUgraphExec_st::Step> steps = emulated::inOrder(graph);
  bool isSame = steps.size() == exec->steps.size();
  for (std::size_t i = 0; isSame && i < steps.size(); ++i) isSame = steps[i].node->type == exec->steps[i].node->type;
  if (info != nullptr) *info = {isSame ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateError, nullptr, nullptr};
  for (std::size_t i = 0; isSame && i < steps.size(); ++i) exec->steps[i].run = steps[i].run;
  return emulated::resultIf(isSame, cudaErrorGraphExecUpdateFailure);
}
/// The form of CUDA 11.
inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t* errorNode,
                                       cudaGraphExecUpdateResult* updated) {
  cudaGraphExecUpdateResultInfo info{};
  const cudaError_t code = cudaGraphExecUpdate(exec, graph, &info);
  if (errorNode != nullptr) *errorNode = nullptr;
  if (updated != nullptr) *updated = info.result;
  return code;
}

// ------------------------------------------------------------------------------------------- nodes

inline cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                          std::size_t count, const cudaKernelNodeParams* p) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::addNodes(node, graph, before, count, cudaGraphNodeTypeKernel,
                            [p](cudaStream_t stream) { return emulated::launchNode(*p, stream); });
}
inline cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                          std::size_t count, const cudaMemcpy3DParms* p) {
  return gpuopt::emulation::detail::addNodes(node, graph, before, count, cudaGraphNodeTypeMemcpy,
                                             [p](cudaStream_t stream) { return cudaMemcpy3DAsync(p, stream); });
}
inline cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                            std::size_t count, void* to, const void* from, std::size_t bytes,
                                            cudaMemcpyKind kind) {
  return gpuopt::emulation::detail::addNodes(
      node, graph, before, count, cudaGraphNodeTypeMemcpy,
      [=](cudaStream_t stream) { return cudaMemcpyAsync(to, from, bytes, kind, stream); });
}
inline cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                          std::size_t count, const cudaMemsetParams* p) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::addNodes(node, graph, before, count, cudaGraphNodeTypeMemset,
                            [p](cudaStream_t stream) { return emulated::fillNode(*p, stream); });
}
inline cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                        std::size_t count, const cudaHostNodeParams* p) {
  return gpuopt::emulation::detail::addNodes(
      node, graph, before, count, cudaGraphNodeTypeHost,
      [p](cudaStream_t stream) { return cudaLaunchHostFunc(stream, p->fn, p->userData); });
}
inline cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                         std::size_t count) {
  return gpuopt::emulation::detail::addNodes(node, graph, before, count, cudaGraphNodeTypeEmpty,
                                             [](cudaStream_t) { return cudaSuccess; });
}
inline cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                              std::size_t count, cudaGraph_t child) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::addNodes(node, graph, before, count, cudaGraphNodeTypeGraph, [child](cudaStream_t stream) {
    return emulated::submit(stream, [steps = emulated::inOrder(child)] { return emulated::runSteps(steps); });
  });
}
/// The memory is there from now on, and as long as the program runs.
inline cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                            std::size_t count, cudaMemAllocNodeParams* p) {
  const cudaError_t code = cudaMalloc(&p->dptr, p->bytesize);
  if (code != cudaSuccess) return code;
  gpuopt::emulation::detail::memory().keepForGraph(p->dptr);
  return gpuopt::emulation::detail::addNodes(node, graph, before, count, cudaGraphNodeTypeMemAlloc,
                                             [](cudaStream_t) { return cudaSuccess; });
}
inline cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                           std::size_t count, void*) {
  return gpuopt::emulation::detail::addNodes(node, graph, before, count, cudaGraphNodeTypeMemFree,
                                             [](cudaStream_t) { return cudaSuccess; });
}

inline cudaError_t cudaGraphAddDependencies(cudaGraph_t, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                            std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i]->before.push_back(from[i]);
  return cudaSuccess;
}

inline cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  *type = node->type;
  return cudaSuccess;
}
/// How many nodes there are, or that many of them.
inline cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  if (nodes == nullptr) {
    *count = graph->nodes.size();
    return cudaSuccess;
  }
  *count = (std::min)(*count, graph->nodes.size());
  for (std::size_t i = 0; i < *count; ++i) nodes[i] = graph->nodes[i].get();
  return cudaSuccess;
}
inline cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  std::vector<cudaGraphNode_t> roots;
  for (const auto& node : graph->nodes)
    if (node->before.empty()) roots.push_back(node.get());
  const std::size_t most = nodes == nullptr ? roots.size() : (std::min)(*count, roots.size());
  if (nodes != nullptr) std::copy_n(roots.begin(), most, nodes);
  *count = most;
  return cudaSuccess;
}

inline cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* p) {
  namespace emulated = gpuopt::emulation::detail;
  const auto run = emulated::replacement([p](cudaStream_t stream) { return emulated::launchNode(*p, stream); });
  if (run) node->run = run;
  return run ? cudaSuccess : emulated::lastError;
}
inline cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                    const cudaKernelNodeParams* p) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::replaceIn(exec, node, [p](cudaStream_t stream) { return emulated::launchNode(*p, stream); });
}
inline cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                                      const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return gpuopt::emulation::detail::replaceIn(
      exec, node, [=](cudaStream_t stream) { return cudaMemcpyAsync(to, from, bytes, kind, stream); });
}
inline cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                    const cudaMemsetParams* p) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::replaceIn(exec, node, [p](cudaStream_t stream) { return emulated::fillNode(*p, stream); });
}
inline cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                  const cudaHostNodeParams* p) {
  return gpuopt::emulation::detail::replaceIn(
      exec, node, [p](cudaStream_t stream) { return cudaLaunchHostFunc(stream, p->fn, p->userData); });
}

enum cudaGraphMemAttributeType {
  cudaGraphMemAttrUsedMemCurrent = 0,
  cudaGraphMemAttrUsedMemHigh = 1,
  cudaGraphMemAttrReservedMemCurrent = 2,
  cudaGraphMemAttrReservedMemHigh = 3
};
inline cudaError_t cudaDeviceGraphMemTrim(int) { return cudaSuccess; }
/// Graphs have no memory of their own.
inline cudaError_t cudaDeviceGetGraphMemAttribute(int, cudaGraphMemAttributeType, void* value) {
  std::memset(value, 0, sizeof(unsigned long long));
  return cudaSuccess;
}
