/// Graphs as lists of nodes, and the capture of a stream's work into one.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime_types.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

enum cudaGraphNodeType {
  cudaGraphNodeTypeKernel = 0,
  cudaGraphNodeTypeMemcpy = 1,
  cudaGraphNodeTypeMemset = 2,
  cudaGraphNodeTypeHost = 3,
  cudaGraphNodeTypeGraph = 4,
  cudaGraphNodeTypeEmpty = 5,
  cudaGraphNodeTypeWaitEvent = 6,
  cudaGraphNodeTypeEventRecord = 7,
  cudaGraphNodeTypeMemAlloc = 10,
  cudaGraphNodeTypeMemFree = 11
};

struct CUgraphNode_st {
  std::function<cudaError_t()> run;  ///< can be called any number of times
  cudaGraphNodeType type = cudaGraphNodeTypeMemcpy;
  std::vector<CUgraphNode_st*> before;
};
using cudaGraphNode_t = CUgraphNode_st*;

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;

  cudaGraphNode_t add(std::function<cudaError_t()> run, std::vector<cudaGraphNode_t> before) {
    nodes.push_back(std::unique_ptr<CUgraphNode_st>(
        new CUgraphNode_st{std::move(run), cudaGraphNodeTypeMemcpy, std::move(before)}));
    return nodes.back().get();
  }
};

namespace gpuopt::emulation::detail {

/// What the streams of one capture have in common.
struct Capture {
  cudaGraph_t graph;
  cudaStream_t origin;
  unsigned long long id;
  bool isInvalid = false;
  std::vector<cudaStream_t> streams{};  ///< the origin, and those that have waited for its events
};

/// A stream's part in a capture.
struct CapturePlace {
  std::shared_ptr<Capture> capture;
  std::vector<cudaGraphNode_t> last;  ///< what the next work comes after
};

/// Blocking streams that are captured: meanwhile, nothing may be queued in the legacy default stream.
inline std::atomic<int> blockingCaptures{0};

}  // namespace gpuopt::emulation::detail
